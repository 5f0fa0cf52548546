// Integer products of packed weights with many rows on the matrix unit (AMX). Private to
// kernels_amx.cc.
//
// Bits: those of quant.inc.h. A block's integers are summed in a tile of the unit, [16 rows of x,
// 16 rows of the weight]; behind it the same float steps follow in the same order. Activations of
// 12 bits are 16 h + l, and the weight's quants lie in the unit beside 16 times themselves, so that
// one product sums both; of 16 bits they are 256 h + l, and two tiles are put together.
//
// Sixteen rows are quantised together, a block after the other as the unit loads them: of each row
// the high bytes and the low ones (or two tiles of them), [blocks, 16 rows, bytes]; scales lie as
// [blocks, 2, 16 rows]: scale, and the integers' sum times the scale.

enum class MatrixForm { kEight, kTwelve, kSixteen };

constexpr int kMatrixRows = 16;

struct alignas(64) MatrixConfig {
  unsigned char palette = 1;
  unsigned char start = 0;
  unsigned char reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  unsigned char rows[16] = {};
};

// Tiles 0 and 1 are sums, 2 and 3 left factors (activations), 4 to 7 right ones (weights). The
// clobbers keep memory in order: the unit's loads and stores are unseen by the compiler.
inline void ConfigureMatrix(int x_bytes) {
  MatrixConfig config;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = static_cast<std::uint16_t>(i == 2 || i == 3 ? x_bytes : 64);
    config.rows[i] = static_cast<unsigned char>(i >= 4 ? x_bytes / 4 : kMatrixRows);
  }
  asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
}
inline void ReleaseMatrix() { asm volatile("tilerelease" ::: "memory"); }

