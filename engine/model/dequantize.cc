#include "engine/model/dequantize.h"

#include <bit>
#include <cstring>
#include <iterator>

#include "engine/base/check.h"

namespace adjudge {
namespace {

struct TypeTraits {
  TensorType type;
  std::uint32_t gguf_id;
  std::string_view name;
  int elements;
  int bytes;
};

// In the order of TensorType.
constexpr TypeTraits kTraits[] = {
    {TensorType::kF32, 0, "F32", 1, 4},        {TensorType::kF16, 1, "F16", 1, 2},
    {TensorType::kBF16, 30, "BF16", 1, 2},     {TensorType::kQ8_0, 8, "Q8_0", 32, 34},
    {TensorType::kQ4_0, 2, "Q4_0", 32, 18},    {TensorType::kQ4_1, 3, "Q4_1", 32, 20},
    {TensorType::kQ5_0, 6, "Q5_0", 32, 22},    {TensorType::kQ5_1, 7, "Q5_1", 32, 24},
    {TensorType::kQ2_K, 10, "Q2_K", 256, 84},  {TensorType::kQ3_K, 11, "Q3_K", 256, 110},
    {TensorType::kQ4_K, 12, "Q4_K", 256, 144}, {TensorType::kQ5_K, 13, "Q5_K", 256, 176},
    {TensorType::kQ6_K, 14, "Q6_K", 256, 210},
};

// GGUF's other types by number, so that a refusal can name them.
struct OtherType {
  std::uint32_t gguf_id;
  std::string_view name;
};
constexpr OtherType kOtherTypes[] = {
    {9, "Q8_1"},   {15, "Q8_K"},   {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"},
    {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"},   {22, "IQ2_S"},  {23, "IQ4_XS"},
    {24, "I8"},    {25, "I16"},    {26, "I32"},     {27, "I64"},    {28, "F64"},
    {29, "IQ1_M"}, {34, "TQ1_0"},  {35, "TQ2_0"},   {39, "MXFP4"},
};

const TypeTraits& Traits(TensorType type) {
  const auto index = static_cast<std::size_t>(type);
  ADJUDGE_CHECK(index < std::size(kTraits));
  return kTraits[index];
}

// The bytes of a block, as unsigned numbers.
using Bytes = const std::uint8_t*;

float Half(Bytes at) {
  std::uint16_t half;
  std::memcpy(&half, at, sizeof half);
  return HalfToFloat(half);
}

float Signed(std::uint8_t byte) { return static_cast<float>(static_cast<std::int8_t>(byte)); }

void F32(Bytes data, std::int64_t n, float* out) {
  std::memcpy(out, data, static_cast<std::size_t>(n) * sizeof(float));
}

void F16(Bytes data, std::int64_t n, float* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = Half(data + 2 * i);
}

void BF16(Bytes data, std::int64_t n, float* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, data + 2 * i, sizeof bits);
    out[i] = BFloat16ToFloat(bits);
  }
}

// Calls decode(block, out) for each block of the type.
template <TensorType kType, typename Decode>
void EachBlock(Bytes data, std::int64_t n, float* out, Decode decode) {
  constexpr TypeTraits kT = kTraits[static_cast<std::size_t>(kType)];
  for (std::int64_t i = 0; i < n; i += kT.elements, data += kT.bytes, out += kT.elements) {
    decode(data, out);
  }
}

void DecodeQ8_0(Bytes block, float* out) {
  const float d = Half(block);
  for (int i = 0; i < 32; ++i) out[i] = Signed(block[2 + i]) * d;
}

// Low nibbles are the first half of the block, high nibbles the second.
void DecodeQ4_0(Bytes block, float* out) {
  const float d = Half(block);
  const Bytes q = block + 2;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((q[i] & 15) - 8);
    out[i + 16] = d * static_cast<float>((q[i] >> 4) - 8);
  }
}

void DecodeQ4_1(Bytes block, float* out) {
  const float d = Half(block);
  const float m = Half(block + 2);
  const Bytes q = block + 4;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(q[i] & 15) + m;
    out[i + 16] = d * static_cast<float>(q[i] >> 4) + m;
  }
}

