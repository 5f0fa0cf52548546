// Block formats -> floats, equal to engine/model/dequantize.h to the bit. Private to the
// kernels_*.cc files.
//
// All formats go the same way: 16 quants are put together as bytes, then Emit widens, scales and
// stores them.

using Byte = unsigned char;

inline std::uint16_t U16(const Byte* p) {
  std::uint16_t v;
  __builtin_memcpy(&v, p, 2);
  return v;
}

inline float FloatOfBits(std::uint32_t bits) {
  float f;
  __builtin_memcpy(&f, &bits, 4);
  return f;
}

inline float Half(const Byte* p) {
#if defined(__AVX512F__) || defined(__F16C__)
  return _cvtsh_ss(U16(p));
#else
  const std::uint32_t h = U16(p);
  const std::uint32_t sign = (h & 0x8000u) << 16;
  const std::uint32_t rest = (h & 0x7FFFu) << 13;
  // Infinities and NaN keep a full exponent (NaN made quiet); the others are scaled by 2^112, which
  // makes subnormals exact too.
  if (rest >= 0x0F800000u) {
    return FloatOfBits(sign | 0x70000000u | rest | (rest > 0x0F800000u ? 0x00400000u : 0u));
  }
  return FloatOfBits(sign | 0u) + FloatOfBits(sign | rest) * 0x1p112f;
#endif
}

void DecodeF32(const std::byte* data, std::int64_t n, float* out) {
  __builtin_memcpy(out, data, static_cast<std::size_t>(n) * 4);
}

void DecodeF16(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  std::int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    __m256i h;
    __builtin_memcpy(&h, p + 2 * i, 32);
    Store(out + i, _mm512_cvtph_ps(h));
  }
#elif defined(__AVX2__)
  for (; i + 8 <= n; i += 8) {
    __m128i h;
    __builtin_memcpy(&h, p + 2 * i, 16);
    Store(out + i, _mm256_cvtph_ps(h));
  }
#endif
  for (; i < n; ++i) out[i] = Half(p + 2 * i);
}

void DecodeBF16(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = FloatOfBits(static_cast<std::uint32_t>(U16(p + 2 * i)) << 16);
  }
}

// Sixteen bytes at once. Quants are small enough to be signed.
typedef std::uint8_t Bytes __attribute__((vector_size(16)));
typedef std::int8_t Quants __attribute__((vector_size(16)));

inline Bytes LoadBytes(const Byte* p) {
  Bytes v;
  __builtin_memcpy(&v, p, 16);
  return v;
}
inline Quants Low(Bytes v) { return reinterpret_cast<Quants>(v & 15); }
inline Quants High(Bytes v) { return reinterpret_cast<Quants>(v >> 4); }

// The `part`th VecF of the 16 quants.
inline VecF Widen(Quants q, int part) {
#if defined(__AVX512F__)
  static_cast<void>(part);
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(reinterpret_cast<__m128i>(q)));
#elif defined(__AVX2__)
  __m128i bytes = reinterpret_cast<__m128i>(q);
  if (part == 1) bytes = _mm_unpackhi_epi64(bytes, bytes);
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
#else
  VecF v;
  for (int l = 0; l < kLanes; ++l) v[l] = static_cast<float>(q[part * kLanes + l]);
  return v;
#endif
}

// out = scale * q, or scale * q + offset
inline void Emit(Quants q, float scale, float* out) {
  for (int part = 0; part < 16 / kLanes; ++part) {
    Store(out + part * kLanes, Set(scale) * Widen(q, part));
  }
}
inline void Emit(Quants q, float scale, float offset, float* out) {
  for (int part = 0; part < 16 / kLanes; ++part) {
    Store(out + part * kLanes, Set(scale) * Widen(q, part) + Set(offset));
  }
}

// The sixteen bits of bytes kFirst and kFirst + 1, each spread to a byte: 16 where set, else 0.
template <int kFirst>
inline Quants FifthBits(Bytes v) {
  constexpr int a = kFirst;
  constexpr int b = kFirst + 1;
  const Bytes spread =
      __builtin_shufflevector(v, v, a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b);
  const Bytes mask{1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  return reinterpret_cast<Quants>((spread & mask) == mask) & 16;
}

void DecodeQ8_0(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 32, p += 34, out += 32) {
    const float d = Half(p);
    Emit(reinterpret_cast<Quants>(LoadBytes(p + 2)), d, out);
    Emit(reinterpret_cast<Quants>(LoadBytes(p + 18)), d, out + 16);
  }
}

void DecodeQ4_0(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 32, p += 18, out += 32) {
    const float d = Half(p);
    const Bytes q = LoadBytes(p + 2);
    Emit(Low(q) - 8, d, out);
    Emit(High(q) - 8, d, out + 16);
  }
}

void DecodeQ4_1(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 32, p += 20, out += 32) {
    const float d = Half(p);
    const float m = Half(p + 2);
    const Bytes q = LoadBytes(p + 4);
    Emit(Low(q), d, m, out);
    Emit(High(q), d, m, out + 16);
  }
}

