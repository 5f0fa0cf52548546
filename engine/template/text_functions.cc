#include "engine/template/text_functions.h"

#include <algorithm>
#include <optional>

#include "engine/template/search.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

using Append = void (*)(std::string&, std::int32_t);

// Passes every character through `map(previous_offset...)`, keeping each one's trust.
template <typename Choose>
Result<TextPtr> MapCharacters(const Text& text, Budget& budget, Choose choose) {
  TextBuilder out(budget);
  std::string run;  // mapped characters of equal trust, not yet appended
  bool trusted = false;
  std::size_t run_end = 0;
  for (std::size_t i = 0; i < text.bytes.size();) {
    if (i == run_end) {
      out.Append(run, trusted);
      run.clear();
      trusted = text.trust.At(i);
      run_end = text.trust.RunEnd(i);
    }
    const CodePoint point = DecodeAt(text.bytes, i);
    const Append append = choose(point.value, i);
    append(run, point.value);
    i += point.bytes;
  }
  out.Append(run, trusted);
  return out.Finish();
}

constexpr std::int32_t kSigma = 0x3A3;

void AppendFinalSigma(std::string& text, std::int32_t) { AppendUtf8(text, 0x3C2); }

// The sigma at `offset` ends a word.
bool IsFinalSigma(std::string_view text, std::size_t offset) {
  std::size_t before = offset;
  std::int32_t value = 0;
  do {
    if (before == 0) return false;
    before = PreviousStart(text, before);
    value = DecodeAt(text, before).value;
  } while (IsCaseIgnorable(value));
  if (!IsCased(value)) return false;
  for (std::size_t i = offset + 2; i < text.size();) {
    const CodePoint point = DecodeAt(text, i);
    if (!IsCaseIgnorable(point.value)) return !IsCased(point.value);
    i += point.bytes;
  }
  return true;
}

Append LowerOf(const Text& text, std::int32_t value, std::size_t offset) {
  return value == kSigma && IsFinalSigma(text.bytes, offset) ? AppendFinalSigma : AppendLower;
}

// A set of characters to strip.
class CharacterSet {
 public:
  explicit CharacterSet(const Text* chars) : whitespace_(chars == nullptr) {
    for (std::size_t i = 0; chars != nullptr && i < chars->bytes.size();) {
      const CodePoint point = DecodeAt(chars->bytes, i);
      values_.push_back(point.value);
      i += point.bytes;
    }
    std::sort(values_.begin(), values_.end());
  }
  bool contains(std::int32_t value) const {
    return whitespace_ ? IsSpace(value) : std::binary_search(values_.begin(), values_.end(), value);
  }

 private:
  bool whitespace_;
  std::vector<std::int32_t> values_;
};

std::size_t SkipForward(std::string_view text, std::size_t from, const CharacterSet& set) {
  while (from < text.size()) {
    const CodePoint point = DecodeAt(text, from);
    if (!set.contains(point.value)) break;
    from += point.bytes;
  }
  return from;
}

std::size_t SkipBackward(std::string_view text, std::size_t end, std::size_t begin,
                         const CharacterSet& set) {
  while (end > begin) {
    const std::size_t start = PreviousStart(text, end);
    if (!set.contains(DecodeAt(text, start).value)) break;
    end = start;
  }
  return end;
}

using Span = std::pair<std::size_t, std::size_t>;

std::vector<Span> SplitWhitespace(std::string_view text, std::int64_t limit) {
  const CharacterSet spaces(nullptr);
  std::vector<Span> parts;
  std::size_t i = SkipForward(text, 0, spaces);
  while (i < text.size()) {
    if (limit >= 0 && static_cast<std::int64_t>(parts.size()) == limit) {
      parts.emplace_back(i, text.size());
      break;
    }
    std::size_t end = i;
    while (end < text.size() && !IsSpace(DecodeAt(text, end).value)) {
      end += DecodeAt(text, end).bytes;
    }
    parts.emplace_back(i, end);
    i = SkipForward(text, end, spaces);
  }
  return parts;
}

