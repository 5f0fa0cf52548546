// Products of weights of bfloat16 with rows on the matrix unit. Private to kernels_amx.cc.
//
// Weights and rows lie as in bf16.inc.h. An output is the unit's sum over the groups of 32 in
// order, for one row and many.

constexpr int kPairRows = 32;  // of x that are worked on together, and of the weight

template <int kTile>
inline void StoreProduct(float* out, std::int64_t out_stride, int n, int rows, float* buffer) {
  if (n <= 0 || rows <= 0) return;
  if (n >= 16 && rows >= 16) return StoreMatrixRows<kTile>(out, out_stride * 4);
  StoreMatrix<kTile>(buffer);
  for (int i = 0; i < n && i < 16; ++i) {
    StorePart(out + i * out_stride, Load(buffer + i * 16), rows < 16 ? rows : 16);
  }
}

// Up to 32 rows of x with up to two tiles of the weight.
template <int kPlanes, int kGroups>
inline void MultiplyRows(const Byte* weight, std::int64_t tile_bytes, int n_rows, const Byte* x,
                         int n, std::int64_t groups, float* out, std::int64_t out_stride) {
  const std::int64_t x_group = groups * kPlanes * 1024;
  const Byte* second = weight + (n_rows > 16 ? tile_bytes : 0);
  asm volatile("tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3" ::);
  for (std::int64_t g = 0; g < groups; ++g) {
    LoadMatrix<6>(weight + g * 1024, 64);
    LoadMatrix<7>(second + g * 1024, 64);
    if constexpr (kGroups == 1) {
      __builtin_prefetch(weight + g * 1024 + 4096);
    }
    for (int plane = 0; plane < kPlanes; ++plane) {
      const Byte* at = x + (g * kPlanes + plane) * 1024;
      LoadMatrix<4>(at, 64);
      MultiplyBf16<0, 4, 6>();
      MultiplyBf16<1, 4, 7>();
      if constexpr (kGroups == 2) {
        LoadMatrix<5>(at + x_group, 64);
        MultiplyBf16<2, 5, 6>();
        MultiplyBf16<3, 5, 7>();
      }
    }
  }
  alignas(64) float buffer[256];
  StoreProduct<0>(out, out_stride, n, n_rows, buffer);
  StoreProduct<1>(out + 16, out_stride, n, n_rows - 16, buffer);
  if constexpr (kGroups == 2) {
    StoreProduct<2>(out + 16 * out_stride, out_stride, n - 16, n_rows, buffer);
    StoreProduct<3>(out + 16 * out_stride + 16, out_stride, n - 16, n_rows - 16, buffer);
  }
}

// out[i * out_stride + r] = weight row r . x[i] for n rows of x and n_rows rows in tiles.
template <int kPlanes>
void MatrixRows(const std::byte* tiles, std::int64_t tile_bytes, std::int64_t n_rows,
                const std::byte* x, int n, float* out, std::int64_t out_stride) {
  const std::int64_t groups = tile_bytes / 1024;
  ConfigureMatrix(64);
  for (std::int64_t r = 0; r < n_rows; r += kPairRows) {
    const Byte* weight = reinterpret_cast<const Byte*>(tiles) + r / 16 * tile_bytes;
    const int rows = static_cast<int>(n_rows - r < kPairRows ? n_rows - r : kPairRows);
    for (int i = 0; i < n; i += kPairRows) {
      const Byte* from = reinterpret_cast<const Byte*>(x) + i / 16 * groups * kPlanes * 1024;
      float* to = out + i * out_stride + r;
      if (n - i > 16) {
        MultiplyRows<kPlanes, 2>(weight, tile_bytes, rows, from, n - i, groups, to, out_stride);
      } else {
        MultiplyRows<kPlanes, 1>(weight, tile_bytes, rows, from, n - i, groups, to, out_stride);
      }
    }
  }
  ReleaseMatrix();
}
