#include "cli/vocabulary_file.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "cli/text_input.h"

namespace adjudge::cli {
namespace {

constexpr std::size_t kMostTokens = 4 << 20;

class ListReader {
 public:
  explicit ListReader(const std::string& bytes) : bytes_(bytes) {}

  Result<Vocabulary> Read() {
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t n, Number("a number of tokens"));
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t end, Number("an end-of-sequence id"));
    if (n == 0 || n > kMostTokens) {
      return Fail(
          ErrorCode::kMalformed,
          "expected 1 to " + std::to_string(kMostTokens) + " tokens, found " + std::to_string(n),
          "byte 0");
    }
    std::vector<Vocabulary::Entry> entries;
    for (std::uint32_t i = 0; i < n; ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t flags, Number("a token's flags"));
      ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t length, Number("a token's length"));
      if (length > bytes_.size() - at_)
        return Short("a token of " + std::to_string(length) + " bytes");
      entries.push_back({bytes_.substr(at_, length),
                         (flags & 1) != 0 ? TokenKind::kControl : TokenKind::kNormal});
      at_ += length;
    }
    if (at_ != bytes_.size()) {
      return Fail(ErrorCode::kMalformed, "expected the end, found more bytes",
                  "byte " + std::to_string(at_));
    }
    std::vector<TokenId> stops;
    if (end < n) stops.push_back(static_cast<TokenId>(end));
    return Vocabulary(std::move(entries), static_cast<int>(n), std::move(stops));
  }

 private:
  tl::unexpected<Error> Short(const std::string& wanted) const {
    return Fail(ErrorCode::kMalformed, "expected " + wanted + ", found the end of the file",
                "byte " + std::to_string(at_));
  }
  Result<std::uint32_t> Number(const char* what) {
    std::uint32_t value = 0;
    if (bytes_.size() - at_ < sizeof(value)) return Short(what);
    std::memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

Outcome<LoadedVocabulary> LoadVocabulary(const std::string& vocab, const ModelArguments& model) {
  LoadedVocabulary loaded;
  if (vocab.empty()) {
    CLI_ASSIGN_OR_RETURN(loaded.tokenizer, LoadTokenizer(model));
  } else if (auto tokenizer = Tokenizer::Load(vocab)) {
    loaded.tokenizer = *std::move(tokenizer);
  } else {
    // Neither kind of tokenizer: the list, whose own fault is the one to tell when it has a list's
    // ending.
    CLI_ASSIGN_OR_RETURN(const std::string bytes, ReadFileOrInput(vocab));
    auto list = ListReader(bytes).Read();
    if (!list && vocab.ends_with(".vocab")) {
      return tl::unexpected<Failure>(Failure(kModel, vocab + ": " + ToString(list.error())));
    }
    if (!list) {
      return tl::unexpected<Failure>(Failure(kModel, vocab + ": " + ToString(tokenizer.error())));
    }
    loaded.vocabulary = std::make_shared<const Vocabulary>(*std::move(list));
    return loaded;
  }
  // The tokenizer owns its vocabulary.
  loaded.vocabulary =
      std::shared_ptr<const Vocabulary>(loaded.tokenizer, &loaded.tokenizer->vocabulary());
  return loaded;
}

}  // namespace adjudge::cli