std::vector<Span> SplitWhitespaceFromRight(std::string_view text, std::int64_t limit) {
  const CharacterSet spaces(nullptr);
  std::vector<Span> parts;
  std::size_t end = SkipBackward(text, text.size(), 0, spaces);
  while (end > 0) {
    if (limit >= 0 && static_cast<std::int64_t>(parts.size()) == limit) {
      parts.emplace_back(0, end);
      break;
    }
    std::size_t begin = end;
    while (begin > 0 && !IsSpace(DecodeAt(text, PreviousStart(text, begin)).value)) {
      begin = PreviousStart(text, begin);
    }
    parts.emplace_back(begin, end);
    end = SkipBackward(text, begin, 0, spaces);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Span> SplitBy(std::string_view text, std::string_view separator, std::int64_t limit) {
  std::vector<Span> parts;
  std::size_t begin = 0;
  while (limit < 0 || static_cast<std::int64_t>(parts.size()) < limit) {
    const std::size_t found = FindText(text, separator, begin);
    if (found == std::string_view::npos) break;
    parts.emplace_back(begin, found);
    begin = found + separator.size();
  }
  parts.emplace_back(begin, text.size());
  return parts;
}

Result<std::vector<Span>> SplitByFromRight(std::string_view text, std::string_view separator,
                                           std::int64_t limit) {
  std::vector<Span> parts;
  std::size_t end = text.size();
  while (limit < 0 || static_cast<std::int64_t>(parts.size()) < limit) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::size_t found, FindLast(text.substr(0, end), separator));
    if (found == std::string_view::npos) break;
    parts.emplace_back(found + separator.size(), end);
    end = found;
  }
  parts.emplace_back(0, end);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Result<std::vector<TextPtr>> Cut(const TextPtr& text, const std::vector<Span>& spans,
                                 Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(budget.SpendItems(spans.size()));
  std::vector<TextPtr> parts;
  parts.reserve(spans.size());
  for (const auto& [begin, end] : spans) {
    ADJUDGE_ASSIGN_OR_RETURN(TextPtr part, SubText(text, begin, end, budget));
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

Result<TextPtr> Strip(const TextPtr& text, const Text* chars, Side side, Budget& budget) {
  const CharacterSet set(chars);
  const std::string_view bytes = text->view();
  const std::size_t begin = side == Side::kRight ? 0 : SkipForward(bytes, 0, set);
  const std::size_t end =
      side == Side::kLeft ? bytes.size() : SkipBackward(bytes, bytes.size(), begin, set);
  return SubText(text, begin, end, budget);
}

Result<TextPtr> Upper(const Text& text, Budget& budget) {
  return MapCharacters(text, budget, [](std::int32_t, std::size_t) { return AppendUpper; });
}

Result<TextPtr> Lower(const Text& text, Budget& budget) {
  return MapCharacters(text, budget, [&text](std::int32_t value, std::size_t at) {
    return LowerOf(text, value, at);
  });
}

Result<TextPtr> SwapCase(const Text& text, Budget& budget) {
  return MapCharacters(text, budget, [&text](std::int32_t value, std::size_t at) -> Append {
    if (IsUpper(value)) return LowerOf(text, value, at);
    return IsLower(value) ? AppendUpper : AppendUtf8;
  });
}

Result<TextPtr> Capitalize(const Text& text, Budget& budget) {
  return MapCharacters(text, budget, [&text](std::int32_t value, std::size_t at) -> Append {
    return at == 0 ? AppendTitle : LowerOf(text, value, at);
  });
}

Result<TextPtr> Title(const Text& text, Budget& budget) {
  bool in_word = false;
  return MapCharacters(text, budget, [&](std::int32_t value, std::size_t at) -> Append {
    const bool starts = !std::exchange(in_word, IsCased(value));
    return starts ? AppendTitle : LowerOf(text, value, at);
  });
}

Result<TextPtr> Replace(const Text& text, const Text& from, const Text& to, std::int64_t count,
                        Budget& budget) {
  TextBuilder out(budget);
  std::size_t begin = 0;
  const std::string_view bytes = text.view();
  for (std::int64_t done = 0; (count < 0 || done < count) && !out.overflow(); ++done) {
    std::size_t found = 0;
    if (from.bytes.empty()) {
      // Before every character and at the end; `begin` is where the last one was put in.
      found = done == 0              ? 0
              : begin < bytes.size() ? begin + DecodeAt(bytes, begin).bytes
                                     : std::string_view::npos;
    } else {
      found = FindText(bytes, from.view(), begin);
    }
    if (found == std::string_view::npos) break;
    ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
    out.Append(text, begin, found);
    out.Append(to);
    begin = found + from.bytes.size();
  }
  out.Append(text, begin, bytes.size());
  return out.Finish();
}

Result<std::vector<TextPtr>> Split(const TextPtr& text, const Text* separator, std::int64_t limit,
                                   bool from_right, Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(budget.SpendBytes(text->bytes.size()));
  if (separator == nullptr) {
    return Cut(text,
               from_right ? SplitWhitespaceFromRight(text->view(), limit)
                          : SplitWhitespace(text->view(), limit),
               budget);
  }
  if (separator->bytes.empty()) return Raise("ValueError", "empty separator");
  if (!from_right) return Cut(text, SplitBy(text->view(), separator->view(), limit), budget);
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Span> spans,
                           SplitByFromRight(text->view(), separator->view(), limit));
  return Cut(text, spans, budget);
}

Result<std::vector<TextPtr>> SplitLines(const TextPtr& text, bool keep_ends, Budget& budget) {
  const std::string_view bytes = text->view();
  std::vector<Span> lines;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < bytes.size();) {
    const CodePoint point = DecodeAt(bytes, i);
    std::size_t after = i + point.bytes;
    if (IsLineBreak(point.value)) {
      if (point.value == '\r' && after < bytes.size() && bytes[after] == '\n') ++after;
      lines.emplace_back(begin, keep_ends ? after : i);
      begin = after;
    }
    i = after;
  }
  if (begin < bytes.size()) lines.emplace_back(begin, bytes.size());
  return Cut(text, lines, budget);
}

Result<TextPtr> Pad(const TextPtr& text, std::int64_t width, const Text& fill, Side side,
                    Budget& budget) {
  const auto length = static_cast<std::int64_t>(CountCodePoints(text->bytes));
  if (width <= length) return text;
  const std::int64_t missing = width - length;
  std::int64_t left = side == Side::kLeft ? missing : 0;
  if (side == Side::kBoth) left = missing / 2 + (missing & width & 1);  // as CPython rounds
  TextBuilder out(budget);
  const bool trusted = fill.trust.AllTrusted();
  out.AppendRepeated(fill.bytes, trusted, static_cast<std::size_t>(left));
  out.Append(*text);
  out.AppendRepeated(fill.bytes, trusted, static_cast<std::size_t>(missing - left));
  return out.Finish();
}

Result<std::size_t> FindLast(std::string_view text, std::string_view needle) {
  constexpr std::size_t kMaxNeedle = 256;
  if (needle.size() > kMaxNeedle) {
    return Refuse("searching backwards for more than " + std::to_string(kMaxNeedle) + " bytes");
  }
  return text.rfind(needle);
}

}  // namespace adjudge::jinja
