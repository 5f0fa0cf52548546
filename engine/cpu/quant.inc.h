// Integer products of packed weights (quant_tiles.h) with quantised rows. Private to the
// kernels_*.cc files.
//
// Activations are a row of int8; of int16 whose elements lie in the order 0, 2, 1, 3 of every four,
// as the weights' even and odd bytes want them; or of 12 bits in two planes of bytes (Twelve),
// which cost less beside weights of 4 bits where bytes have a dot product. And a QuantScale a
// block.
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

// Of a block of quantised elements.
struct QuantScale {
  float scale;
  float sum;           // of the integers, times the scale
  std::int32_t start;  // -centre times the sum of the integers
};

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
#elif defined(__AVXVNNI__)
  return reinterpret_cast<VecI>(_mm256_dpwssd_avx_epi32(reinterpret_cast<__m256i>(sum),
                                                        reinterpret_cast<__m256i>(weight),
                                                        reinterpret_cast<__m256i>(x)));
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

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__ARM_FEATURE_DOTPROD)
constexpr bool kHasDotBytes = true;
// The same for the four bytes of a lane: the weight's unsigned, x's signed.
inline VecI DotBytes(VecI sum, VecI weight, VecI x) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<VecI>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
                                                    reinterpret_cast<__m512i>(weight),
                                                    reinterpret_cast<__m512i>(x)));
#elif defined(__ARM_FEATURE_DOTPROD)
  // Signed products alone: w x = (w - 128) x + 64 x + 64 x.
  const int8x16_t bytes = vreinterpretq_s8_s32(reinterpret_cast<int32x4_t>(x));
  const int8x16_t low = veorq_s8(vreinterpretq_s8_s32(reinterpret_cast<int32x4_t>(weight)),
                                 vdupq_n_s8(static_cast<std::int8_t>(-128)));
  int32x4_t total = vdotq_s32(reinterpret_cast<int32x4_t>(sum), low, bytes);
  total = vdotq_s32(total, vdupq_n_s8(64), bytes);
  return reinterpret_cast<VecI>(vdotq_s32(total, vdupq_n_s8(64), bytes));
#else
  return reinterpret_cast<VecI>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sum),
                                                        reinterpret_cast<__m256i>(weight),
                                                        reinterpret_cast<__m256i>(x)));
#endif
}
#else
constexpr bool kHasDotBytes = false;
inline VecI DotBytes(VecI sum, VecI, VecI) { return sum; }
#endif

// An element of 12 bits, 16 high + low. A block's high bytes lie before its low ones.
struct Twelve {
  std::int8_t high_or_low[2];
};
template <typename X>
constexpr int kPlanes = 1;  // of bytes
template <>
constexpr int kPlanes<Twelve> = 2;

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

// The `step`th part of a vector of packed weights: bytes, or pairs of 16 bits.
template <int kBits, bool kPairs>
inline VecI WeightPart(VecI w, int step) {
  if constexpr (!kPairs) {
    return kBits == 8 ? w : (step == 0 ? w : w >> 4) & 0x0F0F0F0F;
  } else if constexpr (kBits == 8) {
    return step == 0 ? w & 0x00FF00FF : ShiftHalves(w, 8);
  } else {
    return step == 0   ? w & 0x000F000F
           : step == 1 ? ShiftHalves(w, 8) & 0x000F000F
           : step == 2 ? ShiftHalves(w, 4) & 0x000F000F
                       : ShiftHalves(w, 12);
  }
}

// sum += one vector of packed weights (quant_tiles.h) times the elements of x that it covers, from
// the `at`th of a block on; bytes of 12-bit elements are summed apart.
template <int kBits, int kBlock, typename X, int kCount>
inline void DotVector(const VecI (&w)[kQuantVectors], const RowPointers<X>& x, int at,
                      VecI (&sum)[kPlanes<X>][kCount][kQuantVectors]) {
  constexpr bool kPairs = sizeof(X) == 2 && kPlanes<X> == 1;
  constexpr int kStep = kPairs ? 2 : 4;  // elements in a lane
  constexpr int kSteps = 4 * 8 / kBits / kStep;
#pragma GCC unroll 4
  for (int step = 0; step < kSteps; ++step) {
    VecI part[kQuantVectors];
    for (int r = 0; r < kQuantVectors; ++r) part[r] = WeightPart<kBits, kPairs>(w[r], step);
    for (int t = 0; t < kCount; ++t) {
      for (int plane = 0; plane < kPlanes<X>; ++plane) {
        const int bytes = (at + step * kStep) * (kPairs ? 2 : 1) + plane * kBlock;
        const VecI xv = Broadcast(reinterpret_cast<const Byte*>(x[t]) + bytes);
        for (int r = 0; r < kQuantVectors; ++r) {
          VecI& to = sum[plane][t][r];
          to = kPairs ? DotPairs(to, part[r], xv) : DotBytes(to, part[r], xv);
        }
      }
    }
  }
}

