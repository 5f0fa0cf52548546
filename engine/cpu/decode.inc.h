// Block formats -> floats, equal to engine/model/dequantize.h to the bit. Private to the
// kernels_*.cc files. The loops have fixed counts and no branches, so that compilers vectorise
// them.

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

void DecodeQ8_0(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 32, p += 34, out += 32) {
    const float d = Half(p);
    for (int j = 0; j < 32; ++j)
      out[j] = d * static_cast<float>(static_cast<signed char>(p[2 + j]));
  }
}

void DecodeQ4_0(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 32, p += 18, out += 32) {
    const float d = Half(p);
    for (int j = 0; j < 16; ++j) out[j] = d * static_cast<float>((p[2 + j] & 15) - 8);
    for (int j = 0; j < 16; ++j) out[16 + j] = d * static_cast<float>((p[2 + j] >> 4) - 8);
  }
}

void DecodeQ4_1(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 32, p += 20, out += 32) {
    const float d = Half(p);
    const float m = Half(p + 2);
    for (int j = 0; j < 16; ++j) out[j] = d * static_cast<float>(p[4 + j] & 15) + m;
    for (int j = 0; j < 16; ++j) out[16 + j] = d * static_cast<float>(p[4 + j] >> 4) + m;
  }
}

// The fifth bits of a block, spread to one byte (0 or 16) an element.
inline void SpreadHighBits(const Byte* p, Byte* high) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, p, 4);
  for (int j = 0; j < 32; ++j) high[j] = static_cast<Byte>(((bits >> j) & 1u) << 4);
}

void DecodeQ5_0(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  Byte high[32];
  for (std::int64_t i = 0; i < n; i += 32, p += 22, out += 32) {
    const float d = Half(p);
    SpreadHighBits(p + 2, high);
    for (int j = 0; j < 16; ++j) {
      out[j] = d * static_cast<float>(((p[6 + j] & 15) | high[j]) - 16);
    }
    for (int j = 0; j < 16; ++j) {
      out[16 + j] = d * static_cast<float>(((p[6 + j] >> 4) | high[16 + j]) - 16);
    }
  }
}

void DecodeQ5_1(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  Byte high[32];
  for (std::int64_t i = 0; i < n; i += 32, p += 24, out += 32) {
    const float d = Half(p);
    const float m = Half(p + 2);
    SpreadHighBits(p + 4, high);
    for (int j = 0; j < 16; ++j) {
      out[j] = d * static_cast<float>((p[8 + j] & 15) | high[j]) + m;
    }
    for (int j = 0; j < 16; ++j) {
      out[16 + j] = d * static_cast<float>((p[8 + j] >> 4) | high[16 + j]) + m;
    }
  }
}

void DecodeQ2_K(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 256, p += 84, out += 256) {
    const float d = Half(p + 80);
    const float least = Half(p + 82);
    for (int group = 0; group < 16; ++group) {  // of 16 elements
      const Byte* q = p + 16 + group / 8 * 32 + group % 2 * 16;
      const int shift = group % 8 / 2 * 2;
      const float scale = d * static_cast<float>(p[group] & 15);
      const float offset = least * static_cast<float>(p[group] >> 4);
      float* o = out + group * 16;
      for (int j = 0; j < 16; ++j) o[j] = scale * static_cast<float>((q[j] >> shift) & 3) - offset;
    }
  }
}

void DecodeQ3_K(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 256, p += 110, out += 256) {
    const float d = Half(p + 108);
    const Byte* packed = p + 96;
    for (int group = 0; group < 16; ++group) {
      const int low = group < 8 ? packed[group] & 15 : packed[group - 8] >> 4;
      const int two = (packed[8 + group % 4] >> (2 * (group / 4))) & 3;
      const float scale = d * static_cast<float>((low | two << 4) - 32);
      const Byte* q = p + 32 + group / 8 * 32 + group % 2 * 16;
      const Byte* mask = p + group % 2 * 16;
      const int shift = group % 8 / 2 * 2;
      const int bit = group / 2;
      float* o = out + group * 16;
      for (int j = 0; j < 16; ++j) {
        const int value = ((q[j] >> shift) & 3) + 4 * ((mask[j] >> bit) & 1) - 4;
        o[j] = scale * static_cast<float>(value);
      }
    }
  }
}

// The 6-bit scale and least of sub-block j of a Q4_K or Q5_K block.
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
    for (int sub = 0; sub < 8; ++sub) {
      float scale;
      float least;
      ScaleAndLeast(p + 4, sub, &scale, &least);
      const float factor = d * scale;
      const float offset = dmin * least;
      const Byte* q = p + 16 + sub / 2 * 32;
      const int shift = sub % 2 * 4;
      float* o = out + sub * 32;
      for (int j = 0; j < 32; ++j)
        o[j] = factor * static_cast<float>((q[j] >> shift) & 15) - offset;
    }
  }
}

void DecodeQ5_K(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 256, p += 176, out += 256) {
    const float d = Half(p);
    const float dmin = Half(p + 2);
    const Byte* high = p + 16;
    for (int sub = 0; sub < 8; ++sub) {
      float scale;
      float least;
      ScaleAndLeast(p + 4, sub, &scale, &least);
      const float factor = d * scale;
      const float offset = dmin * least;
      const Byte* q = p + 48 + sub / 2 * 32;
      const int shift = sub % 2 * 4;
      float* o = out + sub * 32;
      for (int j = 0; j < 32; ++j) {
        const int value = ((q[j] >> shift) & 15) | ((high[j] >> sub) & 1) << 4;
        o[j] = factor * static_cast<float>(value) - offset;
      }
    }
  }
}

void DecodeQ6_K(const std::byte* data, std::int64_t n, float* out) {
  const Byte* p = reinterpret_cast<const Byte*>(data);
  for (std::int64_t i = 0; i < n; i += 256, p += 210, out += 256) {
    const float d = Half(p + 208);
    for (int group = 0; group < 16; ++group) {  // of 16 elements
      const int half = group / 8;
      const int part = group % 8 / 2;  // which of the four 32s of a half
      const Byte* low = p + half * 64 + part % 2 * 32 + group % 2 * 16;
      const Byte* high = p + 128 + half * 32 + group % 2 * 16;
      const int low_shift = part / 2 * 4;
      const int high_shift = part * 2;
      const float scale = d * static_cast<float>(static_cast<signed char>(p[192 + group]));
      float* o = out + group * 16;
      for (int j = 0; j < 16; ++j) {
        const int value = ((low[j] >> low_shift) & 15) | ((high[j] >> high_shift) & 3) << 4;
        o[j] = scale * static_cast<float>(value - 32);
      }
    }
  }
}
