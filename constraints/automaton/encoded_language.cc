#include "constraints/automaton/encoded_language.h"

#include <algorithm>
#include <map>

#include "engine/base/utf8.h"

namespace adjudge {
namespace {

constexpr Recognizer::State kUnknown = ~Recognizer::State{0};

struct Interval {
  char32_t first;
  char32_t last;
};

// Characters of `length` bytes in UTF-8.
Interval OfLength(std::uint8_t length) {
  return length == 2   ? Interval{0x80, 0x7FF}
         : length == 3 ? Interval{0x800, 0xFFFF}
                       : Interval{0x10000, kLastCodePoint};
}

bool IsSurrogate(char32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

int HexDigit(std::uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

// The character that a JSON escape of one letter stands for, or -1.
int SimpleEscape(std::uint8_t byte) {
  switch (byte) {
    case '"':
    case '\\':
    case '/':
      return byte;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return -1;
  }
}

std::string JsonSpelling(const std::string& text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte == '"' || byte == '\\') out += '\\';
    if (byte >= 0x20) {
      out += c;
    } else {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

}  // namespace

EncodedLanguage::EncodedLanguage(CharLanguage::Ptr language, Encoding encoding)
    : language_(std::move(language)), encoding_(encoding), places_(1), rows_(1) {}

// After work on the language: its error is ours. Call with the fuel lent before.
bool EncodedLanguage::Borrow() {
  if (!language_->status()) SetError(language_->status().error());
  return status().has_value();
}

Recognizer::State EncodedLanguage::Intern(const Place& place) {
  if (place.chars == CharLanguage::kDead) return kDead;
  const std::uint64_t key = (std::uint64_t{place.chars} << 32) ^ (std::uint64_t{place.value} << 8) ^
                            (std::uint64_t{place.left} << 6) ^ (std::uint64_t{place.length} << 3) ^
                            static_cast<std::uint64_t>(place.part);
  std::vector<State>& same = ids_[key];
  for (const State state : same) {
    const Place& p = places_[state];
    if (p.chars == place.chars && p.part == place.part && p.left == place.left &&
        p.length == place.length && p.value == place.value) {
      return state;
    }
  }
  places_.push_back(place);
  rows_.emplace_back();
  same.push_back(static_cast<State>(places_.size() - 1));
  return same.back();
}

Recognizer::State EncodedLanguage::Start() {
  language_->Refuel(fuel());
  const auto start = language_->Start();
  Burn(fuel() - language_->fuel());
  if (!Borrow()) return kDead;
  if (start == CharLanguage::kDead) {
    SetError({ErrorCode::kInvalidArgument, "no text at all is accepted", "pattern"});
    return kDead;
  }
  return Intern({.chars = start});
}

Recognizer::State EncodedLanguage::Next(State state, std::uint8_t byte) {
  if (!rows_[state].empty() && rows_[state][byte] != kUnknown) return rows_[state][byte];
  language_->Refuel(fuel());
  const State next = Derive(Place(places_[state]), byte);
  const bool paid = Burn(fuel() - language_->fuel() + 4);
  if (!Borrow() || !paid) return kDead;
  if (rows_[state].empty()) rows_[state].assign(256, kUnknown);
  rows_[state][byte] = next;
  return next;
}

Recognizer::State EncodedLanguage::AfterChar(CharLanguage::State chars, char32_t code) {
  return Intern({.chars = language_->Step(chars, code)});
}

bool EncodedLanguage::AnyLive(CharLanguage::State chars, char32_t first, char32_t last) {
  return first <= last && language_->AnyLive(chars, first, last);
}

Recognizer::State EncodedLanguage::Derive(const Place& place, std::uint8_t byte) {
  Place next = place;
  switch (place.part) {
    case Part::kNone:
      return Lead(place.chars, byte);
    case Part::kAny:
      if (byte < 0x80 || byte > 0xBF) return kDead;
      next.left--;
      if (next.left == 0) next.part = Part::kNone;
      return Intern(next);
    case Part::kUtf8:
      if (byte < 0x80 || byte > 0xBF) return kDead;
      next.left--;
      next.value = (place.value << 6) | (byte & 0x3F);
      return Utf8Part(next);
    case Part::kEscape: {
      if (const int code = SimpleEscape(byte); code >= 0) {
        return AfterChar(place.chars, static_cast<char32_t>(code));
      }
      if (byte != 'u') return kDead;
      next.part = Part::kHex;
      next.left = 4;
      return HexPart(next);
    }
    case Part::kHex:
    case Part::kLowHex: {
      const int digit = HexDigit(byte);
      if (digit < 0) return kDead;
      next.left--;
      next.value = (place.value << 4) | static_cast<std::uint32_t>(digit);
      return HexPart(next);
    }
    case Part::kLow:
      if (byte != '\\') return kDead;
      next.part = Part::kLowU;
      return Intern(next);
    case Part::kLowU:
      if (byte != 'u') return kDead;
      next.part = Part::kLowHex;
      next.left = 4;
      return HexPart(next);
  }
  return kDead;
}

Recognizer::State EncodedLanguage::Lead(CharLanguage::State chars, std::uint8_t byte) {
  if (byte < 0x80) {
    if (encoding_ == Encoding::kUtf8) return AfterChar(chars, byte);
    if (byte < 0x20 || byte == '"') return kDead;
    if (byte != '\\') return AfterChar(chars, byte);
    return AnyLive(chars, 0, kLastCodePoint) ? Intern({.chars = chars, .part = Part::kEscape})
                                             : kDead;
  }
  if (byte < 0xC2 || byte > 0xF4) return kDead;
  const std::uint8_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  return Utf8Part({.chars = chars,
                   .part = Part::kUtf8,
                   .left = static_cast<std::uint8_t>(length - 1),
                   .length = length,
                   .value = byte & (0x7FU >> length)});
}

Recognizer::State EncodedLanguage::Utf8Part(const Place& place) {
  const char32_t size = char32_t{1} << (6 * place.left);
  const char32_t low = place.value * size;
  const char32_t high = low + size - 1;
  const Interval valid = OfLength(place.length);
  const char32_t first = std::max(low, valid.first);
  const char32_t last = std::min(high, valid.last);
  if (first > last) return kDead;
  if (place.left == 0) return IsSurrogate(first) ? kDead : AfterChar(place.chars, first);
  const SymbolMap& symbols = language_->symbols();
  const std::size_t interval = symbols.IntervalOf(first);
  const bool surrogates = first <= 0xDFFF && last >= 0xD800;
  if (first == low && last == high && !surrogates && symbols.last(interval) >= last) {
    return Intern({.chars = language_->StepSymbol(place.chars, symbols.symbol(interval)),
                   .part = Part::kAny,
                   .left = place.left});
  }
  const bool live = surrogates
                        ? AnyLive(place.chars, first, 0xD7FF) || AnyLive(place.chars, 0xE000, last)
                        : AnyLive(place.chars, first, last);
  return live ? Intern(place) : kDead;
}

// A \u with some digits, of a first or second half.
Recognizer::State EncodedLanguage::HexPart(const Place& place) {
  const char32_t size = char32_t{1} << (4 * place.left);
  if (place.part == Part::kLowHex) {
    // value: the high half in the upper bits, the low half's digits below.
    const char32_t high = place.value >> (16 - 4 * place.left);
    const char32_t digits = place.value & ((char32_t{1} << (16 - 4 * place.left)) - 1);
    const char32_t first = std::max<char32_t>(digits * size, 0xDC00);
    const char32_t last = std::min<char32_t>(digits * size + size - 1, 0xDFFF);
    if (first > last) return kDead;
    const auto code = [&](char32_t lower) {
      return 0x10000 + ((high - 0xD800) << 10) + (lower - 0xDC00);
    };
    if (place.left == 0) return AfterChar(place.chars, code(first));
    return AnyLive(place.chars, code(first), code(last)) ? Intern(place) : kDead;
  }
  const char32_t first = place.value * size;
  const char32_t last = first + size - 1;
  if (place.left == 0) {
    if (!IsSurrogate(first)) return AfterChar(place.chars, first);
    if (first >= 0xDC00) return kDead;
    const char32_t from = 0x10000 + ((first - 0xD800) << 10);
    if (!AnyLive(place.chars, from, from + 0x3FF)) return kDead;
    return Intern({.chars = place.chars, .part = Part::kLow, .value = first});
  }
  bool live = AnyLive(place.chars, first, std::min<char32_t>(last, 0xD7FF)) ||
              AnyLive(place.chars, std::max<char32_t>(first, 0xE000), last);
  const char32_t high_first = std::max<char32_t>(first, 0xD800);
  const char32_t high_last = std::min<char32_t>(last, 0xDBFF);
  if (!live && high_first <= high_last) {
    live = AnyLive(place.chars, 0x10000 + ((high_first - 0xD800) << 10),
                   0x10000 + ((high_last - 0xD800) << 10) + 0x3FF);
  }
  return live ? Intern(place) : kDead;
}

bool EncodedLanguage::Accepts(State state) {
  return places_[state].part == Part::kNone && language_->Accepts(places_[state].chars);
}

EncodedLanguage::CharRun EncodedLanguage::CharRunOf(CharLanguage::State chars) {
  if (const auto found = runs_.find(chars); found != runs_.end()) return found->second;
  const SymbolMap& symbols = language_->symbols();
  std::vector<CharLanguage::State> to(symbols.size());
  for (std::uint32_t s = 0; s < symbols.size(); ++s) to[s] = language_->StepSymbol(chars, s);
  const bool json = encoding_ == Encoding::kJsonString;
  const auto plain = [&](std::uint32_t c) { return !json || (c >= 0x20 && c != '"' && c != '\\'); };
  const CharLanguage::State wide = to[symbols.non_ascii()[0]];
  const bool one_wide = std::all_of(symbols.non_ascii().begin(), symbols.non_ascii().end(),
                                    [&](std::uint32_t s) { return to[s] == wide; });
  std::map<CharLanguage::State, int> weights;
  if (one_wide) weights[wide] += 64;
  for (std::uint32_t c = 0; c < 0x80; ++c) {
    if (plain(c)) weights[to[symbols.Of(c)]] += 1;
  }
  weights.erase(CharLanguage::kDead);
  CharRun run;
  int best = 0;
  for (const auto& [target, weight] : weights) {
    if (weight <= best) continue;
    best = weight;
    run.next = target;
  }
  if (run.next != CharLanguage::kDead) {
    for (std::uint8_t c = 0; c < 0x80; ++c) {
      if (plain(c) && to[symbols.Of(c)] == run.next) run.chars.add(c);
    }
    run.chars.non_ascii = one_wide && wide == run.next;
  }
  if (language_->status()) runs_.emplace(chars, run);
  return run;
}

// Some character of the class may come next.
bool EncodedLanguage::LivesOn(CharLanguage::State chars, const CharClass& chars_class) {
  for (std::uint8_t c = 0; c < 0x80; ++c) {
    if (chars_class.has(c) && language_->Step(chars, c) != CharLanguage::kDead) return true;
  }
  return chars_class.non_ascii && AnyLive(chars, 0x80, kLastCodePoint);
}

Recognizer::Run EncodedLanguage::RunFrom(State state) {
  const Place place = places_[state];
  if (place.part != Part::kNone) return {};
  language_->Refuel(fuel());
  Run run;
  const CodePointSet* always = language_->AlwaysLive(place.chars);
  const CharRun first = CharRunOf(place.chars);
  if (always != nullptr && first.next != place.chars) {
    for (std::uint8_t c = 0; c < 0x80; ++c) {
      const bool plain = encoding_ == Encoding::kUtf8 || (c >= 0x20 && c != '"' && c != '\\');
      if (plain && always->Contains(c)) run.chars.add(c);
    }
    CodePointSet wide(0x80, kLastCodePoint);
    run.chars.non_ascii = always->Intersect(wide) == wide;
    run.room = kNoLimit;
  } else if (!first.chars.empty()) {
    run.chars = first.chars;
    run.next = Intern({.chars = first.next});
    CharLanguage::State at = place.chars;
    CharRun step = first;
    while (step.chars == first.chars && run.room < kRunHorizon && language_->status()) {
      ++run.room;
      if (step.next == at) run.room = kNoLimit;
      if (step.next == at) break;
      at = step.next;
      step = CharRunOf(at);
    }
    run.ends = run.room >= kRunHorizon || !LivesOn(at, first.chars);
  }
  const bool paid = Burn(fuel() - language_->fuel() + 16);
  if (!Borrow() || !paid) return {};
  return run;
}

std::optional<std::string> EncodedLanguage::ShortestEnd(State state) {
  // To the end of the character first, by the shortest way that lives.
  std::string before;
  while (places_[state].part != Part::kNone) {
    State next = kDead;
    int byte = 0;
    for (; byte < 256 && next == kDead; ++byte) next = Next(state, static_cast<std::uint8_t>(byte));
    if (next == kDead) return std::nullopt;
    before += static_cast<char>(byte - 1);
    state = next;
  }
  language_->Refuel(fuel());
  auto end = language_->ShortestEnd(places_[state].chars);
  const bool paid = Burn(fuel() - language_->fuel() + 16);
  if (!Borrow() || !paid || !end) return std::nullopt;
  return before + (encoding_ == Encoding::kUtf8 ? *end : JsonSpelling(*end));
}

std::size_t EncodedLanguage::bytes() const {
  std::size_t sum = language_->bytes() + places_.size() * (sizeof(Place) + 64);
  for (const auto& row : rows_) sum += row.capacity() * sizeof(State);
  return sum;
}

}  // namespace adjudge
