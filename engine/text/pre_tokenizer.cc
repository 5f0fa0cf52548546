#include "engine/text/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <string>
#include <utility>

namespace adjudge {
namespace {

// Unicode's White_Space, which is what \s means to the tokenizers that these patterns come from;
// PCRE2's \s takes in U+180E too.
#define SPACE                                                         \
  "\\t-\\r\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}" \
  "\\x{2029}\\x{202F}\\x{205F}\\x{3000}"

constexpr const char* kGpt2Pattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SPACE
                                     "\\p{L}\\p{N}]+|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+";

// Digits are cut out before GPT-2's pattern sees the rest, so that white space before a digit ends
// its stretch of text.
constexpr const char* kSmollmPattern =
    "\\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?[^" SPACE "\\p{L}\\p{N}]+|[" SPACE "]+(?![^" SPACE
    "\\p{N}])|[" SPACE "]+";

constexpr const char* kLlama3Pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^" SPACE
    "\\p{L}\\p{N}]+[\\r\\n]*|[" SPACE "]*[\\r\\n]+|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+";

constexpr const char* kQwen2Pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^" SPACE
    "\\p{L}\\p{N}]+[\\r\\n]*|[" SPACE "]*[\\r\\n]+|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+";

#undef SPACE

const char* PatternOf(PreTokenizerKind kind) {
  switch (kind) {
    case PreTokenizerKind::kNone:
      return nullptr;
    case PreTokenizerKind::kGpt2:
      return kGpt2Pattern;
    case PreTokenizerKind::kSmollm:
      return kSmollmPattern;
    case PreTokenizerKind::kLlama3:
      return kLlama3Pattern;
    case PreTokenizerKind::kQwen2:
      return kQwen2Pattern;
  }
  return nullptr;
}

struct MatchDataDeleter {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

std::string_view ToString(PreTokenizerKind kind) {
  switch (kind) {
    case PreTokenizerKind::kNone:
      return "none";
    case PreTokenizerKind::kGpt2:
      return "gpt-2";
    case PreTokenizerKind::kSmollm:
      return "smollm";
    case PreTokenizerKind::kLlama3:
      return "llama-bpe";
    case PreTokenizerKind::kQwen2:
      return "qwen2";
  }
  return "none";
}

std::optional<PreTokenizerKind> PreTokenizerFromGguf(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, PreTokenizerKind>, 13> kNames = {{
      {"gpt-2", PreTokenizerKind::kGpt2},
      {"gpt2", PreTokenizerKind::kGpt2},
      {"default", PreTokenizerKind::kGpt2},
      {"phi-2", PreTokenizerKind::kGpt2},
      {"smollm", PreTokenizerKind::kSmollm},
      {"starcoder", PreTokenizerKind::kSmollm},
      {"llama-bpe", PreTokenizerKind::kLlama3},
      {"llama3", PreTokenizerKind::kLlama3},
      {"llama-v3", PreTokenizerKind::kLlama3},
      {"falcon3", PreTokenizerKind::kLlama3},
      {"qwen2", PreTokenizerKind::kQwen2},
      {"qwen3", PreTokenizerKind::kQwen2},
      {"deepseek-r1-qwen", PreTokenizerKind::kQwen2},
  }};
  for (const auto& [known, kind] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

std::optional<PreTokenizerKind> PreTokenizerFromPattern(std::string_view pattern) {
  if (pattern == R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)") {
    return PreTokenizerKind::kGpt2;
  }
  if (pattern ==
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)") {
    return PreTokenizerKind::kLlama3;
  }
  if (pattern ==
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)") {
    return PreTokenizerKind::kQwen2;
  }
  return std::nullopt;
}

struct PreTokenizer::Code {
  pcre2_code* code = nullptr;
  ~Code() { pcre2_code_free(code); }
};

PreTokenizer::PreTokenizer(PreTokenizerKind kind, std::unique_ptr<Code> code)
    : kind_(kind), code_(std::move(code)) {}
PreTokenizer::~PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;

Result<PreTokenizer> PreTokenizer::Make(PreTokenizerKind kind) {
  auto code = std::make_unique<Code>();
  if (const char* pattern = PatternOf(kind)) {
    int error = 0;
    PCRE2_SIZE at = 0;
    // Anchored: a word begins where the last one ended. Every pattern takes any character.
    code->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED,
                               PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &at, nullptr);
    if (code->code == nullptr) {
      return Fail(
          ErrorCode::kUnsupported,
          "the regular expression library refuses the pattern of " + std::string(ToString(kind)),
          "byte " + std::to_string(at));
    }
    // Where the system forbids it the interpreter is used, with the same results.
    pcre2_jit_compile(code->code, PCRE2_JIT_COMPLETE);
  }
  return PreTokenizer(kind, std::move(code));
}

Status PreTokenizer::Split(std::string_view text, std::vector<std::size_t>& ends) const {
  ends.clear();
  if (text.empty()) return {};
  if (code_->code == nullptr) {
    ends.push_back(text.size());
    return {};
  }
  const std::unique_ptr<pcre2_match_data, MatchDataDeleter> match(
      pcre2_match_data_create(1, nullptr));
  const PCRE2_SIZE* found = pcre2_get_ovector_pointer(match.get());
  for (std::size_t i = 0; i < text.size(); i = found[1]) {
    const int rc = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                               i, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (rc < 1 || found[1] <= i) {
      return Fail(ErrorCode::kLimit,
                  "the regular expression library could not cut the text into words (code " +
                      std::to_string(rc) + ")",
                  "byte " + std::to_string(i));
    }
    ends.push_back(found[1]);
  }
  return {};
}

}  // namespace adjudge