void DecodeQ5_0(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 32, p += 22, out += 32) {
    const float d = Half(p);
    const Bytes q = LoadBytes(p + 6);
    const Bytes fifth = LoadBytes(p + 2);
    Emit((Low(q) | FifthBits<0>(fifth)) - 16, d, out);
    Emit((High(q) | FifthBits<2>(fifth)) - 16, d, out + 16);
  }
}

void DecodeQ5_1(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 32, p += 24, out += 32) {
    const float d = Half(p);
    const float m = Half(p + 2);
    const Bytes q = LoadBytes(p + 8);
    const Bytes fifth = LoadBytes(p + 4);
    Emit(Low(q) | FifthBits<0>(fifth), d, m, out);
    Emit(High(q) | FifthBits<2>(fifth), d, m, out + 16);
  }
}

// K-quants: 256 elements in 16 groups of 16. Unrolled, so that every shift is a constant. Group g
// of Q2_K and Q3_K has its two low bits at shift g % 8 / 2 * 2 of the bytes at 32 * (g / 8) + 16 *
// (g % 2).
inline Quants TwoBits(const Byte* qs, int group) {
  const Bytes q = LoadBytes(qs + group / 8 * 32 + group % 2 * 16);
  return reinterpret_cast<Quants>(q >> (group % 8 / 2 * 2) & 3);
}

void DecodeQ2_K(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 256, p += 84, out += 256) {
    const float d = Half(p + 80);
    const float least = Half(p + 82);
#pragma GCC unroll 16
    for (int group = 0; group < 16; ++group) {
      const float scale = d * static_cast<float>(p[group] & 15);
      const float offset = least * static_cast<float>(p[group] >> 4);
      Emit(TwoBits(p + 16, group), scale, -offset, out + group * 16);
    }
  }
}

void DecodeQ3_K(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 256, p += 110, out += 256) {
    const float d = Half(p + 108);
    const Byte* packed = p + 96;
#pragma GCC unroll 16
    for (int group = 0; group < 16; ++group) {
      const int low = group < 8 ? packed[group] & 15 : packed[group - 8] >> 4;
      const int two = (packed[8 + group % 4] >> (2 * (group / 4))) & 3;
      const float scale = d * static_cast<float>((low | two << 4) - 32);
      const Bytes third = (LoadBytes(p + group % 2 * 16) >> (group / 2)) & 1;
      const Quants q = TwoBits(p + 32, group) + reinterpret_cast<Quants>(third << 2) - 4;
      Emit(q, scale, out + group * 16);
    }
  }
}

// The 6-bit scale and least of sub-block j (32 elements) of a Q4_K or Q5_K block.
inline void ScaleAndLeast(const Byte* s, int j, float* scale, float* least) {
  if (j < 4) {
    *scale = static_cast<float>(s[j] & 63);
    *least = static_cast<float>(s[j + 4] & 63);
  } else {
    *scale = static_cast<float>((s[j + 4] & 15) | (s[j - 4] >> 6) << 4);
    *least = static_cast<float>((s[j + 4] >> 4) | (s[j] >> 6) << 4);
  }
}

void DecodeQ4_K(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 256, p += 144, out += 256) {
    const float d = Half(p);
    const float dmin = Half(p + 2);
#pragma GCC unroll 8
    for (int sub = 0; sub < 8; ++sub) {
      float scale;
      float least;
      ScaleAndLeast(p + 4, sub, &scale, &least);
      for (int half = 0; half < 2; ++half) {
        const Bytes q = LoadBytes(p + 16 + sub / 2 * 32 + half * 16);
        Emit(sub % 2 == 0 ? Low(q) : High(q), d * scale, -(dmin * least),
             out + sub * 32 + half * 16);
      }
    }
  }
}

void DecodeQ5_K(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 256, p += 176, out += 256) {
    const float d = Half(p);
    const float dmin = Half(p + 2);
#pragma GCC unroll 8
    for (int sub = 0; sub < 8; ++sub) {
      float scale;
      float least;
      ScaleAndLeast(p + 4, sub, &scale, &least);
      for (int half = 0; half < 2; ++half) {
        const Bytes q = LoadBytes(p + 48 + sub / 2 * 32 + half * 16);
        const Bytes fifth = ((LoadBytes(p + 16 + half * 16) >> sub) & 1) << 4;
        Emit((sub % 2 == 0 ? Low(q) : High(q)) | reinterpret_cast<Quants>(fifth), d * scale,
             -(dmin * least), out + sub * 32 + half * 16);
      }
    }
  }
}

void DecodeQ6_K(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 256, p += 210, out += 256) {
    const float d = Half(p + 208);
#pragma GCC unroll 16
    for (int group = 0; group < 16; ++group) {
      const int half = group / 8;
      const int part = group % 8 / 2;  // which of the four 32s of a half
      const Bytes low = LoadBytes(p + half * 64 + part % 2 * 32 + group % 2 * 16);
      const Bytes high = LoadBytes(p + 128 + half * 32 + group % 2 * 16);
      const Bytes top = (high >> (part * 2) & 3) << 4;
      const Quants q = (part < 2 ? Low(low) : High(low)) | reinterpret_cast<Quants>(top);
      const float scale = d * static_cast<float>(static_cast<signed char>(p[192 + group]));
      Emit(q - 32, scale, out + group * 16);
    }
  }
}
