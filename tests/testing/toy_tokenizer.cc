#include "tests/testing/toy_tokenizer.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace adjudge::testing {
namespace {

constexpr std::string_view kTemplate =
    "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}";

std::vector<Vocabulary::Entry> Entries() {
  std::vector<Vocabulary::Entry> entries;
  const auto add = [&](std::string bytes, TokenKind kind = TokenKind::kNormal) {
    entries.push_back({.bytes = std::move(bytes), .kind = kind});
  };
  for (int i = 0; i < 256; ++i) add(std::string(1, static_cast<char>(i)), TokenKind::kByte);
  for (char c = 'A'; c <= 'Z'; ++c) add({' ', c});
  for (char c = 'A'; c <= 'C'; ++c) add({' ', 'A', c});
  for (char c = '0'; c <= '9'; ++c) add({' ', c});
  for (const char* word : {" Yes", " No", "Answer", "Question", " option", " the", " with", "re"}) {
    add(word);
  }
  for (const char* name : {"<|start|>", "<|end|>", "<|bos|>"}) add(name, TokenKind::kControl);
  return entries;
}

class ToyTokenizer final : public Tokenizer {
 public:
  explicit ToyTokenizer(const ToyTokenizerOptions& options) : options_(options) {
    std::vector<Vocabulary::Entry> entries = Entries();
    start_ = static_cast<TokenId>(entries.size()) - 3;
    for (TokenId id = 256; id < start_; ++id) longer_.push_back(id);
    std::vector<TokenId> stops;
    if (options.stops) stops.push_back(start_ + 1);
    for (const char* name :
         {"<|fim_prefix|>", "<|fim_middle|>", "<|box_start|>", "<|box_end|>", "<|fim_suffix|>"}) {
      if (options.markers) entries.push_back({.bytes = name, .kind = TokenKind::kControl});
    }
    end_ = static_cast<TokenId>(entries.size());
    vocabulary_ = Vocabulary(std::move(entries), end_, std::move(stops));
    std::stable_sort(longer_.begin(), longer_.end(), [&](TokenId a, TokenId b) {
      return vocabulary_.bytes(a).size() > vocabulary_.bytes(b).size();
    });
    if (options.chat) template_ = std::string(kTemplate);
  }

  const Vocabulary& vocabulary() const override { return vocabulary_; }
  bool adds_dummy_prefix() const override { return false; }
  std::optional<TokenId> bos() const override { return start_ + 2; }
  std::optional<TokenId> eos() const override { return start_ + 1; }
  bool wants_bos() const override { return options_.wants_bos; }
  const std::optional<std::string>& chat_template() const override { return template_; }
  std::string_view kind() const override { return "toy"; }

  std::optional<TokenId> FindSpecial(std::string_view name) const override {
    for (TokenId id = start_; id < end_; ++id) {
      if (vocabulary_.bytes(id) == name) return id;
    }
    return std::nullopt;
  }

 protected:
  Status EncodeValid(std::string_view text, std::span<const Special> controls,
                     const EncodeOptions& /*options*/, std::vector<TokenId>& ids) const override {
    std::size_t at = 0;
    for (const Special& control : controls) {
      EncodePlain(text.substr(at, control.begin - at), ids);
      ids.push_back(control.id);
      at = control.end;
    }
    EncodePlain(text.substr(at), ids);
    return {};
  }

  std::vector<Special> FindControls(std::string_view text,
                                    std::span<const TextRange> trusted) const override {
    std::vector<Special> found;
    for (const TextRange& range : trusted) {
      for (std::size_t at = range.begin; at < range.end; ++at) {
        for (TokenId id = start_; id < end_; ++id) {
          const std::string_view name = vocabulary_.bytes(id);
          if (at + name.size() > range.end || text.substr(at, name.size()) != name) continue;
          found.push_back({.begin = at, .end = at + name.size(), .id = id});
        }
      }
    }
    return found;
  }

 private:
  void EncodePlain(std::string_view text, std::vector<TokenId>& ids) const {
    while (!text.empty()) {
      TokenId id = static_cast<unsigned char>(text[0]);
      for (const TokenId longer : longer_) {
        const std::string_view bytes = vocabulary_.bytes(longer);
        if (text.substr(0, bytes.size()) == bytes) {
          id = longer;
          break;
        }
      }
      ids.push_back(id);
      text.remove_prefix(vocabulary_.bytes(id).size());
    }
  }

  ToyTokenizerOptions options_;
  Vocabulary vocabulary_;
  std::vector<TokenId> longer_;
  TokenId start_ = 0;  // of the control tokens
  TokenId end_ = 0;
  std::optional<std::string> template_;
};

}  // namespace

std::shared_ptr<const Tokenizer> MakeToyTokenizer(const ToyTokenizerOptions& options) {
  return std::make_shared<ToyTokenizer>(options);
}

int ToyVocabularySize() { return static_cast<int>(Entries().size()); }

}  // namespace adjudge::testing
