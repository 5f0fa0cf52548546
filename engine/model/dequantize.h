// Block formats of weights: sizes, and the exact float values that they stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/backend.h"

namespace adjudge {

// "Q4_1", as the field spells it.
std::string_view ToString(TensorType type);
// GGUF's numbering; nullopt for a type that adjudge does not read.
std::optional<TensorType> TensorTypeFromGguf(std::uint32_t id);

std::uint32_t GgufTypeId(TensorType type);
// The name of any GGUF tensor type, also of those not read ("IQ2_XXS"); "type N" for an unknown
// number.
std::string GgufTypeName(std::uint32_t id);

// Elements in one block (1 for the plain types), and its bytes.
int BlockElements(TensorType type);
int BlockBytes(TensorType type);
// Bytes of `n` elements. REQUIRES: n is a multiple of BlockElements(type).
std::int64_t TensorBytes(TensorType type, std::int64_t n);

// out[0..n) = the values of n elements at `data` (no alignment needed). Equal to the format's
// definition to the bit, computed in float in the definition's order.
void Dequantize(TensorType type, const std::byte* data, std::int64_t n, float* out);

// Whether all n elements at `data` are finite: of block formats, whether the scales are.
bool AllFinite(TensorType type, const std::byte* data, std::int64_t n);
// Errors: kMalformed, naming the view and its first row with a number that is not finite.
Status CheckFinite(const TensorView& view);

float HalfToFloat(std::uint16_t half);
float BFloat16ToFloat(std::uint16_t bf16);
std::uint16_t FloatToBFloat16(float value);  // to nearest even; NaN stays NaN (quiet)

}  // namespace adjudge
