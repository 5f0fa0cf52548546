// The table of the functions above. Private to the kernels_*.cc files.

template <int kBits, int kBlock, int kMost, typename X>
constexpr QuantKernel RowKernel() {
  return {.group = 1,
          .element_bytes = static_cast<int>(sizeof(X)),
          .scale_bytes = static_cast<int>(sizeof(QuantScale)),
          .quantize = QuantizeRow<kBits, kBlock, kMost, X>,
          .dots = {QuantDots<kBits, kBlock, false, X>, QuantDots<kBits, kBlock, true, X>}};
}

template <int kMost4, int kMost8, typename X4, typename X8>
constexpr QuantKernels RowKernels() {
  return {.of = {{RowKernel<4, 16, kMost4, X4>(), RowKernel<4, 32, kMost4, X4>()},
                 {RowKernel<8, 16, kMost8, X8>(), RowKernel<8, 32, kMost8, X8>()}}};
}

constexpr QuantKernels ByteKernels() {
  if constexpr (kHasDotBytes) return RowKernels<127, 127, std::int8_t, std::int8_t>();
  return {};
}

constexpr QuantKernels WideKernels() {
  if constexpr (kHasDotBytes) return RowKernels<2047, 32767, Twelve, std::int16_t>();
  return RowKernels<2047, 32767, std::int16_t, std::int16_t>();
}

constexpr CpuKernels Table() {
  return CpuKernels {
    .lanes = kLanes,
    .decode = {DecodeF32,  DecodeF16,  DecodeBF16, DecodeQ8_0, DecodeQ4_0, DecodeQ4_1, DecodeQ5_0,
               DecodeQ5_1, DecodeQ2_K, DecodeQ3_K, DecodeQ4_K, DecodeQ5_K, DecodeQ6_K},
    .dots = Dots, .wide = WideKernels(), .bytes = ByteKernels(),
#if defined(__AMX_INT8__)
    .wide_many = MatrixKernels<MatrixForm::kTwelve, MatrixForm::kSixteen>(),
    .bytes_many = MatrixKernels<MatrixForm::kEight, MatrixForm::kEight>(),
    .bf16 = {{StageBf16Rows<1>, MatrixRows<1>}, {StageBf16Rows<2>, MatrixRows<2>}},
#elif defined(__AVX512BF16__)
    .bf16 = {{StageBf16Rows<1>, Bf16Rows<1>}, {StageBf16Rows<2>, Bf16Rows<2>}},
#endif
    .expand_halves = ExpandHalves, .expand_bytes = ExpandBytes, .attention = Attend,
#if defined(__AMX_INT8__)
    .attention_many = {AttendMatrix<2, 1>, AttendMatrix<2, 2>},
    .attention_scratch = AttentionScratch,
#endif
    .rms_norm = RmsNormRow, .gated_silu = GatedSilu, .gated_gelu_tanh = GatedGeluTanh,
    .add = AddRows, .scale = ScaleRow, .log_sum_exp = LogSumExpRow, .soft_cap = SoftCapRow,
    .exp = ExpRow,
  };
}
