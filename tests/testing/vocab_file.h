// The layout of ADJUDGE_TEST_DATA/vocab: little-endian u32 n, i32 end-of-sequence id, then for each
// id u32 flags (1 = special), u32 length, bytes.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>

#include "engine/base/check.h"
#include "engine/base/vocabulary.h"
#include "tests/testing/test_data.h"

namespace adjudge::testing {

inline Vocabulary ReadVocabFile(const std::filesystem::path& path, int padding = 0) {
  const std::string bytes = ReadFile(path);
  std::size_t at = 0;
  const auto number = [&] {
    std::uint32_t value = 0;
    ADJUDGE_CHECK(at + 4 <= bytes.size());
    std::memcpy(&value, bytes.data() + at, 4);
    at += 4;
    return value;
  };
  const std::uint32_t n = number();
  const auto eos = static_cast<TokenId>(number());
  std::vector<Vocabulary::Entry> entries;
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool special = (number() & 1) != 0;
    const std::uint32_t length = number();
    entries.push_back(
        {bytes.substr(at, length), special ? TokenKind::kControl : TokenKind::kNormal});
    at += length;
  }
  return Vocabulary(std::move(entries), static_cast<int>(n) + padding, {eos});
}

}  // namespace adjudge::testing
