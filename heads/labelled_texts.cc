#include "heads/labelled_texts.h"

#include <csv.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/fingerprint.h"
#include "engine/json_check.h"

namespace adjudge {
namespace {

std::string Line(std::size_t number) { return "line " + std::to_string(number); }

Status CheckItem(const LabelledText& item, const LabelledTextsOptions& options,
                 const std::string& place) {
  const auto too_long = [&](std::string_view what, std::size_t n, std::size_t most) {
    return Fail(ErrorCode::kLimit,
                std::to_string(n) + " bytes in a " + std::string(what) + "; the limit is " +
                    std::to_string(most),
                place);
  };
  if (item.text.size() > options.max_text_bytes) {
    return too_long("text", item.text.size(), options.max_text_bytes);
  }
  for (const std::string& label : item.labels) {
    if (label.empty()) return Fail(ErrorCode::kMalformed, "the label is empty", place);
    if (label.size() > options.max_label_bytes) {
      return too_long("label", label.size(), options.max_label_bytes);
    }
  }
  return {};
}

Status CheckText(std::string_view bytes, const LabelledTextsOptions& options) {
  if (bytes.size() > options.max_bytes) {
    return Fail(ErrorCode::kLimit, std::to_string(bytes.size()) + " bytes; max_bytes is " +
                                       std::to_string(options.max_bytes));
  }
  const std::optional<std::size_t> bad = FirstInvalidUtf8(bytes);
  if (!bad) return {};
  const auto lines =
      std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
  return Fail(ErrorCode::kMalformed, "not UTF-8 at byte " + std::to_string(*bad),
              Line(1 + static_cast<std::size_t>(lines)));
}

std::vector<std::string> SplitLabels(const std::string& cell, const std::string& separator) {
  if (separator.empty()) return {cell};
  std::vector<std::string> labels;
  if (cell.empty()) return labels;
  std::size_t at = 0;
  for (std::size_t end = 0; end != std::string::npos; at = end + separator.size()) {
    end = cell.find(separator, at);
    labels.push_back(cell.substr(at, end == std::string::npos ? end : end - at));
  }
  return labels;
}

// Gathers the rows of a CSV text.
class CsvRows {
 public:
  explicit CsvRows(const LabelledTextsOptions& options) : options_(options) {}

  void Cell(std::string_view cell) { row_.emplace_back(cell); }
  // REQUIRES: once `status` is bad it is left alone.
  void EndRow() {
    std::vector<std::string> row = std::move(row_);
    row_.clear();
    if (!status_) return;
    const std::string place = Line(row_line_);
    if (columns_ == 0) {
      status_ = Header(row, place);
      return;
    }
    if (row.size() != columns_) {
      status_ = Fail(
          ErrorCode::kMalformed,
          "expected " + std::to_string(columns_) + " columns, found " + std::to_string(row.size()),
          place);
      return;
    }
    if (items_.size() >= options_.max_rows) {
      status_ = Fail(ErrorCode::kLimit, "more than " + std::to_string(options_.max_rows) + " rows",
                     place);
      return;
    }
    LabelledText item{.text = std::move(row[text_])};
    item.labels = SplitLabels(row[label_], options_.label_separator);
    status_ = CheckItem(item, options_, place);
    items_.push_back(std::move(item));
  }
  void BeginLine(std::size_t line) {
    if (row_.empty()) row_line_ = line;
  }

  const Status& status() const { return status_; }
  bool has_header() const { return columns_ > 0; }
  std::vector<LabelledText> Take() { return std::move(items_); }

 private:
  Status Header(const std::vector<std::string>& names, const std::string& place) {
    columns_ = names.size();
    const auto find = [&](const std::string& name) -> Result<std::size_t> {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
      std::string all;
      for (const std::string& column : names) all += (all.empty() ? "" : ", ") + column;
      return Fail(ErrorCode::kNotFound, "no column \"" + name + "\"; the columns are " + all,
                  place);
    };
    ADJUDGE_ASSIGN_OR_RETURN(text_, find(options_.text_column));
    ADJUDGE_ASSIGN_OR_RETURN(label_, find(options_.label_column));
    return {};
  }