// Bit i of `high` is the fifth bit of element i.
void DecodeQ5(Bytes high_bits, Bytes q, int out_of[32]) {
  std::uint32_t high;
  std::memcpy(&high, high_bits, sizeof high);
  for (unsigned i = 0; i < 16; ++i) {
    out_of[i] = (q[i] & 15) | static_cast<int>(((high >> i) & 1) << 4);
    out_of[i + 16] = (q[i] >> 4) | static_cast<int>(((high >> (i + 16)) & 1) << 4);
  }
}

void DecodeQ5_0(Bytes block, float* out) {
  const float d = Half(block);
  int q[32];
  DecodeQ5(block + 2, block + 6, q);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(q[i] - 16);
}

void DecodeQ5_1(Bytes block, float* out) {
  const float d = Half(block);
  const float m = Half(block + 2);
  int q[32];
  DecodeQ5(block + 4, block + 8, q);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(q[i]) + m;
}

// The K formats: 256 elements in sub-blocks with their own small scales.

// Two bits an element: byte i of a half (32 bytes for 128 elements) holds elements i, i + 32,
// i + 64, i + 96.
void DecodeQ2_K(Bytes block, float* out) {
  const Bytes scales = block;
  const Bytes qs = block + 16;
  const float d = Half(block + 80);
  const float dmin = Half(block + 82);
  for (int s = 0; s < 16; ++s) {
    const float scale = d * static_cast<float>(scales[s] & 15);
    const float offset = dmin * static_cast<float>(scales[s] >> 4);
    const Bytes q = qs + s / 8 * 32 + s % 2 * 16;
    const int shift = s % 8 / 2 * 2;
    for (int i = 0; i < 16; ++i) {
      out[16 * s + i] = scale * static_cast<float>((q[i] >> shift) & 3) - offset;
    }
  }
}

// As Q2_K with a third bit in `high`, which stands for -4 when clear; scales are 6 bits in 12
// bytes.
void DecodeQ3_K(Bytes block, float* out) {
  const Bytes high = block;
  const Bytes qs = block + 32;
  const Bytes packed = block + 96;
  const float d = Half(block + 108);
  for (int s = 0; s < 16; ++s) {
    const int low4 = s < 8 ? packed[s] & 15 : packed[s - 8] >> 4;
    const int high2 = (packed[8 + s % 4] >> (s / 4 * 2)) & 3;
    const float scale = d * static_cast<float>((low4 | high2 << 4) - 32);
    const Bytes q = qs + s / 8 * 32 + s % 2 * 16;
    const Bytes h = high + s % 2 * 16;
    const int shift = s % 8 / 2 * 2;
    const int bit = s / 2;
    for (int i = 0; i < 16; ++i) {
      const int value = ((q[i] >> shift) & 3) - (((h[i] >> bit) & 1) ^ 1) * 4;
      out[16 * s + i] = scale * static_cast<float>(value);
    }
  }
}

struct ScaleMin {
  float scale;
  float min;
};

// Scale and minimum, 6 bits each, of sub-block s (0 to 7) in the 12 bytes of Q4_K and Q5_K.
ScaleMin UnpackScaleMin(Bytes packed, int s) {
  if (s < 4) {
    return {static_cast<float>(packed[s] & 63), static_cast<float>(packed[s + 4] & 63)};
  }
  const int both = packed[s + 4];
  return {static_cast<float>((both & 15) | ((packed[s - 4] >> 2) & 48)),
          static_cast<float>((both >> 4) | ((packed[s] >> 2) & 48))};
}

void DecodeQ4_K(Bytes block, float* out) {
  const float d = Half(block);
  const float dmin = Half(block + 2);
  for (int s = 0; s < 8; ++s) {
    const ScaleMin packed = UnpackScaleMin(block + 4, s);
    const float scale = d * packed.scale;
    const float offset = dmin * packed.min;
    const Bytes q = block + 16 + s / 2 * 32;
    const int shift = s % 2 * 4;
    for (int i = 0; i < 32; ++i) {
      out[32 * s + i] = scale * static_cast<float>((q[i] >> shift) & 15) - offset;
    }
  }
}

