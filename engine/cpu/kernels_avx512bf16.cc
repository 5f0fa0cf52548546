// The kernels compiled for: avx512bf16. The flags are in CMakeLists.txt.
#if defined(__x86_64__) && !defined(ADJUDGE_SCALAR)
#include <immintrin.h>

#include "engine/cpu/kernels.h"

namespace adjudge {
namespace {

#include "engine/cpu/vec.inc.h"
// vec first: the others are written in its words
#include "engine/cpu/attention.inc.h"
#include "engine/cpu/decode.inc.h"
#include "engine/cpu/matmul.inc.h"
#include "engine/cpu/quant.inc.h"
// the products of integers first
#include "engine/cpu/bf16.inc.h"
#include "engine/cpu/rows.inc.h"
#include "engine/cpu/table.inc.h"

}  // namespace

constinit const CpuKernels kKernelsAvx512Bf16 = Table();

}  // namespace adjudge

#endif
