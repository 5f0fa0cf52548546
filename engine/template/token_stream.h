// TokenStream: the tokens of a template, one at a time, with one of look-ahead.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/template/budget.h"
#include "engine/template/lexer.h"

namespace adjudge::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  int line() const { return current().line; }
  // Moves on; the last token stays.
  Token Next() {
    Token token = current();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }

  bool Is(Token::Kind kind) const { return current().kind == kind; }
  bool IsOperator(std::string_view op) const {
    return Is(Token::Kind::kOperator) && current().text == op;
  }
  bool IsName(std::string_view name) const {
    return Is(Token::Kind::kName) && current().text == name;
  }
  bool SkipOperator(std::string_view op) {
    const bool is = IsOperator(op);
    if (is) Next();
    return is;
  }
  bool SkipName(std::string_view name) {
    const bool is = IsName(name);
    if (is) Next();
    return is;
  }

  Status ExpectOperator(std::string_view op) {
    if (SkipOperator(op)) return {};
    return Unexpected(Quoted(op));
  }
  Status ExpectKeyword(std::string_view name) {
    if (SkipName(name)) return {};
    return Unexpected(Quoted(name));
  }
  Result<Token> ExpectName() {
    if (!Is(Token::Kind::kName)) return Unexpected("a name");
    return Next();
  }
  Status Expect(Token::Kind kind, const char* what) {
    if (!Is(kind)) return Unexpected(what);
    Next();
    return {};
  }

  tl::unexpected<Error> Bad(std::string message, int line) const {
    return Fail(ErrorCode::kMalformed, "TemplateSyntaxError: " + std::move(message),
                LinePlace(line));
  }
  tl::unexpected<Error> Bad(std::string message) const { return Bad(std::move(message), line()); }
  tl::unexpected<Error> Unexpected(const std::string& expected) const {
    return Bad("expected " + expected + ", got " + Describe());
  }
  // The current token in words.
  std::string Describe() const {
    switch (current().kind) {
      case Token::Kind::kData:
        return "template text";
      case Token::Kind::kVariableBegin:
        return "'{{'";
      case Token::Kind::kVariableEnd:
        return "end of print statement";
      case Token::Kind::kBlockBegin:
        return "'{%'";
      case Token::Kind::kBlockEnd:
        return "end of statement block";
      case Token::Kind::kString:
        return "a string";
      case Token::Kind::kEnd:
        return "end of template";
      default:
        return Quoted(current().text.substr(0, 40));
    }
  }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace adjudge::jinja