void DecodeQ5_K(Bytes block, float* out) {
  const float d = Half(block);
  const float dmin = Half(block + 2);
  const Bytes high = block + 16;
  for (int s = 0; s < 8; ++s) {
    const ScaleMin packed = UnpackScaleMin(block + 4, s);
    const float scale = d * packed.scale;
    const float offset = dmin * packed.min;
    const Bytes q = block + 48 + s / 2 * 32;
    const int shift = s % 2 * 4;
    for (int i = 0; i < 32; ++i) {
      const int value = ((q[i] >> shift) & 15) | ((high[i] >> s) & 1) << 4;
      out[32 * s + i] = scale * static_cast<float>(value) - offset;
    }
  }
}

// Each half: 64 bytes of low nibbles, 32 of high pairs, 8 signed scales for 16 elements each.
void DecodeQ6_K(Bytes block, float* out) {
  const float d = Half(block + 208);
  for (int s = 0; s < 16; ++s) {
    const int half = s / 8;
    const int quarter = s % 8 / 2;  // 32 elements each
    const float scale = d * Signed(block[192 + s]);
    const Bytes low = block + half * 64 + quarter % 2 * 32 + s % 2 * 16;
    const Bytes high = block + 128 + half * 32 + s % 2 * 16;
    const int low_shift = quarter / 2 * 4;
    const int high_shift = quarter * 2;
    for (int i = 0; i < 16; ++i) {
      const int value = ((low[i] >> low_shift) & 15) | ((high[i] >> high_shift) & 3) << 4;
      out[16 * s + i] = scale * static_cast<float>(value - 32);
    }
  }
}

}  // namespace

std::string_view ToString(TensorType type) { return Traits(type).name; }

std::optional<TensorType> TensorTypeFromGguf(std::uint32_t id) {
  for (const TypeTraits& traits : kTraits) {
    if (traits.gguf_id == id) return traits.type;
  }
  return std::nullopt;
}

std::uint32_t GgufTypeId(TensorType type) { return Traits(type).gguf_id; }

std::string GgufTypeName(std::uint32_t id) {
  if (const auto type = TensorTypeFromGguf(id)) return std::string(ToString(*type));
  for (const OtherType& other : kOtherTypes) {
    if (other.gguf_id == id) return std::string(other.name);
  }
  return "type " + std::to_string(id);
}

int BlockElements(TensorType type) { return Traits(type).elements; }

int BlockBytes(TensorType type) { return Traits(type).bytes; }

std::int64_t TensorBytes(TensorType type, std::int64_t n) {
  const TypeTraits& traits = Traits(type);
  ADJUDGE_CHECK(n % traits.elements == 0);
  return n / traits.elements * traits.bytes;
}

void Dequantize(TensorType type, const std::byte* data, std::int64_t n, float* out) {
  const auto bytes = reinterpret_cast<Bytes>(data);
  ADJUDGE_CHECK(n % Traits(type).elements == 0);
  switch (type) {
    case TensorType::kF32:
      return F32(bytes, n, out);
    case TensorType::kF16:
      return F16(bytes, n, out);
    case TensorType::kBF16:
      return BF16(bytes, n, out);
    case TensorType::kQ8_0:
      return EachBlock<TensorType::kQ8_0>(bytes, n, out, DecodeQ8_0);
    case TensorType::kQ4_0:
      return EachBlock<TensorType::kQ4_0>(bytes, n, out, DecodeQ4_0);
    case TensorType::kQ4_1:
      return EachBlock<TensorType::kQ4_1>(bytes, n, out, DecodeQ4_1);
    case TensorType::kQ5_0:
      return EachBlock<TensorType::kQ5_0>(bytes, n, out, DecodeQ5_0);
    case TensorType::kQ5_1:
      return EachBlock<TensorType::kQ5_1>(bytes, n, out, DecodeQ5_1);
    case TensorType::kQ2_K:
      return EachBlock<TensorType::kQ2_K>(bytes, n, out, DecodeQ2_K);
    case TensorType::kQ3_K:
      return EachBlock<TensorType::kQ3_K>(bytes, n, out, DecodeQ3_K);
    case TensorType::kQ4_K:
      return EachBlock<TensorType::kQ4_K>(bytes, n, out, DecodeQ4_K);
    case TensorType::kQ5_K:
      return EachBlock<TensorType::kQ5_K>(bytes, n, out, DecodeQ5_K);
    case TensorType::kQ6_K:
      return EachBlock<TensorType::kQ6_K>(bytes, n, out, DecodeQ6_K);
  }
}

