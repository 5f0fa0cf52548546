// The forms in which a vocabulary lies on disk.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/model/gguf_file.h"
#include "engine/text/tokenizer_metadata.h"
#include "engine/tokenizer.h"

namespace adjudge {

using TokenizerResult = Result<std::shared_ptr<const Tokenizer>>;

// The tokenizer.ggml.* keys of a GGUF file.
TokenizerResult LoadGgufTokenizer(const GgufFile& file, const TokenizerLimits& limits);

// The bytes of a SentencePiece .model file.
TokenizerResult LoadSentencePieceTokenizer(std::string_view bytes, const TokenizerLimits& limits);

// The text of a tokenizer.json.
TokenizerResult LoadJsonTokenizer(std::string_view text, const TokenizerLimits& limits);

// A folder with tokenizer.model or tokenizer.json, and what else of a model's small files is there.
TokenizerResult LoadFolderTokenizer(const std::filesystem::path& folder,
                                    const TokenizerLimits& limits);

// A file's bytes. Errors: kIo, kLimit (max_file_bytes).
Result<std::string> ReadTokenizerFile(const std::filesystem::path& path,
                                      const TokenizerLimits& limits);

}  // namespace adjudge
