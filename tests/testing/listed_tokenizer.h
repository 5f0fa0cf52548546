// ListedTokenizer: a Tokenizer over a handful of tokens, for tests of what is built on one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/tokenizer.h"

namespace adjudge::testing {

struct ListedToken {
  std::string bytes;
  TokenKind kind = TokenKind::kNormal;
  bool stop = false;
};

struct ListedSettings {
  int padding = 0;  // ids past the tokens
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  bool wants_bos = false;
  bool dummy_prefix = false;
};

// Encodes by the longest token at each place; text that no token begins is an error.
class ListedTokenizer final : public Tokenizer {
 public:
  explicit ListedTokenizer(const std::vector<ListedToken>& tokens,
                           const ListedSettings& settings = {});

  const Vocabulary& vocabulary() const override { return vocabulary_; }
  bool adds_dummy_prefix() const override { return settings_.dummy_prefix; }
  std::optional<TokenId> bos() const override { return settings_.bos; }
  std::optional<TokenId> eos() const override { return settings_.eos; }
  bool wants_bos() const override { return settings_.wants_bos; }
  const std::optional<std::string>& chat_template() const override { return no_template_; }
  std::string_view kind() const override { return "listed"; }
  std::optional<TokenId> FindSpecial(std::string_view name) const override;

 private:
  std::vector<Special> FindControls(std::string_view text,
                                    std::span<const TextRange> trusted) const override;
  Status EncodeValid(std::string_view text, std::span<const Special> controls,
                     const EncodeOptions& options, std::vector<TokenId>& ids) const override;
  // The longest token of the kind that the text begins with, or kNoToken.
  TokenId Longest(std::string_view text, bool control) const;
  Status EncodePlain(std::string_view text, std::vector<TokenId>& ids) const;

  ListedSettings settings_;
  Vocabulary vocabulary_;
  std::optional<std::string> no_template_;
};

}  // namespace adjudge::testing
