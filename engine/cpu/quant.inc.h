// Integer products of packed weights (quant_tiles.h) with quantised rows. Private to the
// kernels_*.cc files.
//
// Bits: within a block the sum is one of integers and so exact; behind it an output is one float
// accumulator that walks the blocks in order. Lanes are rows of the weight, so neither the vector's
// width nor the tile of rows and columns is seen, and all instruction sets that have a fused
// multiply-add give the same bits.

#if defined(__AVX512F__)
constexpr int kQuantRows = 6;  // with 2 vectors of the weight: 12 + 12 accumulators of 32 registers
#else
constexpr int kQuantRows = 3;
#endif
constexpr int kTileRows = 16;
constexpr int kQuantVectors = 2;
constexpr int kPrefetchBytes = 2048;

typedef std::uint16_t VecU16 __attribute__((vector_size(kLanes * 4)));

inline VecI LoadInts(const void* p) {
  VecI v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
inline VecI SetInt(std::int32_t x) { return x - VecI{}; }
inline VecF ToFloats(VecI v) { return __builtin_convertvector(v, VecF); }
inline VecI ShiftHalves(VecI v, int bits) {
  return reinterpret_cast<VecI>(reinterpret_cast<VecU16>(v) >> bits);
}

// sum[l] + the products of both 16-bit halves of lane l. The weight's halves are 0 to 255.
inline VecI DotPairs(VecI sum, VecI weight, VecI x) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<VecI>(_mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sum),
                                                    reinterpret_cast<__m512i>(weight),
                                                    reinterpret_cast<__m512i>(x)));
#elif defined(__AVX512F__)
  return sum + reinterpret_cast<VecI>(_mm512_madd_epi16(reinterpret_cast<__m512i>(weight),
                                                        reinterpret_cast<__m512i>(x)));
#elif defined(__AVX2__)
  return sum + reinterpret_cast<VecI>(_mm256_madd_epi16(reinterpret_cast<__m256i>(weight),
                                                        reinterpret_cast<__m256i>(x)));
#else
  const VecI high = reinterpret_cast<VecI>(reinterpret_cast<VecU>(weight) >> 16);
  const VecI x_low = reinterpret_cast<VecI>(reinterpret_cast<VecU>(x) << 16) >> 16;
  return sum + (weight & 0xFFFF) * x_low + high * (x >> 16);
#endif
}

#if defined(__AVX512VNNI__)
// The same for the four bytes of a lane: the weight's unsigned, x's signed.
inline VecI DotBytes(VecI sum, VecI weight, VecI x) {
  return reinterpret_cast<VecI>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
                                                    reinterpret_cast<__m512i>(weight),
                                                    reinterpret_cast<__m512i>(x)));
}
#endif

// Four elements of x (or two of 16 bits), the same in every lane.
template <typename X>
inline VecI Broadcast(const X* x) {
  std::int32_t bits;
  __builtin_memcpy(&bits, x, 4);
  return SetInt(bits);
}

// Row t of a few rows `stride` apart. Two bases and a stride serve six rows in three registers.
template <typename T>
struct RowPointers {
  const T* base;
  const T* third;
  std::int64_t stride;
  RowPointers(const T* p, std::int64_t s) : base(p), third(p + 3 * s), stride(s) {}
  const T* operator[](int t) const { return t < 3 ? base + t * stride : third + (t - 3) * stride; }
  void Advance(std::int64_t n) {
    base += n;
    third += n;
  }
};

// sum += one vector of packed weights (quant_tiles.h) times the elements of x that it covers, from
// the `at`th on.
template <int kBits, typename X, int kCount>
inline void DotVector(const VecI (&w)[kQuantVectors], const RowPointers<X>& x, int at,
                      VecI (&sum)[kCount][kQuantVectors]) {
  constexpr int kSteps = 8 / kBits * static_cast<int>(sizeof(X));
  constexpr int kStep = 4 / static_cast<int>(sizeof(X));
#pragma GCC unroll 4
  for (int step = 0; step < kSteps; ++step) {
    VecI part[kQuantVectors];
    for (int r = 0; r < kQuantVectors; ++r) {
      if constexpr (sizeof(X) == 1) {
        part[r] = kBits == 8 ? w[r] : (step == 0 ? w[r] : w[r] >> 4) & 0x0F0F0F0F;
      } else if constexpr (kBits == 8) {
        part[r] = step == 0 ? w[r] & 0x00FF00FF : ShiftHalves(w[r], 8);
      } else {
        part[r] = step == 0   ? w[r] & 0x000F000F
                  : step == 1 ? ShiftHalves(w[r], 8) & 0x000F000F
                  : step == 2 ? ShiftHalves(w[r], 4) & 0x000F000F
                              : ShiftHalves(w[r], 12);
      }
    }
    for (int t = 0; t < kCount; ++t) {
      const VecI xv = Broadcast(x[t] + at + step * kStep);
      for (int r = 0; r < kQuantVectors; ++r) {
#if defined(__AVX512VNNI__)
        if constexpr (sizeof(X) == 1) {
          sum[t][r] = DotBytes(sum[t][r], part[r], xv);
          continue;
        }
#endif
        sum[t][r] = DotPairs(sum[t][r], part[r], xv);
      }
    }
  }
}

