#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/text/tokenizer_sources.h"

namespace adjudge {
namespace fs = std::filesystem;

Result<std::string> ReadTokenizerFile(const fs::path& path, const TokenizerLimits& limits) {
  std::error_code error;
  // Before it is opened: opening a pipe without a writer hangs.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    return Fail(ErrorCode::kIo, "expected a regular file, found a folder, pipe or device",
                path.string());
  }
  std::ifstream file(path, std::ios::binary);
  const auto size = fs::file_size(path, error);
  if (!file || error) {
    return Fail(
        ErrorCode::kIo,
        std::string("cannot read the file: ") + (error ? error.message() : std::strerror(errno)),
        path.string());
  }
  if (size > limits.max_file_bytes) {
    return Fail(ErrorCode::kLimit,
                "expected a file of at most " + std::to_string(limits.max_file_bytes) +
                    " bytes (max_file_bytes), found " + std::to_string(size),
                path.string());
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<std::size_t>(file.gcount()) != bytes.size()) {
    return Fail(ErrorCode::kIo, "the file ended early", path.string());
  }
  return bytes;
}

namespace {

// The message's first field is a piece, whose first field is its text: only then do the words of
// the parser say more than that this is no such file.
bool BeginsAsSentencePiece(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\n' && bytes[1] > 0 && bytes[2] == '\n';
}

}  // namespace

TokenizerResult Tokenizer::Load(const fs::path& path, const TokenizerLimits& limits) {
  std::error_code error;
  if (fs::is_directory(path, error)) return LoadFolderTokenizer(path, limits);
  const bool regular = fs::is_regular_file(path, error);
  std::ifstream file;
  if (regular) file.open(path, std::ios::binary);
  char magic[4] = {};
  if (!regular || !file) {
    return Fail(ErrorCode::kIo,
                std::string("cannot read the file: ") +
                    (error ? error.message() : "it is no regular file or may not be read"),
                path.string());
  }
  file.read(magic, 4);
  if (std::string_view(magic, 4) == "GGUF") {
    ADJUDGE_ASSIGN_OR_RETURN(const auto gguf, GgufFile::Open(path, /*tensors=*/false));
    return LoadGgufTokenizer(*gguf, limits);
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::string bytes, ReadTokenizerFile(path, limits));
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != bytes.npos && bytes[first] == '{') return LoadJsonTokenizer(bytes, limits);
  auto tokenizer = LoadSentencePieceTokenizer(bytes, limits);
  if (!tokenizer) {
    std::string words = "neither GGUF, tokenizer.json nor a SentencePiece model";
    if (BeginsAsSentencePiece(bytes)) {
      words = "neither GGUF nor tokenizer.json, and as a SentencePiece model: " +
              ToString(tokenizer.error());
    }
    return Fail(tokenizer.error().code, std::move(words), path.string());
  }
  return tokenizer;
}

}  // namespace adjudge
