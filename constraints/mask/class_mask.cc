#include "constraints/mask/class_mask.h"

#if defined(__x86_64__) && !defined(ADJUDGE_SCALAR)
#include <immintrin.h>
#define ADJUDGE_MASK_X86 1
#endif

namespace adjudge {
namespace {

void FillScalar(const std::uint8_t* signatures, const std::uint8_t* lengths, std::uint8_t refused,
                std::uint8_t room, std::span<std::uint32_t> words, std::size_t from) {
  for (std::size_t w = from; w < words.size(); ++w) {
    std::uint32_t word = 0;
    for (std::size_t bit = 0; bit < 32; ++bit) {
      const std::size_t i = w * 32 + bit;
      const bool in = (signatures[i] & refused) == 0 && lengths[i] <= room;
      word |= static_cast<std::uint32_t>(in) << bit;
    }
    words[w] = word;
  }
}

#ifdef ADJUDGE_MASK_X86
__attribute__((target("avx2"))) void FillAvx2(const std::uint8_t* signatures,
                                              const std::uint8_t* lengths, std::uint8_t refused,
                                              std::uint8_t room, std::span<std::uint32_t> words) {
  const __m256i not_allowed = _mm256_set1_epi8(static_cast<char>(refused));
  const __m256i most = _mm256_set1_epi8(static_cast<char>(room));
  for (std::size_t w = 0; w < words.size(); ++w) {
    const __m256i signature =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(signatures + w * 32));
    const __m256i length = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lengths + w * 32));
    const __m256i inside =
        _mm256_cmpeq_epi8(_mm256_and_si256(signature, not_allowed), _mm256_setzero_si256());
    const __m256i fits = _mm256_cmpeq_epi8(_mm256_min_epu8(length, most), length);
    words[w] = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_and_si256(inside, fits)));
  }
}

__attribute__((target("avx512f,avx512bw"))) void FillAvx512(const std::uint8_t* signatures,
                                                            const std::uint8_t* lengths,
                                                            std::uint8_t refused, std::uint8_t room,
                                                            std::span<std::uint32_t> words) {
  const __m512i not_allowed = _mm512_set1_epi8(static_cast<char>(refused));
  const __m512i most = _mm512_set1_epi8(static_cast<char>(room));
  std::size_t w = 0;
  for (; w + 2 <= words.size(); w += 2) {
    const __m512i signature = _mm512_loadu_si512(signatures + w * 32);
    const __m512i length = _mm512_loadu_si512(lengths + w * 32);
    const __mmask64 bits =
        _mm512_mask_cmple_epu8_mask(_mm512_testn_epi8_mask(signature, not_allowed), length, most);
    words[w] = static_cast<std::uint32_t>(bits);
    words[w + 1] = static_cast<std::uint32_t>(bits >> 32);
  }
  FillScalar(signatures, lengths, refused, room, words, w);
}
#endif

}  // namespace

MaskIsa BestMaskIsa() {
#ifdef ADJUDGE_MASK_X86
  if (__builtin_cpu_supports("avx512bw") != 0) return MaskIsa::kAvx512;
  if (__builtin_cpu_supports("avx2") != 0) return MaskIsa::kAvx2;
#endif
  return MaskIsa::kScalar;
}

void FillClassMask(MaskIsa isa, const std::uint8_t* signatures, const std::uint8_t* lengths,
                   std::uint8_t refused, std::uint8_t room, std::span<std::uint32_t> words) {
#ifdef ADJUDGE_MASK_X86
  if (isa == MaskIsa::kAvx512) return FillAvx512(signatures, lengths, refused, room, words);
  if (isa == MaskIsa::kAvx2) return FillAvx2(signatures, lengths, refused, room, words);
#else
  static_cast<void>(isa);
#endif
  FillScalar(signatures, lengths, refused, room, words, 0);
}

}  // namespace adjudge
