// Vectors of floats as wide as the instruction set this text is compiled for. Private to the
// kernels_*.cc files; included inside their namespaces.
//
// The compiler's vector types give +, -, *, comparisons and selection; what they lack is here.

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

typedef float VecF __attribute__((vector_size(kLanes * 4)));
typedef std::uint32_t VecU __attribute__((vector_size(kLanes * 4)));
typedef std::int32_t VecI __attribute__((vector_size(kLanes * 4)));
typedef float Quad __attribute__((vector_size(16)));

inline VecF Load(const float* p) {
  VecF v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
inline void Store(float* p, VecF v) { __builtin_memcpy(p, &v, sizeof(v)); }
inline void StoreQuad(float* p, Quad v) { __builtin_memcpy(p, &v, sizeof(v)); }
inline VecF Set(float x) { return x - VecF{}; }
inline VecU Bits(VecF v) { return reinterpret_cast<VecU>(v); }
inline VecF FromBits(VecU v) { return reinterpret_cast<VecF>(v); }
inline VecF Max(VecF a, VecF b) { return a > b ? a : b; }

// a * b + c; one rounding where the machine has it.
inline VecF Fma(VecF a, VecF b, VecF c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}

// The first n < kLanes elements of p, zero behind them.
inline VecF LoadPart(const float* p, int n) {
  VecF v{};
  __builtin_memcpy(&v, p, static_cast<std::size_t>(n) * sizeof(float));
  return v;
}
inline void StorePart(float* p, VecF v, int n) {
  __builtin_memcpy(p, &v, static_cast<std::size_t>(n) * sizeof(float));
}

// The sum of the lanes, in halves.
inline float Sum(VecF v) {
  float lanes[kLanes];
  Store(lanes, v);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

// The same for four vectors at once, to the bit.
inline Quad Sum4(VecF a, VecF b, VecF c, VecF d) {
#if defined(__AVX512F__)
  const __m512 ab = _mm512_shuffle_f32x4(a, b, 0x44) + _mm512_shuffle_f32x4(a, b, 0xEE);
  const __m512 cd = _mm512_shuffle_f32x4(c, d, 0x44) + _mm512_shuffle_f32x4(c, d, 0xEE);
  __m512 s = _mm512_shuffle_f32x4(ab, cd, 0x88) + _mm512_shuffle_f32x4(ab, cd, 0xDD);
  s = s + _mm512_permute_ps(s, 0x4E);
  s = s + _mm512_permute_ps(s, 0xB1);
  const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  return _mm512_castps512_ps128(_mm512_permutexvar_ps(first, s));
#elif defined(__AVX2__)
  const __m256 ab = _mm256_permute2f128_ps(a, b, 0x20) + _mm256_permute2f128_ps(a, b, 0x31);
  const __m256 cd = _mm256_permute2f128_ps(c, d, 0x20) + _mm256_permute2f128_ps(c, d, 0x31);
  __m256 s = _mm256_shuffle_ps(ab, cd, 0x44) + _mm256_shuffle_ps(ab, cd, 0xEE);
  s = _mm256_hadd_ps(s, s);  // [a c a c | b d b d]
  return _mm_unpacklo_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
#else
  return Quad{(a[0] + a[2]) + (a[1] + a[3]), (b[0] + b[2]) + (b[1] + b[3]),
              (c[0] + c[2]) + (c[1] + c[3]), (d[0] + d[2]) + (d[1] + d[3])};
#endif
}

inline float MaxLane(VecF v) {
  float most = v[0];
  for (int i = 1; i < kLanes; ++i) most = v[i] > most ? v[i] : most;
  return most;
}

// e^x: x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial of degree 7 in r (its coefficients fitted
// for single precision, as in the Cephes library), and n added to the exponent.
inline VecF Exp(VecF x) {
  const VecF low = Set(-87.0f);
  const VecF high = Set(88.0f);
  VecF y = x < low ? low : x;
  y = y > high ? high : y;
  const VecF magic = Set(12582912.0f);  // 1.5 * 2^23: the sum's low bits are the rounded integer
  const VecF t = Fma(y, Set(1.44269504f), magic);
  const VecF n = t - magic;
  VecF r = Fma(n, Set(-0.693359375f), y);
  r = Fma(n, Set(2.12194440e-4f), r);
  VecF p = Set(1.9875691500e-4f);
  p = Fma(p, r, Set(1.3981999507e-3f));
  p = Fma(p, r, Set(8.3334519073e-3f));
  p = Fma(p, r, Set(4.1665795894e-2f));
  p = Fma(p, r, Set(1.6666665459e-1f));
  p = Fma(p, r, Set(5.0000001201e-1f));
  p = Fma(p, r * r, r) + Set(1.0f);
  const VecF scaled = FromBits(Bits(p) + (Bits(t) << 23));
  return x < low ? VecF{} : scaled;
}