// kQuantVectors vectors of weight rows, from the `first`th of the two tiles, times kCount rows.
template <int kBits, int kBlock, typename X, int kCount>
inline void QuantBlock(const QuantTile* tiles, int first, const QuantRows& rows, int row,
                       std::int64_t out_stride) {
  const Byte* w[kQuantVectors];
  const float* scales[kQuantVectors];
  for (int r = 0; r < kQuantVectors; ++r) {
    const int lane = (first + r) * kLanes;
    w[r] = tiles[lane / kTileRows].quants + lane % kTileRows * 4;
    scales[r] = tiles[lane / kTileRows].scales + lane % kTileRows;
  }
  constexpr int kElements = 4 * 8 / kBits;  // of one row in a vector
  constexpr int kVectors = kBlock / kElements;
  constexpr int kVectorBytes = kTileRows * 4;
  const std::int64_t n_blocks = rows.cols / kBlock;
  RowPointers<X> x(static_cast<const X*>(rows.x) + row * rows.cols, rows.cols);
  RowPointers<QuantScale> x_scales((kBlock == 16 ? rows.scales16 : rows.scales32) + row * n_blocks,
                                   n_blocks);
  VecF total[kCount][kQuantVectors] = {};
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    VecI sum[kCount][kQuantVectors] = {};
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      VecI packed[kQuantVectors];
      for (int r = 0; r < kQuantVectors; ++r) {
        packed[r] = LoadInts(w[r] + v * kVectorBytes);
        // With few rows of x the weights come from memory as fast as they can.
        if constexpr (kCount <= 2) __builtin_prefetch(w[r] + v * kVectorBytes + kPrefetchBytes);
      }
      DotVector<kBits, X, kCount>(packed, x, v * kElements, sum);
    }
    for (int r = 0; r < kQuantVectors; ++r) {
      const VecF scale = Load(scales[r]);
      const VecF offset = Load(scales[r] + kTileRows);
      for (int t = 0; t < kCount; ++t) {
        total[t][r] = Fma(ToFloats(sum[t][r]), scale * Set(x_scales[t]->scale), total[t][r]);
        total[t][r] = Fma(offset, Set(x_scales[t]->sum), total[t][r]);
      }
      w[r] += kVectors * kVectorBytes;
      scales[r] += 2 * kTileRows;
    }
    x.Advance(kBlock);
    x_scales.Advance(1);
  }
  for (int r = 0; r < kQuantVectors; ++r) {
    const int lane = (first + r) * kLanes;
    const QuantTile& tile = tiles[lane / kTileRows];
    const int left = tile.n_rows - lane % kTileRows;
    for (int t = 0; t < kCount; ++t) {
      float* out = tile.out + (row + t) * out_stride + lane % kTileRows;
      if (left >= kLanes) {
        Store(out, total[t][r]);
      } else if (left > 0) {
        StorePart(out, total[t][r], left);
      }
    }
  }
}

template <int kBits, int kBlock, typename X>
void QuantDots(const QuantTile* tiles, const QuantRows& rows, std::int64_t out_stride) {
  for (int first = 0; first < 2 * kTileRows / kLanes; first += kQuantVectors) {
    // A tile that is not there: the caller gives no rows to write.
    if (tiles[first * kLanes / kTileRows].n_rows == 0) continue;
    int row = 0;
    for (; row + kQuantRows <= rows.n; row += kQuantRows) {
      QuantBlock<kBits, kBlock, X, kQuantRows>(tiles, first, rows, row, out_stride);
    }
    if constexpr (kQuantRows > 4) {
      if (rows.n - row >= 4) {
        QuantBlock<kBits, kBlock, X, 4>(tiles, first, rows, row, out_stride);
        row += 4;
      }
    }
    if (rows.n - row >= 2) {
      QuantBlock<kBits, kBlock, X, 2>(tiles, first, rows, row, out_stride);
      row += 2;
    }
    if (row < rows.n) QuantBlock<kBits, kBlock, X, 1>(tiles, first, rows, row, out_stride);
  }
}