template <int kTile>
inline void LoadMatrix(const void* p, std::int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
inline void StoreMatrixRows(void* p, std::int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(p), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
inline void StoreMatrix(void* p) {
  StoreMatrixRows<kTile>(p, 64);
}
// Sum tile = tile kX times tile 4, bytes of x and of the weight signed or not.
template <int kSum, int kX, bool kSignedX, bool kSignedWeight>
inline void MultiplyMatrix() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kSum));
  if constexpr (kSignedX && kSignedWeight) {
    asm volatile("tdpbssd %%tmm4, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kX));
  } else if constexpr (kSignedX) {
    asm volatile("tdpbsud %%tmm4, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kX));
  } else if constexpr (kSignedWeight) {
    asm volatile("tdpbusd %%tmm4, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kX));
  } else {
    asm volatile("tdpbuud %%tmm4, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kX));
  }
}

typedef std::int8_t VecI8 __attribute__((vector_size(64)));

// A block of a weight tile as the unit loads it. Without offsets the quants' centre is taken away,
// which makes them signed. Returns the bytes behind it.
template <int kBits, int kBlock, bool kOffsets, MatrixForm kForm>
inline void UnpackBlock(const Byte* quants, Byte* out) {
  constexpr int kVectors = kBlock / 4 * kBits / 8;
  const auto store = [&](int at, VecI v) { __builtin_memcpy(out + at * 64, &v, 64); };
  constexpr std::int32_t kFlip = kOffsets ? 0 : static_cast<std::int32_t>(0x80808080u);
  const auto centred = [](VecI v) {  // of 4 bits
    constexpr std::int8_t kCentre = kOffsets ? 0 : 8;
    return reinterpret_cast<VecI>(reinterpret_cast<VecI8>(v) - kCentre);
  };
  constexpr std::int32_t kLow = 0x0F0F0F0F;
  for (int v = 0; v < kVectors; ++v) {
    const VecI w = LoadInts(quants + v * 64);
    if constexpr (kBits == 8) {
      store(v, w ^ kFlip);
    } else {
      const VecI low = w & kLow;
      const VecI high = (w >> 4) & kLow;
      constexpr int kAt = kForm == MatrixForm::kTwelve ? kBlock / 4 : 0;
      store(kAt + 2 * v, centred(low));
      store(kAt + 2 * v + 1, centred(high));
      if constexpr (kForm == MatrixForm::kTwelve) {  // 16 (q - 8) = 16 q - 128
        store(2 * v, (low << 4) ^ kFlip);
        store(2 * v + 1, (high << 4) ^ kFlip);
      }
    }
  }
}

// The integer sums of one block of 16 rows of x with one tile, in memory.
template <int kBlock, bool kOffsets, MatrixForm kForm>
inline void SumBlock(const Byte* x, const Byte* weight, std::int32_t (&sums)[2][kMatrixRows * 16]) {
  constexpr int kRowBytes = kForm == MatrixForm::kTwelve ? 2 * kBlock : kBlock;
  LoadMatrix<2>(x, kRowBytes);
  LoadMatrix<4>(weight, 64);
  MultiplyMatrix<0, 2, true, !kOffsets>();
  StoreMatrix<0>(sums[0]);
  if constexpr (kForm == MatrixForm::kSixteen) {
    LoadMatrix<3>(x + kMatrixRows * kRowBytes, kRowBytes);
    MultiplyMatrix<1, 3, false, !kOffsets>();
    StoreMatrix<1>(sums[1]);
  }
}

// total += the block's sums, scaled.
template <bool kOffsets, MatrixForm kForm>
inline void AddBlock(const std::int32_t (&sums)[2][kMatrixRows * 16], const float* x_scales,
                     const float* scales, VecF (&total)[kMatrixRows]) {
  const VecF scale = Load(scales);
#pragma GCC unroll 16
  for (int t = 0; t < kMatrixRows; ++t) {
    VecI sum = LoadInts(sums[0] + t * 16);
    if constexpr (kForm == MatrixForm::kSixteen) sum = (sum << 8) + LoadInts(sums[1] + t * 16);
    total[t] = Fma(ToFloats(sum), scale * Set(x_scales[t]), total[t]);
    if constexpr (kOffsets) {
      total[t] = Fma(Load(scales + 16), Set(x_scales[kMatrixRows + t]), total[t]);
    }
  }
}

// 16 rows of x, of which n are there, with blocks [first, last) of one tile. Sums go on from where
// the blocks before left them.
template <int kBlock, bool kOffsets, MatrixForm kForm>
inline void MatrixTile(const Byte* x, const float* x_scales, const Byte* weight,
                       const QuantTile& tile, std::int64_t first, std::int64_t last, int n,
                       std::int64_t out_stride, float* out) {
  constexpr int kXBytes = kMatrixRows * kBlock * (kForm == MatrixForm::kEight ? 1 : 2);
  constexpr int kWeightBytes = kBlock * 16 * (kForm == MatrixForm::kTwelve ? 2 : 1);
  constexpr int kScales = kOffsets ? 32 : 16;
  // The unit's stores are seen by loads once they are retired only, so it runs some blocks ahead.
  constexpr int kAhead = 2;
  alignas(64) std::int32_t sums[kAhead + 2][2][kMatrixRows * 16];
  VecF total[kMatrixRows] = {};
  if (first > 0) {
#pragma GCC unroll 16
    for (int t = 0; t < kMatrixRows; ++t) {
      if (t < n) total[t] = LoadPart(out + t * out_stride, tile.n_rows);
    }
  }
  const auto sum = [&](std::int64_t b) {
    SumBlock<kBlock, kOffsets, kForm>(x + b * kXBytes, weight + (b - first) * kWeightBytes,
                                      sums[b % (kAhead + 2)]);
  };
  for (std::int64_t b = first; b < last && b < first + kAhead; ++b) sum(b);
  for (std::int64_t b = first; b < last; ++b) {
    if (b + kAhead < last) sum(b + kAhead);
    AddBlock<kOffsets, kForm>(sums[b % (kAhead + 2)], x_scales + b * 2 * kMatrixRows,
                              tile.scales + b * kScales, total);
  }
#pragma GCC unroll 16
  for (int t = 0; t < kMatrixRows; ++t) {
    if (t >= n) break;
    if (tile.n_rows == 16) {
      Store(out + t * out_stride, total[t]);
    } else {
      StorePart(out + t * out_stride, total[t], tile.n_rows);
    }
  }
}

template <int kBits, int kBlock, bool kOffsets, MatrixForm kForm>
void MatrixDots(const QuantTile* tiles, const QuantRows& rows, std::int64_t out_stride) {
  constexpr int kElements = 512;  // of the weight's rows that stay in the first-level cache
  constexpr int kChunk = kElements / kBlock;
  constexpr int kWeightBytes = kBlock * 16 * (kForm == MatrixForm::kTwelve ? 2 : 1);
  constexpr int kXBytes = kMatrixRows * kBlock * (kForm == MatrixForm::kEight ? 1 : 2);
  alignas(64) Byte unpacked[2][kChunk * kWeightBytes];
  const std::int64_t n_blocks = rows.cols / kBlock;
  const int n_tiles = tiles[1].n_rows > 0 ? 2 : 1;
  ConfigureMatrix(kForm == MatrixForm::kTwelve ? 2 * kBlock : kBlock);
  for (std::int64_t first = 0; first < n_blocks; first += kChunk) {
    const std::int64_t last = n_blocks - first < kChunk ? n_blocks : first + kChunk;
    for (int i = 0; i < n_tiles; ++i) {
      for (std::int64_t b = first; b < last; ++b) {
        UnpackBlock<kBits, kBlock, kOffsets, kForm>(tiles[i].quants + b * (kBlock * 2 * kBits),
                                                    unpacked[i] + (b - first) * kWeightBytes);
      }
    }
    for (int row = 0; row < rows.n; row += kMatrixRows) {
      const Byte* x =
          reinterpret_cast<const Byte*>(rows.x) + row / kMatrixRows * n_blocks * kXBytes;
      const float* x_scales = reinterpret_cast<const float*>(rows.scales) + row * 2 * n_blocks;
      const int n = rows.n - row < kMatrixRows ? rows.n - row : kMatrixRows;
      for (int i = 0; i < n_tiles; ++i) {
        MatrixTile<kBlock, kOffsets, kForm>(x, x_scales, unpacked[i], tiles[i], first, last, n,
                                            out_stride, tiles[i].out + row * out_stride);
      }
    }
  }
  ReleaseMatrix();
}

// Up to 16 rows; those that are not there are left as they are: nothing of them is read.
template <int kBlock, int kMost, MatrixForm kForm>
void QuantizeMatrix(const float* x, int n, std::int64_t cols, void* quants, void* scales) {
  constexpr int kRowBytes = kForm == MatrixForm::kTwelve ? 2 * kBlock : kBlock;
  constexpr int kXBytes = kMatrixRows * kBlock * (kForm == MatrixForm::kEight ? 1 : 2);
  constexpr int kLowAt = kForm == MatrixForm::kTwelve ? kBlock : kMatrixRows * kBlock;
  for (int t = 0; t < n; ++t) {
    Byte* out = static_cast<Byte*>(quants) + t * kRowBytes;
    float* out_scales = static_cast<float*>(scales) + t;
    const auto emit = [&](float scale, std::int32_t sum) {
      out_scales[0] = scale;
      out_scales[kMatrixRows] = scale * static_cast<float>(sum);
      out_scales += 2 * kMatrixRows;
    };
    const auto put = [](VecI v, Byte* to) {  // the low byte of each lane
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                       _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(v)));
    };
    for (std::int64_t b = 0; b < cols / 32; ++b) {
      VecI q[2];
      const float scale = QuantizeBlock<kMost>(x + t * cols + b * 32, q);
      for (int half = 0; half < 2; ++half) {
        Byte* to = out + half * 16;
        if constexpr (kBlock == 16) to = out + half * kXBytes;
        if constexpr (kForm == MatrixForm::kEight) {
          put(q[half], to);
        } else {
          constexpr int kShift = kForm == MatrixForm::kTwelve ? 4 : 8;
          put(q[half] >> kShift, to);
          put(q[half] & ((1 << kShift) - 1), to + kLowAt);
        }
      }
      out += 32 / kBlock * kXBytes;
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
}

template <int kBits, int kBlock, MatrixForm kForm>
constexpr QuantKernel MatrixKernel() {
  constexpr int kMost = kForm == MatrixForm::kEight    ? 127
                        : kForm == MatrixForm::kTwelve ? 2047
                                                       : 32767;
  return {
      .group = kMatrixRows,
      .element_bytes = kForm == MatrixForm::kEight ? 1 : 2,
      .scale_bytes = 2 * static_cast<int>(sizeof(float)),
      .quantize = QuantizeMatrix<kBlock, kMost, kForm>,
      .dots = {MatrixDots<kBits, kBlock, false, kForm>, MatrixDots<kBits, kBlock, true, kForm>}};
}

template <MatrixForm kFour, MatrixForm kEightBits>
constexpr QuantKernels MatrixKernels() {
  return {.of = {{MatrixKernel<4, 16, kFour>(), MatrixKernel<4, 32, kFour>()},
                 {MatrixKernel<8, 16, kEightBits>(), MatrixKernel<8, 32, kEightBits>()}}};
}