namespace {

template <typename Word>
bool NoneHasExponent(Bytes data, std::int64_t n, Word exponent) {
  bool none = true;
  for (std::int64_t i = 0; i < n; ++i) {
    Word word;
    std::memcpy(&word, data + i * static_cast<std::int64_t>(sizeof word), sizeof word);
    none = none && (word & exponent) != exponent;
  }
  return none;
}

// Where the float16 numbers of a block lie.
struct HalvesOfBlock {
  int first;
  int count;
};

HalvesOfBlock HalvesOf(TensorType type) {
  switch (type) {
    case TensorType::kQ8_0:
    case TensorType::kQ4_0:
    case TensorType::kQ5_0:
      return {0, 1};
    case TensorType::kQ2_K:
      return {80, 2};
    case TensorType::kQ3_K:
      return {108, 1};
    case TensorType::kQ6_K:
      return {208, 1};
    default:
      return {0, 2};  // Q4_1, Q5_1, Q4_K, Q5_K
  }
}

}  // namespace

bool AllFinite(TensorType type, const std::byte* data, std::int64_t n) {
  const auto bytes = reinterpret_cast<Bytes>(data);
  switch (type) {
    case TensorType::kF32:
      return NoneHasExponent<std::uint32_t>(bytes, n, 0x7F800000);
    case TensorType::kF16:
      return NoneHasExponent<std::uint16_t>(bytes, n, 0x7C00);
    case TensorType::kBF16:
      return NoneHasExponent<std::uint16_t>(bytes, n, 0x7F80);
    default:
      break;
  }
  const HalvesOfBlock halves = HalvesOf(type);
  for (std::int64_t b = 0; b < n / BlockElements(type); ++b) {
    const Bytes at = bytes + b * BlockBytes(type) + halves.first;
    if (!NoneHasExponent<std::uint16_t>(at, halves.count, 0x7C00)) return false;
  }
  return true;
}

Status CheckFinite(const TensorView& view) {
  const std::int64_t row_bytes = TensorBytes(view.type, view.cols);
  for (std::int64_t row = 0; row < view.rows; ++row) {
    if (AllFinite(view.type, view.data + row * row_bytes, view.cols)) continue;
    return Fail(ErrorCode::kMalformed,
                "row " + std::to_string(row) + " holds a number that is not finite",
                std::string(view.name));
  }
  return {};
}

float HalfToFloat(std::uint16_t half) {
  // Moves exponent and fraction into place and corrects the bias; a subnormal half is made exact by
  // one subtraction of normal floats. No branches, so that loops over it vectorise.
  constexpr std::uint32_t kExponent = 0x7c00U << 13;
  const std::uint32_t shifted = (half & 0x7fffU) << 13;
  const std::uint32_t exponent = shifted & kExponent;
  const std::uint32_t normal = shifted + ((127U - 15U) << 23);
  const std::uint32_t infinite = normal + ((128U - 16U) << 23);
  const float subnormal =
      std::bit_cast<float>(normal + (1U << 23)) - std::bit_cast<float>(113U << 23);
  const std::uint32_t magnitude = exponent == kExponent ? infinite
                                  : exponent == 0       ? std::bit_cast<std::uint32_t>(subnormal)
                                                        : normal;
  return std::bit_cast<float>(magnitude | (half & 0x8000U) << 16);
}

float BFloat16ToFloat(std::uint16_t bf16) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16);
}

std::uint16_t FloatToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace adjudge
