#include "eval/answer_extraction.h"

#include <algorithm>

namespace adjudge {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsWord(char c) { return IsDigit(c) || IsLower(c) || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view Trim(std::string_view text, std::string_view what) {
  const std::size_t begin = text.find_first_not_of(what);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(what) - begin + 1);
}

// Without the marks that may stand around an answer.
std::string Bare(std::string_view text) { return Lower(Trim(text, " \t\r\n*\"'`.")); }

char At(std::string_view text, std::size_t i) { return i < text.size() ? text[i] : '\0'; }

// text[at, at + n) is not part of a longer word or number.
bool StandsAlone(std::string_view text, std::size_t at, std::size_t n) {
  const char before = at == 0 ? '\0' : text[at - 1];
  const char after = At(text, at + n);
  const char next = At(text, at + n + 1);
  if (IsWord(before) || IsWord(after)) return false;
  if (after == '\'' && IsWord(next)) return false;                       // I'm
  if (IsDigit(text[at]) && after == '.' && IsDigit(next)) return false;  // 3.5
  if (IsDigit(text[at]) && before == '.') return false;                  // 0.3
  return true;
}

// "A" and "I" before a lower-case word are words themselves.
bool IsArticle(std::string_view text, std::size_t at, std::string_view label) {
  if (label != "A" && label != "I") return false;
  return At(text, at + 1) == ' ' && IsLower(At(text, at + 2));
}

// Position of the first place where `what` stands alone, or npos.
std::size_t FindAlone(std::string_view text, std::string_view what, bool is_label) {
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + 1)) {
    if (StandsAlone(text, at, what.size()) && !(is_label && IsArticle(text, at, what))) return at;
  }
  return std::string_view::npos;
}

// The candidate that is found first; the longest of those found at one place.
std::optional<int> First(std::string_view text, std::span<const std::string> candidates,
                         bool are_labels) {
  std::optional<int> best;
  std::size_t best_at = std::string_view::npos;
  std::size_t best_size = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].empty()) continue;
    const std::size_t at = FindAlone(text, candidates[i], are_labels);
    if (at == std::string_view::npos) continue;
    if (!best || at < best_at || (at == best_at && candidates[i].size() > best_size)) {
      best = static_cast<int>(i);
      best_at = at;
      best_size = candidates[i].size();
    }
  }
  return best;
}

}  // namespace

std::optional<int> ExtractAnswer(std::string_view text, std::span<const std::string> labels,
                                 std::span<const std::string> texts) {
  std::vector<std::string> bare;
  for (const std::string& option : texts) bare.push_back(Bare(option));
  const std::string whole = Bare(text);
  if (!whole.empty()) {
    const auto found = std::find(bare.begin(), bare.end(), whole);
    if (found != bare.end()) return static_cast<int>(found - bare.begin());
  }
  if (const std::optional<int> label = First(text, labels, true)) return label;
  return First(Lower(text), bare, false);
}

}  // namespace adjudge
