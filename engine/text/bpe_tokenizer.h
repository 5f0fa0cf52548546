// Byte-level BPE (and BPE over characters), as a Tokenizer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/tokenizer_metadata.h"
#include "engine/tokenizer.h"

namespace adjudge {

// A vocabulary and its merges as a file gives them.
struct BpeModel {
  struct Token {
    std::string text;  // as the file spells it
    TokenKind kind = TokenKind::kNormal;
    bool takes_left = false;  // of a control or user-defined token: swallows white space around it
    bool takes_right = false;
  };
  struct Merge {
    std::string left;  // as the file spells its tokens
    std::string right;
  };

  std::vector<Token> tokens;
  std::vector<Merge> merges;
  PreTokenizerKind pre_tokenizer = PreTokenizerKind::kNone;
  bool byte_level = true;      // tokens are spelled in the byte alphabet; else in plain characters
  bool nfc = false;            // text between special tokens is put into NFC first
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges
  TokenizerMetadata metadata;

  std::string tokens_key;  // how errors name the lists: "tokenizer.ggml.tokens"
  std::string merges_key;
};

// Errors: kMalformed for a token or special name that occurs twice, a merge of unknown tokens or
// one that occurs twice, with the key and index; kLimit.
Result<std::shared_ptr<const Tokenizer>> MakeBpeTokenizer(BpeModel model,
                                                          const TokenizerLimits& limits);

}  // namespace adjudge
