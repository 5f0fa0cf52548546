// The kernels compiled for: neon with dot products of bytes. The flags are in CMakeLists.txt.
#if defined(__aarch64__) && !defined(ADJUDGE_SCALAR)
#include <arm_neon.h>

#include "engine/cpu/kernels.h"

namespace adjudge {
namespace {

#include "engine/cpu/vec.inc.h"
// vec first: the others are written in its words
#include "engine/cpu/attention.inc.h"
#include "engine/cpu/decode.inc.h"
#include "engine/cpu/matmul.inc.h"
#include "engine/cpu/quant.inc.h"
#include "engine/cpu/rows.inc.h"
#include "engine/cpu/table.inc.h"

}  // namespace

constinit const CpuKernels kKernelsNeon = Table();

}  // namespace adjudge

#endif
