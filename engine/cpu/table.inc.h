// The table of the functions above. Private to the kernels_*.cc files.

constexpr CpuKernels Table() {
  return CpuKernels{
      .lanes = kLanes,
      .decode = {DecodeF32, DecodeF16, DecodeBF16, DecodeQ8_0, DecodeQ4_0, DecodeQ4_1, DecodeQ5_0,
                 DecodeQ5_1, DecodeQ2_K, DecodeQ3_K, DecodeQ4_K, DecodeQ5_K, DecodeQ6_K},
      .dots = Dots,
      .attention = Attend,
      .rms_norm = RmsNormRow,
      .gated_silu = GatedSilu,
      .gated_gelu_tanh = GatedGeluTanh,
      .add = AddRows,
      .scale = ScaleRow,
      .log_sum_exp = LogSumExpRow,
      .soft_cap = SoftCapRow,
      .exp = ExpRow,
  };
}
