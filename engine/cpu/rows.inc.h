// Operations on single rows and elements. Private to the kernels_*.cc files.

void RmsNormRow(const float* x, const float* gain, float eps, int width, float* out) {
  VecF sum{};
  int i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const VecF v = Load(x + i);
    sum = Fma(v, v, sum);
  }
  if (i < width) {
    const VecF v = LoadPart(x + i, width - i);
    sum = Fma(v, v, sum);
  }
  const float mean = Sum(sum) / static_cast<float>(width);
  const float factor = 1.0f / __builtin_sqrtf(mean + eps);
  const VecF f = Set(factor);
  for (i = 0; i + kLanes <= width; i += kLanes) {
    Store(out + i, Load(x + i) * f * Load(gain + i));
  }
  for (; i < width; ++i) out[i] = x[i] * factor * gain[i];
}

inline VecF Silu(VecF g) { return g / (Set(1.0f) + Exp(-g)); }

// 0.5 g (1 + tanh(u)) = g / (1 + e^(-2u)), u = sqrt(2 / pi) (g + 0.044715 g^3)
inline VecF GeluTanh(VecF g) {
  const VecF u2 = Set(1.5957691216f) * Fma(Set(0.044715f) * g * g, g, g);
  return g / (Set(1.0f) + Exp(-u2));
}

// cap tanh(x / cap), by e^(-2 |x / cap|)
inline VecF Cap(VecF x, float cap) {
  const VecF y = x / Set(cap);
  const VecF magnitude = y < VecF{} ? -y : y;
  const VecF e = Exp(Set(-2.0f) * magnitude);
  const VecF t = Set(cap) * ((Set(1.0f) - e) / (Set(1.0f) + e));
  return y < VecF{} ? -t : t;
}

// out[i] = function(a[i], b[i]), the same lane arithmetic for the last few.
template <typename Function>
inline void Map(const float* a, const float* b, std::int64_t n, float* out, Function function) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(out + i, function(Load(a + i), Load(b + i)));
  if (i < n) {
    const int left = static_cast<int>(n - i);
    StorePart(out + i, function(LoadPart(a + i, left), LoadPart(b + i, left)), left);
  }
}

void GatedSilu(const float* gate, const float* up, int width, float* out) {
  Map(gate, up, width, out, [](VecF g, VecF u) { return Silu(g) * u; });
}

void GatedGeluTanh(const float* gate, const float* up, int width, float* out) {
  Map(gate, up, width, out, [](VecF g, VecF u) { return GeluTanh(g) * u; });
}

void AddRows(float* x, const float* y, std::int64_t n) {
  Map(x, y, n, x, [](VecF a, VecF b) { return a + b; });
}

void ScaleRow(float* x, float factor, std::int64_t n) {
  Map(x, x, n, x, [factor](VecF a, VecF) { return a * Set(factor); });
}

void SoftCapRow(float* x, float cap, std::int64_t n) {
  Map(x, x, n, x, [cap](VecF a, VecF) { return Cap(a, cap); });
}

void ExpRow(const float* x, std::int64_t n, float* out) {
  Map(x, x, n, out, [](VecF a, VecF) { return Exp(a); });
}

// Blocks of 64 vectors are summed in float, their sums in double: 50,000 addends lose nothing.
double LogSumExpRow(const float* x, int n) {
  float greatest = x[0];
  for (int i = 1; i < n; ++i) greatest = x[i] > greatest ? x[i] : greatest;
  // Nothing to shift by: all -inf gives -inf, a +inf gives +inf.
  if (!(greatest - greatest == 0.0f)) return static_cast<double>(greatest);
  const VecF shift = Set(greatest);
  double total = 0;
  for (int block = 0; block < n; block += 64 * kLanes) {
    const int end = n - block < 64 * kLanes ? n : block + 64 * kLanes;
    VecF sum{};
    int i = block;
    for (; i + kLanes <= end; i += kLanes) sum = sum + Exp(Load(x + i) - shift);
    if (i < end) {
      float lanes[kLanes];
      for (int l = 0; l < kLanes; ++l) lanes[l] = l < end - i ? x[i + l] - greatest : -1000.0f;
      sum = sum + Exp(Load(lanes));
    }
    total += static_cast<double>(Sum(sum));
  }
  return static_cast<double>(greatest) + __builtin_log(total);
}
