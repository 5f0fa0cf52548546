// Rows of floats times rows of floats. Private to the kernels_*.cc files.
//
// Each output is one accumulator that walks k in order, then one tree over its lanes (Sum, Sum4),
// whatever block of rows and columns it is computed in. So one row gives the same bits as many.

#if defined(__AVX512F__)
constexpr int kColumns = 6;  // 4 x 6 accumulators of 32 registers
#else
constexpr int kColumns = 2;  // 4 x 2 of 16
#endif

template <int kRows, int kCols>
inline void DotBlock(const float* w, const float* x, std::int64_t x_stride, std::int64_t k,
                     float* out, std::int64_t out_stride) {
  VecF sum[kRows][kCols] = {};
  for (std::int64_t i = 0; i < k; i += kLanes) {
    VecF wv[kRows];
    for (int r = 0; r < kRows; ++r) wv[r] = Load(w + r * k + i);
    for (int c = 0; c < kCols; ++c) {
      const VecF xv = Load(x + c * x_stride + i);
      for (int r = 0; r < kRows; ++r) sum[r][c] = Fma(wv[r], xv, sum[r][c]);
    }
  }
  for (int c = 0; c < kCols; ++c) {
    float* o = out + c * out_stride;
    if constexpr (kRows % 4 == 0) {
      for (int r = 0; r < kRows; r += 4) {
        StoreQuad(o + r, Sum4(sum[r][c], sum[r + 1][c], sum[r + 2][c], sum[r + 3][c]));
      }
    } else {
      for (int r = 0; r < kRows; ++r) o[r] = Sum(sum[r][c]);
    }
  }
}

template <int kCols>
inline void DotColumns(const float* w, int n_w, const float* x, std::int64_t x_stride,
                       std::int64_t k, float* out, std::int64_t out_stride) {
  int r = 0;
  if constexpr (kCols == 1) {  // one column alone needs eight chains to fill the units
    for (; r + 8 <= n_w; r += 8) DotBlock<8, 1>(w + r * k, x, x_stride, k, out + r, out_stride);
  }
  for (; r + 4 <= n_w; r += 4) DotBlock<4, kCols>(w + r * k, x, x_stride, k, out + r, out_stride);
  for (; r < n_w; ++r) DotBlock<1, kCols>(w + r * k, x, x_stride, k, out + r, out_stride);
}

void Dots(const float* w, int n_w, const float* x, std::int64_t x_stride, int n_x, std::int64_t k,
          float* out, std::int64_t out_stride) {
  int j = 0;
  for (; j + kColumns <= n_x; j += kColumns) {
    DotColumns<kColumns>(w, n_w, x + j * x_stride, x_stride, k, out + j * out_stride, out_stride);
  }
  x += j * x_stride;
  out += j * out_stride;
  switch (n_x - j) {
    case 1:
      return DotColumns<1>(w, n_w, x, x_stride, k, out, out_stride);
#if defined(__AVX512F__)
    case 2:
      return DotColumns<2>(w, n_w, x, x_stride, k, out, out_stride);
    case 3:
      return DotColumns<3>(w, n_w, x, x_stride, k, out, out_stride);
    case 4:
      return DotColumns<4>(w, n_w, x, x_stride, k, out, out_stride);
    case 5:
      return DotColumns<5>(w, n_w, x, x_stride, k, out, out_stride);
#endif
    default:
      return;
  }
}