inline std::int32_t SumInts(VecI v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_epi32(reinterpret_cast<__m512i>(v));
#else
  std::int32_t sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += v[i];
  return sum;
#endif
}

inline std::int32_t MaxInts(VecI v) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_epi32(reinterpret_cast<__m512i>(v));
#else
  std::int32_t most = v[0];
  for (int i = 1; i < kLanes; ++i) most = v[i] > most ? v[i] : most;
  return most;
#endif
}

// 0, 2, 1, 3 of every four.
inline VecI SwapMiddle(VecI v) {
#if defined(__AVX512F__)
  return reinterpret_cast<VecI>(
      _mm512_shuffle_epi32(reinterpret_cast<__m512i>(v), static_cast<_MM_PERM_ENUM>(0xD8)));
#elif defined(__AVX2__)
  return reinterpret_cast<VecI>(_mm256_shuffle_epi32(reinterpret_cast<__m256i>(v), 0xD8));
#else
  return __builtin_shufflevector(v, v, 0, 2, 1, 3);
#endif
}

template <typename X>
inline void StoreQuants(VecI v, X* out) {
  typedef X Narrow __attribute__((vector_size(kLanes * sizeof(X))));
  const Narrow narrow = __builtin_convertvector(v, Narrow);
  __builtin_memcpy(out, &narrow, sizeof(narrow));
}

// One row in blocks of 32, each with the scale that takes its greatest magnitude to the largest
// integer. A block with a NaN or an infinity gets the scale NaN, so that the outputs show it.
template <typename X>
void QuantizeRow(const float* x, std::int64_t n, void* quants, QuantScale* scales32,
                 QuantScale* scales16) {
  constexpr float kMost = sizeof(X) == 1 ? 127.0f : 32767.0f;
  constexpr float kLargestFactor = 0x1p125f;  // keeps the factor of tiny blocks finite
  constexpr int kVectors = 32 / kLanes;
  X* out = static_cast<X*>(quants);
  for (std::int64_t b = 0; b < n / 32; ++b) {
    VecF v[kVectors];
    VecI most{};  // as bits: magnitudes are ordered alike, NaN above all
    for (int i = 0; i < kVectors; ++i) {
      v[i] = Load(x + b * 32 + i * kLanes);
      const VecI bits = reinterpret_cast<VecI>(v[i]) & 0x7FFFFFFF;
      most = bits > most ? bits : most;
    }
    const std::int32_t bits = MaxInts(most);
    const bool finite = bits < 0x7F800000;
    const float greatest = FloatOfBits(static_cast<std::uint32_t>(bits));
    const bool tiny = !(greatest * kLargestFactor > kMost);
    const float factor = !finite ? 0.0f : tiny ? kLargestFactor : kMost / greatest;
    const float scale = !finite ? __builtin_nanf("") : tiny ? 0x1p-125f : greatest / kMost;
    std::int32_t sums[2] = {};
    for (int i = 0; i < kVectors; ++i) {
      // To the nearest integer, which the low bits of 1.5 * 2^23 + it are.
      const VecF shifted = v[i] * Set(factor) + Set(12582912.0f);
      VecI q = reinterpret_cast<VecI>(shifted) - 0x4B400000;
      if (!finite) q = VecI{};
      sums[i * 2 / kVectors] += SumInts(q);
      StoreQuants(sizeof(X) == 2 ? SwapMiddle(q) : q, out + b * 32 + i * kLanes);
    }
    scales16[2 * b] = {scale, scale * static_cast<float>(sums[0])};
    scales16[2 * b + 1] = {scale, scale * static_cast<float>(sums[1])};
    scales32[b] = {scale, scale * static_cast<float>(sums[0] + sums[1])};
  }
}

// kTileRows float16 numbers.
inline void HalvesToFloats(const Byte* halves, float* out) {
  DecodeF16(reinterpret_cast<const std::byte*>(halves), kTileRows, out);
}

void ExpandScales(const std::byte* stored, std::int64_t n_blocks, bool halves, bool has_offsets,
                  float centre, std::int64_t ahead, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(stored);
  const int vector_bytes = kTileRows * (halves ? 2 : 4);
  const auto load = [&](float* to) {
    __builtin_prefetch(p + ahead);
    if (halves) {
      HalvesToFloats(p, to);
    } else {
      __builtin_memcpy(to, p, kTileRows * 4);
    }
    p += vector_bytes;
  };
  for (std::int64_t b = 0; b < n_blocks; ++b, out += 2 * kTileRows) {
    load(out);
    if (has_offsets) {
      load(out + kTileRows);
    } else {
      for (int i = 0; i < kTileRows; i += kLanes) {
        Store(out + kTileRows + i, Load(out + i) * Set(-centre));
      }
    }
  }
}
