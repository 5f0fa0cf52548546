// The table of the functions above. Private to the kernels_*.cc files.

template <typename X>
constexpr QuantKernels QuantTable() {
  return {.quantize = QuantizeRow<X>,
          .dots = {{QuantDots<4, 16, X>, QuantDots<4, 32, X>},
                   {QuantDots<8, 16, X>, QuantDots<8, 32, X>}}};
}

constexpr CpuKernels Table() {
  return CpuKernels {
    .lanes = kLanes,
    .decode = {DecodeF32,  DecodeF16,  DecodeBF16, DecodeQ8_0, DecodeQ4_0, DecodeQ4_1, DecodeQ5_0,
               DecodeQ5_1, DecodeQ2_K, DecodeQ3_K, DecodeQ4_K, DecodeQ5_K, DecodeQ6_K},
    .dots = Dots, .quant16 = QuantTable<std::int16_t>(),
#if defined(__AVX512VNNI__)
    .quant8 = QuantTable<std::int8_t>(),
#endif
    .expand_scales = ExpandScales, .attention = Attend, .rms_norm = RmsNormRow,
    .gated_silu = GatedSilu, .gated_gelu_tanh = GatedGeluTanh, .add = AddRows, .scale = ScaleRow,
    .log_sum_exp = LogSumExpRow, .soft_cap = SoftCapRow, .exp = ExpRow,
  };
}
