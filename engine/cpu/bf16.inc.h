// Products of weights of bfloat16 with rows. Private to the kernels_*.cc files of AVX-512 BF16 and
// AMX.
//
// Weights lie in tiles of 16 rows, [cols / 32][16 pairs][16 rows, 2], and rows of x as
// [rows / 16][cols / 32][planes][16 rows, 32]: bfloat16, in two planes the sum of two (16 bits).
// Here an output is one accumulator that walks the pairs in order, a lane a row of the weight.

// The nearest bfloat16 number, ties away from zero; NaN stays NaN, whatever its bits.
inline VecU RoundToBf16(VecF v) {
  const VecU rounded = (Bits(v) + 0x8000u) & 0xFFFF0000u;
  return v == v ? rounded : VecU{} + 0x7FC00000u;
}

// The bfloat16 of a vector, its lanes side by side; those of what is left in the next plane.
template <int kPlanes>
inline void StoreRow(VecF v, Byte* out, std::int64_t plane) {
  const auto put = [](VecU bits, Byte* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(bits >> 16)));
  };
  const VecU high = RoundToBf16(v);
  put(high, out);
  if constexpr (kPlanes == 2) put(RoundToBf16(v - FromBits(high)), out + plane);
}

template <int kPlanes>
void StageBf16Rows(const float* x, int n, std::int64_t cols, std::byte* out) {
  for (int i = 0; i < n; ++i) {
    Byte* to = reinterpret_cast<Byte*>(out) + i * 64;
    for (std::int64_t c = 0; c < cols; c += 16) {
      const std::int64_t left = cols - c;
      const VecF v =
          left >= 16 ? Load(x + i * cols + c) : LoadPart(x + i * cols + c, static_cast<int>(left));
      StoreRow<kPlanes>(v, to + c / 32 * kPlanes * 1024 + c % 32 * 2, 1024);
    }
    if (cols % 32 != 0 && cols % 32 <= 16) {
      StoreRow<kPlanes>(VecF{}, to + cols / 32 * kPlanes * 1024 + 32, 1024);
    }
  }
}

#if defined(__AVX512BF16__)
// kRows rows of x with two tiles.
template <int kPlanes, int kRows>
inline void Bf16Block(const Byte* weight, const Byte* second, const Byte* x, std::int64_t groups,
                      int n_rows, float* out, std::int64_t out_stride) {
  VecF sum[kRows][2] = {};
  for (std::int64_t g = 0; g < groups; ++g) {
    for (int pair = 0; pair < 16; ++pair) {
      const auto first_weight = reinterpret_cast<__m512bh>(LoadInts(weight + g * 1024 + pair * 64));
      const auto second_weight =
          reinterpret_cast<__m512bh>(LoadInts(second + g * 1024 + pair * 64));
      for (int plane = 0; plane < kPlanes; ++plane) {
        const Byte* at = x + (g * kPlanes + plane) * 1024 + pair * 4;
        for (int t = 0; t < kRows; ++t) {
          const auto xv = reinterpret_cast<__m512bh>(Broadcast(at + t * 64));
          sum[t][0] = _mm512_dpbf16_ps(sum[t][0], xv, first_weight);
          sum[t][1] = _mm512_dpbf16_ps(sum[t][1], xv, second_weight);
        }
      }
    }
  }
  for (int t = 0; t < kRows; ++t) {
    for (int i = 0; i < 2; ++i) {
      const int left = n_rows - i * 16;
      if (left > 0) StorePart(out + t * out_stride + i * 16, sum[t][i], left < 16 ? left : 16);
    }
  }
}

// out[i * out_stride + r] = weight row r . x[i] for n rows of x and n_rows rows in tiles.
template <int kPlanes>
void Bf16Rows(const std::byte* tiles, std::int64_t tile_bytes, std::int64_t n_rows,
              const std::byte* x, int n, float* out, std::int64_t out_stride) {
  const std::int64_t groups = tile_bytes / 1024;
  for (std::int64_t r = 0; r < n_rows; r += 32) {
    const Byte* weight = reinterpret_cast<const Byte*>(tiles) + r / 16 * tile_bytes;
    const int rows = static_cast<int>(n_rows - r < 32 ? n_rows - r : 32);
    const Byte* second = rows > 16 ? weight + tile_bytes : weight;
    for (int i = 0; i < n;) {
      const Byte* from =
          reinterpret_cast<const Byte*>(x) + i / 16 * groups * kPlanes * 1024 + i % 16 * 64;
      float* to = out + i * out_stride + r;
      if (n - i >= 8 && i % 16 <= 8) {
        Bf16Block<kPlanes, 8>(weight, second, from, groups, rows, to, out_stride);
        i += 8;
      } else {
        Bf16Block<kPlanes, 1>(weight, second, from, groups, rows, to, out_stride);
        i += 1;
      }
    }
  }
}
#endif
