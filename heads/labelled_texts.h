// Texts with their labels, from CSV or JSON lines.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

struct LabelledText {
  std::string text;
  std::vector<std::string> labels;  // one, or any number where rows have several

  friend bool operator==(const LabelledText&, const LabelledText&) = default;
};

struct LabelledTextsOptions {
  std::string text_column = "text";
  std::string label_column = "category";
  // Of a CSV cell that holds several labels; empty: the cell is one label. In JSON lines an array
  // is several labels.
  std::string label_separator;
  std::size_t max_bytes = std::size_t{1} << 30;
  std::size_t max_rows = 4'000'000;
  std::size_t max_text_bytes = 1 << 20;
  std::size_t max_label_bytes = 16 << 10;
};

// CSV by RFC 4180 with a header row (quotes doubled inside quotes, line breaks inside them), or one
// JSON object a line. Errors: kMalformed (a quote out of place, a row of another width, bytes that
// are not UTF-8, a label that is empty or no string) and kLimit, with "line N"; kNotFound for a
// column that is not there, naming those that are.
Result<std::vector<LabelledText>> ParseLabelledCsv(std::string_view text,
                                                   const LabelledTextsOptions& options = {});
Result<std::vector<LabelledText>> ParseLabelledJsonLines(std::string_view text,
                                                         const LabelledTextsOptions& options = {});
// By the file's ending: .jsonl and .ndjson are JSON lines, all else CSV. The place begins with the
// path.
Result<std::vector<LabelledText>> ReadLabelledTexts(const std::filesystem::path& path,
                                                    const LabelledTextsOptions& options = {});

// Names a labelled text, to tell whether it was trained on: a fingerprint of the text alone.
std::string ItemFingerprint(std::string_view text);

}  // namespace adjudge