// kQuantVectors vectors of weight rows, from the `first`th of the two tiles, times kCount rows.
template <int kBits, int kBlock, bool kOffsets, typename X, int kCount>
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
  RowPointers<X> x(reinterpret_cast<const X*>(rows.x) + row * rows.cols, rows.cols);
  RowPointers<QuantScale> x_scales(
      reinterpret_cast<const QuantScale*>(rows.scales) + row * n_blocks, n_blocks);
  VecF total[kCount][kQuantVectors] = {};
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    VecI sum[kPlanes<X>][kCount][kQuantVectors] = {};
    if constexpr (!kOffsets) {
      for (int t = 0; t < kCount; ++t) {
        for (VecI& start : sum[kPlanes<X> - 1][t]) start = SetInt(x_scales[t]->start);
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      VecI packed[kQuantVectors];
      for (int r = 0; r < kQuantVectors; ++r) {
        packed[r] = LoadInts(w[r] + v * kVectorBytes);
        // With few rows of x the weights come from memory as fast as they can.
        if constexpr (kCount <= 2) __builtin_prefetch(w[r] + v * kVectorBytes + kPrefetchBytes);
      }
      DotVector<kBits, kBlock, X, kCount>(packed, x, v * kElements, sum);
    }
    for (int r = 0; r < kQuantVectors; ++r) {
      const VecF scale = Load(scales[r]);
      for (int t = 0; t < kCount; ++t) {
        VecI whole = sum[0][t][r];
        if constexpr (kPlanes<X> == 2) whole = (whole << 4) + sum[1][t][r];
        total[t][r] = Fma(ToFloats(whole), scale * Set(x_scales[t]->scale), total[t][r]);
        if constexpr (kOffsets) {
          total[t][r] = Fma(Load(scales[r] + kTileRows), Set(x_scales[t]->sum), total[t][r]);
        }
      }
      w[r] += kVectors * kVectorBytes;
      scales[r] += (kOffsets ? 2 : 1) * kTileRows;
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

template <int kBits, int kBlock, bool kOffsets, typename X>
void QuantDots(const QuantTile* tiles, const QuantRows& rows, std::int64_t out_stride) {
  for (int first = 0; first < 2 * kTileRows / kLanes; first += kQuantVectors) {
    // A tile that is not there: the caller gives no rows to write.
    if (tiles[first * kLanes / kTileRows].n_rows == 0) continue;
    int row = 0;
    constexpr int kMany = kQuantRows > 4 && kPlanes<X> == 2 ? 4 : kQuantRows;
    for (; row + kMany <= rows.n; row += kMany) {
      QuantBlock<kBits, kBlock, kOffsets, X, kMany>(tiles, first, rows, row, out_stride);
    }
    if constexpr (kMany > 4) {
      if (rows.n - row >= 4) {
        QuantBlock<kBits, kBlock, kOffsets, X, 4>(tiles, first, rows, row, out_stride);
        row += 4;
      }
    }
    if (rows.n - row >= 2) {
      QuantBlock<kBits, kBlock, kOffsets, X, 2>(tiles, first, rows, row, out_stride);
      row += 2;
    }
    if (row < rows.n)
      QuantBlock<kBits, kBlock, kOffsets, X, 1>(tiles, first, rows, row, out_stride);
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

// 32 elements as integers up to kMost, with the scale that takes the greatest magnitude to kMost.
// A block with a NaN or an infinity gets the scale NaN, so that the outputs show it.
template <int kMost>
inline float QuantizeBlock(const float* x, VecI (&q)[32 / kLanes]) {
  constexpr float kLargestFactor = 0x1p125f;  // keeps the factor of tiny blocks finite
  constexpr int kVectors = 32 / kLanes;
  VecF v[kVectors];
  VecI most{};  // as bits: magnitudes are ordered alike, NaN above all
  for (int i = 0; i < kVectors; ++i) {
    v[i] = Load(x + i * kLanes);
    const VecI bits = reinterpret_cast<VecI>(v[i]) & 0x7FFFFFFF;
    most = bits > most ? bits : most;
  }
  const std::int32_t bits = MaxInts(most);
  const bool finite = bits < 0x7F800000;
  const float greatest = FloatOfBits(static_cast<std::uint32_t>(bits));
  const bool tiny = !(greatest * kLargestFactor > static_cast<float>(kMost));
  const float factor = !finite ? 0.0f : tiny ? kLargestFactor : kMost / greatest;
  for (int i = 0; i < kVectors; ++i) {
    // To the nearest integer, which the low bits of 1.5 * 2^23 + it are.
    const VecF shifted = v[i] * Set(factor) + Set(12582912.0f);
    q[i] = finite ? reinterpret_cast<VecI>(shifted) - 0x4B400000 : VecI{};
  }
  return !finite ? __builtin_nanf("") : tiny ? 0x1p-125f : greatest / kMost;
}

// The sums of a quantised block's first and last 16 elements.
inline void HalfSums(const VecI (&q)[32 / kLanes], std::int32_t (&sums)[2]) {
  constexpr int kHalf = 16 / kLanes;
  for (int half = 0; half < 2; ++half) {
    VecI sum = q[half * kHalf];
    for (int i = 1; i < kHalf; ++i) sum = sum + q[half * kHalf + i];
    sums[half] = SumInts(sum);
  }
}

template <int kBits, int kBlock, int kMost, typename X>
void QuantizeRow(const float* x, int, std::int64_t n, void* quants, void* scales) {
  constexpr int kCentre = kBits == 8 ? 128 : 8;
  constexpr int kVectors = 32 / kLanes;
  X* out = static_cast<X*>(quants);
  QuantScale* out_scales = static_cast<QuantScale*>(scales);
  const auto emit = [&](float scale, std::int32_t sum) {
    *out_scales++ = {scale, scale * static_cast<float>(sum), -kCentre * sum};
  };
  for (std::int64_t b = 0; b < n / 32; ++b) {
    VecI q[kVectors];
    const float scale = QuantizeBlock<kMost>(x + b * 32, q);
    for (int i = 0; i < kVectors; ++i) {
      if constexpr (kPlanes<X> == 2) {
        const int at = i * kLanes;  // of the 32
        auto* to =
            reinterpret_cast<std::int8_t*>(out + b * 32 + at / kBlock * kBlock) + at % kBlock;
        StoreQuants(q[i] >> 4, to);
        StoreQuants(q[i] & 15, to + kBlock);
      } else {
        StoreQuants(sizeof(X) == 2 ? SwapMiddle(q[i]) : q[i], out + b * 32 + i * kLanes);
      }
    }
    std::int32_t sums[2];
    HalfSums(q, sums);
    if constexpr (kBlock == 16) {
      emit(scale, sums[0]);
      emit(scale, sums[1]);
    } else {
      emit(scale, sums[0] + sums[1]);
    }
  }
}

// kTileRows float16 numbers.
inline void HalvesToFloats(const Byte* halves, float* out) {
  DecodeF16(reinterpret_cast<const std::byte*>(halves), kTileRows, out);
}

void ExpandHalves(const std::byte* stored, std::int64_t n_vectors, std::int64_t ahead, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(stored);
  for (std::int64_t i = 0; i < n_vectors; ++i, p += 2 * kTileRows) {
    __builtin_prefetch(p + ahead);
    HalvesToFloats(p, out + i * kTileRows);
  }
}

// over * bytes, or -over * bytes; kTileRows of each.
template <typename T>
inline void ScaleBytes(const float* over, const Byte* bytes, float sign, float* out) {
  typedef T Narrow __attribute__((vector_size(kLanes)));
  for (int i = 0; i < kTileRows; i += kLanes) {
    Narrow narrow;
    __builtin_memcpy(&narrow, bytes + i, sizeof(narrow));
    Store(out + i, Load(over + i) * __builtin_convertvector(narrow, VecF) * Set(sign));
  }
}

void ExpandBytes(const std::byte* stored, std::int64_t n_blocks, int per_over, bool has_offsets,
                 std::int64_t ahead, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(stored);
  float over[2][kTileRows] = {};
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    if (b % per_over == 0) {
      for (int i = 0; i < (has_offsets ? 2 : 1); ++i, p += 2 * kTileRows) {
        __builtin_prefetch(p + ahead);
        HalvesToFloats(p, over[i]);
      }
    }
    __builtin_prefetch(p + ahead);
    if (has_offsets) {
      ScaleBytes<std::uint8_t>(over[0], p, 1.0f, out);
      ScaleBytes<std::uint8_t>(over[1], p + kTileRows, -1.0f, out + kTileRows);
      p += 2 * kTileRows;
      out += 2 * kTileRows;
    } else {
      ScaleBytes<std::int8_t>(over[0], p, 1.0f, out);
      p += kTileRows;
      out += kTileRows;
    }
  }
}