  const LabelledTextsOptions& options_;
  std::vector<std::string> row_;
  std::size_t row_line_ = 1;
  std::size_t columns_ = 0;
  std::size_t text_ = 0;
  std::size_t label_ = 0;
  std::vector<LabelledText> items_;
  Status status_;
};

void OnCell(void* cell, std::size_t n, void* rows) {
  static_cast<CsvRows*>(rows)->Cell(std::string_view(static_cast<const char*>(cell), n));
}
void OnRow(int /*end*/, void* rows) { static_cast<CsvRows*>(rows)->EndRow(); }

Result<LabelledText> ParseJsonLine(std::string_view line, const LabelledTextsOptions& options) {
  ADJUDGE_RETURN_IF_ERROR(CheckJson(line));
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return Fail(ErrorCode::kMalformed,
                std::string("expected an object, found ") + object.type_name());
  }
  const auto member = [&](const std::string& name) -> Result<const nlohmann::json*> {
    const auto found = object.find(name);
    if (found != object.end()) return &*found;
    return Fail(ErrorCode::kNotFound, "no key \"" + name + "\"");
  };
  LabelledText item;
  ADJUDGE_ASSIGN_OR_RETURN(const nlohmann::json* text, member(options.text_column));
  if (!text->is_string()) {
    return Fail(ErrorCode::kMalformed, std::string("expected a string, found ") + text->type_name(),
                "/" + options.text_column);
  }
  item.text = text->get<std::string>();
  ADJUDGE_ASSIGN_OR_RETURN(const nlohmann::json* label, member(options.label_column));
  const bool several = label->is_array();
  for (const nlohmann::json& one : several ? *label : nlohmann::json::array({*label})) {
    if (!one.is_string()) {
      return Fail(ErrorCode::kMalformed, std::string("expected a string, found ") + one.type_name(),
                  "/" + options.label_column);
    }
    item.labels.push_back(one.get<std::string>());
  }
  return item;
}

}  // namespace

Result<std::vector<LabelledText>> ParseLabelledCsv(std::string_view text,
                                                   const LabelledTextsOptions& options) {
  ADJUDGE_RETURN_IF_ERROR(CheckText(text, options));
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  csv_parser parser;
  // Strict: a quote may stand only around a whole cell. Spaces belong to the cell.
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
    return Fail(ErrorCode::kLimit, "no memory for the CSV reader");
  }
  csv_set_space_func(&parser, [](unsigned char) { return 0; });
  const std::unique_ptr<csv_parser, void (*)(csv_parser*)> guard(&parser, csv_free);
  CsvRows rows(options);
  std::size_t line = 0;
  const auto failed = [&](std::size_t number) -> tl::unexpected<Error> {
    return Fail(ErrorCode::kMalformed, csv_strerror(csv_error(&parser)), Line(number));
  };
  for (std::size_t at = 0; at < text.size() && rows.status();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    rows.BeginLine(++line);
    if (csv_parse(&parser, text.data() + at, end - at, OnCell, OnRow, &rows) != end - at) {
      return failed(line);
    }
    at = end;
  }
  ADJUDGE_RETURN_IF_ERROR(rows.status());
  if (csv_fini(&parser, OnCell, OnRow, &rows) != 0) return failed(line);
  ADJUDGE_RETURN_IF_ERROR(rows.status());
  if (!rows.has_header()) {
    return Fail(ErrorCode::kMalformed, "expected a header row, found nothing", Line(1));
  }
  return rows.Take();
}

Result<std::vector<LabelledText>> ParseLabelledJsonLines(std::string_view text,
                                                         const LabelledTextsOptions& options) {
  ADJUDGE_RETURN_IF_ERROR(CheckText(text, options));
  std::vector<LabelledText> items;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (items.size() >= options.max_rows) {
      return Fail(ErrorCode::kLimit, "more than " + std::to_string(options.max_rows) + " rows",
                  Line(number));
    }
    Result<LabelledText> item = ParseJsonLine(line, options);
    if (!item) {
      Error error = std::move(item).error();
      error.place = Line(number) + (error.place.empty() ? "" : ", " + error.place);
      return tl::unexpected<Error>(std::move(error));
    }
    ADJUDGE_RETURN_IF_ERROR(CheckItem(*item, options, Line(number)));
    items.push_back(std::move(*item));
  }
  return items;
}

Result<std::vector<LabelledText>> ReadLabelledTexts(const std::filesystem::path& path,
                                                    const LabelledTextsOptions& options) {
  std::error_code code;
  const auto size = std::filesystem::file_size(path, code);
  if (code) {
    const bool absent = code == std::errc::no_such_file_or_directory;
    return Fail(absent ? ErrorCode::kNotFound : ErrorCode::kIo, code.message(), path.string());
  }
  if (size > options.max_bytes) {
    return Fail(ErrorCode::kLimit,
                std::to_string(size) + " bytes; max_bytes is " + std::to_string(options.max_bytes),
                path.string());
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file && !file.eof()) return Fail(ErrorCode::kIo, "cannot be read", path.string());
  const std::string ending = path.extension().string();
  const bool json = ending == ".jsonl" || ending == ".ndjson";
  auto items = json ? ParseLabelledJsonLines(text, options) : ParseLabelledCsv(text, options);
  if (!items) {
    Error error = std::move(items).error();
    error.place = path.string() + (error.place.empty() ? "" : ": " + error.place);
    return tl::unexpected<Error>(std::move(error));
  }
  return items;
}

std::string ItemFingerprint(std::string_view text) { return Fingerprint(text); }

}  // namespace adjudge
