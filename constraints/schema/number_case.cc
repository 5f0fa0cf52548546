#include "constraints/schema/number_case.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace adjudge::schema {
namespace {

using Answer = NumberCase::Answer;

constexpr int kMaxCandidates = 2'000;
constexpr std::int64_t kFar = std::int64_t{1} << 50;  // beyond every exponent
constexpr std::int64_t kMaxScales = 5'000;

Bounds Narrow(const Bounds& a, const Bounds& b) {
  Bounds result = a;
  if (b.has_low && (!a.has_low || b.low > a.low || (b.low == a.low && b.low_open))) {
    result.has_low = true;
    result.low = b.low;
    result.low_open = b.low_open;
  }
  if (b.has_high && (!a.has_high || b.high < a.high || (b.high == a.high && b.high_open))) {
    result.has_high = true;
    result.high = b.high;
    result.high_open = b.high_open;
  }
  return result;
}

bool Inside(const Bounds& bounds, const Decimal& x) {
  if (bounds.has_low && (bounds.low_open ? x <= bounds.low : x < bounds.low)) return false;
  return !bounds.has_high || (bounds.high_open ? x < bounds.high : x <= bounds.high);
}

template <typename T>
bool In(const std::vector<T>& sorted, const T& value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

Decimal Shifted(const Decimal& value, std::int64_t by) {
  return Decimal::FromDigits(value.is_negative(), value.digits(), value.exponent() + by);
}

// A text so far, taken apart.
struct Parts {
  bool negative = false;
  bool has_point = false, has_exponent = false, has_sign = false, exponent_negative = false;
  std::string_view whole, fraction, exponent;

  explicit Parts(std::string_view text) {
    if (!text.empty() && text[0] == '-') {
      negative = true;
      text.remove_prefix(1);
    }
    if (const auto e = text.find('e'); e != std::string_view::npos) {
      has_exponent = true;
      exponent = text.substr(e + 1);
      text = text.substr(0, e);
      if (!exponent.empty() && (exponent[0] == '-' || exponent[0] == '+')) {
        has_sign = true;
        exponent_negative = exponent[0] == '-';
        exponent.remove_prefix(1);
      }
    }
    if (const auto point = text.find('.'); point != std::string_view::npos) {
      has_point = true;
      fraction = text.substr(point + 1);
      text = text.substr(0, point);
    }
    whole = text;
  }
  std::string Digits() const { return std::string(whole) + std::string(fraction); }
  bool complete() const {
    return !whole.empty() && (!has_point || !fraction.empty()) &&
           (!has_exponent || !exponent.empty());
  }
};

bool OnlyIntegers(const NumberCase& numbers) {
  if (numbers.listed) {
    return std::all_of(numbers.listed->begin(), numbers.listed->end(),
                       [](const Decimal& d) { return d.is_integer(); });
  }
  return numbers.step && numbers.step->is_integer();
}

// Grammar of JSON numbers: may `byte` follow?
bool Grammatical(const Parts& parts, std::string_view text, char byte, bool fractions,
                 bool exponents) {
  const bool digit = byte >= '0' && byte <= '9';
  if (text.empty()) return digit || byte == '-';
  if (parts.whole.empty()) return digit;
  if (parts.has_exponent) {
    return digit || (parts.exponent.empty() && !parts.has_sign && (byte == '-' || byte == '+'));
  }
  const bool ready = !parts.has_point || !parts.fraction.empty();
  if ((byte == 'e' || byte == 'E') && exponents) return ready;
  if (byte == '.') return fractions && !parts.has_point;
  return digit && (parts.has_point || parts.whole != "0");
}

// Whether members of the case have absolute values in [a, b) x 10^k for some k of the range, where
// b = a + 10^unit.
Answer MeetsCones(const NumberCase& numbers, bool negative, const Decimal& a, const Decimal& b,
                  std::int64_t unit, std::int64_t k_low, std::int64_t k_high) {
  if (numbers.listed) {
    for (const Decimal& value : *numbers.listed) {
      if (value.is_zero() || value.is_negative() != negative) continue;
      const std::int64_t k = value.magnitude() - a.magnitude();
      const Decimal x = value.Abs();
      if (k >= k_low && k <= k_high && Shifted(a, k) <= x && x < Shifted(b, k)) return Answer::kYes;
    }
    return Answer::kNo;
  }
  // Bounds of the absolute value on this side of zero.
  const Bounds& bounds = numbers.bounds;
  const bool has_upper = negative ? bounds.has_low : bounds.has_high;
  const Decimal upper = negative ? -bounds.low : bounds.high;
  const bool has_lower = negative ? bounds.has_high : bounds.has_low;
  Decimal lower = negative ? -bounds.high : bounds.low;
  if (!has_lower || lower.is_negative()) lower = Decimal();
  if (has_upper && (upper.is_negative() || upper.is_zero())) return Answer::kNo;
  std::int64_t top = 2;
  if (has_upper) {
    top = upper.magnitude() + 1;
  } else {
    if (!lower.is_zero()) top = std::max(top, lower.magnitude() + 2);
    if (numbers.step) top = std::max(top, numbers.step->magnitude() + 4);
  }
  // Below the lowest member no cone holds one; where they go down to zero without a step, every
  // cone under the upper bound does.
  std::int64_t bottom = -kFar;
  if (!lower.is_zero()) {
    bottom = lower.magnitude() - 1;
  } else if (numbers.step) {
    bottom = numbers.step->magnitude() - 1;
  }
  std::int64_t first = std::max(k_low, bottom - a.magnitude());
  std::int64_t last = top - a.magnitude();
  if (!has_upper) {
    // From where on every cone is wide enough to hold more multiples than are left out.
    last = std::max(last, k_low);
    if (numbers.step) last = std::max(last, numbers.step->magnitude() + 6 - unit);
  }
  last = std::min(last, k_high);
  if (first <= -kFar / 2) first = std::min<std::int64_t>(last, 0) - 2;
  if (last - first > kMaxScales) return Answer::kUndecided;
  bool undecided = false;
  const auto meets = [&](std::int64_t k) {
    Bounds cone;
    cone.has_low = cone.has_high = true;
    cone.low = Shifted(a, k);
    cone.high = Shifted(b, k);
    cone.high_open = true;
    if (negative) {
      std::swap(cone.low, cone.high);
      std::swap(cone.low_open, cone.high_open);
      cone.low = -cone.low;
      cone.high = -cone.high;
    }
    const Answer answer = numbers.MeetsBounds(cone);
    undecided |= answer == Answer::kUndecided;
    return answer == Answer::kYes;
  };
  if (first <= 0 && 0 <= last && meets(0)) return Answer::kYes;
  for (std::int64_t k = first; k <= last; ++k) {
    if (meets(k)) return Answer::kYes;
  }
  return undecided ? Answer::kUndecided : Answer::kNo;
}

// Exponents e for which value x 10^e is a member: an interval without a few.
struct Exponents {
  bool any = false;
  std::int64_t low = 0, high = 0;
  std::vector<std::int64_t> holes;
};

std::vector<Exponents> MemberExponents(const NumberCase& numbers, const Decimal& value) {
  std::vector<Exponents> result;
  if (numbers.listed) {
    for (const Decimal& member : *numbers.listed) {
      if (member.is_negative() == value.is_negative() && member.digits() == value.digits()) {
        const std::int64_t e = member.exponent() - value.exponent();
        result.push_back({true, e, e, {}});
      }
    }
    return result;
  }
  Exponents found{true, -kFar, kFar, {}};
  // |value| x 10^e grows with e, so each bound cuts off one side; found by its magnitude.
  const auto inside = [&](std::int64_t e) { return Inside(numbers.bounds, Shifted(value, e)); };
  const auto cut = [&](const Decimal& bound, bool lower_side) {
    // Bounds of the other sign, or zero, hold for all or none.
    const Decimal b = value.is_negative() ? -bound : bound;
    if (b.is_zero() || b.is_negative()) {
      if (!lower_side) found.any = false;
      return;
    }
    std::int64_t e = b.magnitude() - value.magnitude();
    const Decimal x = value.Abs();
    if (lower_side) {
      while (Shifted(x, e) < b) ++e;
      while (Shifted(x, e - 1) >= b) --e;
      found.low = std::max(found.low, e);
    } else {
      while (Shifted(x, e) > b) --e;
      while (Shifted(x, e + 1) <= b) ++e;
      found.high = std::min(found.high, e);
    }
  };
  const Bounds& bounds = numbers.bounds;
  if (bounds.has_low) cut(bounds.low, !value.is_negative());
  if (bounds.has_high) cut(bounds.high, value.is_negative());
  if (!found.any) return {};
  for (const std::int64_t e : {found.low, found.high}) {
    if (e != -kFar && e != kFar && !inside(e)) found.holes.push_back(e);  // an open bound
  }
  if (numbers.step) {
    const auto least = LeastShift(value, *numbers.step);
    if (!least) return {};
    found.low = std::max(found.low, *least);
  }
  for (const Decimal& step : numbers.not_steps) {
    if (const auto least = LeastShift(value, step)) found.high = std::min(found.high, *least - 1);
  }
  for (const Decimal& member : numbers.excluded) {
    if (member.is_negative() == value.is_negative() && member.digits() == value.digits()) {
      found.holes.push_back(member.exponent() - value.exponent());
    }
  }
  if (found.low <= found.high) result.push_back(std::move(found));
  return result;
}

// Does [low, high] hold a member exponent?
bool Meets(const Exponents& exponents, std::int64_t low, std::int64_t high) {
  low = std::max(low, exponents.low);
  high = std::min(high, exponents.high);
  if (low > high) return false;
  std::int64_t n = high - low + 1;
  for (const std::int64_t hole : exponents.holes) n -= hole >= low && hole <= high ? 1 : 0;
  return n > 0;
}

bool ExponentAlive(const std::vector<Exponents>& members, const Parts& parts) {
  std::int64_t prefix = 0;
  for (const char c : parts.exponent) prefix = std::min(prefix * 10 + (c - '0'), kFar);
  for (const Exponents& e : members) {
    if (!parts.has_sign && parts.exponent.empty()) return true;  // any exponent may follow
    if (prefix == 0) {
      if (parts.exponent_negative ? Meets(e, -kFar, 0) : Meets(e, 0, kFar)) return true;
      continue;
    }
    std::int64_t low = prefix;
    std::int64_t high = prefix;
    for (; low <= kFar; low *= 10, high = high * 10 + 9) {
      if (parts.exponent_negative ? Meets(e, -high, -low) : Meets(e, low, high)) return true;
      if (low > kFar / 10) break;
    }
  }
  return false;
}

Answer Alive(const NumberCase& numbers, NumberForms forms, const std::string& text) {
  const Parts parts(text);
  const bool all = forms == NumberForms::kAll;
  const auto has_zero = [&] { return numbers.Contains(Decimal()); };
  const std::string digits = parts.Digits();
  const Decimal value = Decimal::FromDigits(parts.negative, digits,
                                            -static_cast<std::int64_t>(parts.fraction.size()));
  if (parts.has_exponent) {
    if (value.is_zero()) return has_zero() ? Answer::kYes : Answer::kNo;
    return ExponentAlive(MemberExponents(numbers, value), parts) ? Answer::kYes : Answer::kNo;
  }
  if (value.is_zero()) {
    if (has_zero()) return Answer::kYes;
    // A fraction may follow, and behind it any exponent; or nothing was written but the sign.
    Bounds rest;
    const bool bounded = !all && !parts.whole.empty();
    if (parts.negative) {
      rest.has_high = rest.high_open = true;
      rest.has_low = rest.low_open = bounded;
    } else {
      rest.has_low = rest.low_open = true;
      rest.has_high = rest.high_open = bounded;
    }
    if (bounded) {
      const Decimal limit = Shifted(Decimal(parts.negative ? -1 : 1),
                                    -static_cast<std::int64_t>(parts.fraction.size()));
      (parts.negative ? rest.low : rest.high) = limit;
      if (OnlyIntegers(numbers)) return Answer::kNo;
    }
    return numbers.MeetsBounds(rest);
  }
  const Decimal a = value.Abs();
  const std::int64_t unit = -static_cast<std::int64_t>(parts.fraction.size());
  const auto next = Add(a, Shifted(Decimal(1), unit));
  if (!next) return Answer::kUndecided;
  if (all) return MeetsCones(numbers, parts.negative, a, *next, unit, -kFar, kFar);
  return MeetsCones(numbers, parts.negative, a, *next, unit, 0, parts.has_point ? 0 : kFar);
}

// Texts with equal continuations in one spelling, where the case leaves so much free.
std::string Normal(const NumberCase& numbers, NumberForms forms, std::string text) {
  const Bounds& bounds = numbers.bounds;
  const bool simple = !numbers.listed && numbers.excluded.empty() && numbers.not_steps.empty() &&
                      (!bounds.has_low || bounds.low.is_zero()) &&
                      (!bounds.has_high || bounds.high.is_zero()) &&
                      (!numbers.step || numbers.step->digits() == "1");
  if (!simple) return text;
  const Parts parts(text);
  const std::string digits = parts.Digits();
  const std::size_t last = digits.find_last_not_of('0');
  const bool zero = last == std::string::npos;
  std::string out = parts.negative ? "-" : "";
  if (!numbers.step) {
    if (!parts.whole.empty()) out += zero || parts.whole == "0" ? "0" : "1";
    if (parts.has_point) out += ".";
    if (!parts.fraction.empty()) out += !zero && parts.whole == "0" ? "1" : "0";
    if (!parts.has_exponent) return out;
    out += "e";
    if (!parts.exponent.empty()) return out + "0";
    return parts.has_sign ? out + "+" : out;
  }
  if (zero || parts.whole.empty() || parts.has_exponent) return text;
  if (last < parts.whole.size()) {
    const std::size_t zeros = parts.whole.size() - 1 - last;
    const bool counts = forms == NumberForms::kAll || numbers.step->exponent() > 0;
    out += "1" + std::string(counts ? zeros : 0, '0');
    if (parts.has_point) out += "." + std::string(parts.fraction);
    return out;
  }
  const std::size_t at = last - parts.whole.size();
  out += (parts.whole == "0" ? "0." : "1.") + std::string(at, '0') + "1" +
         std::string(parts.fraction.size() - at - 1, '0');
  return out;
}

}  // namespace

bool NumberCase::Contains(const Decimal& value) const {
  if (listed) return In(*listed, value);
  if (!Inside(bounds, value) || In(excluded, value)) return false;
  if (step && !IsMultiple(value, *step)) return false;
  return std::none_of(not_steps.begin(), not_steps.end(),
                      [&](const Decimal& s) { return IsMultiple(value, s); });
}

NumberCase::Answer NumberCase::MeetsBounds(const Bounds& within) const {
  if (listed) {
    for (const Decimal& value : *listed) {
      if (Inside(within, value)) return Answer::kYes;
    }
    return Answer::kNo;
  }
  const Bounds both = Narrow(bounds, within);
  if (both.has_low && both.has_high) {
    if (both.low > both.high) return Answer::kNo;
    if (both.low == both.high) {
      return !both.low_open && !both.high_open && Contains(both.low) ? Answer::kYes : Answer::kNo;
    }
  }
  if (!step) return Answer::kYes;  // an interval is more than multiples and a few numbers
  for (const Decimal& other : not_steps) {
    if (IsMultiple(*step, other)) return Answer::kNo;
  }
  // step x (1 + k x everything) is a multiple of no other step, so an open side always has members.
  if (!both.has_low || !both.has_high) return Answer::kYes;
  auto candidate = NextMultiple(both.low, *step, both.low_open);
  for (int i = 0; i < kMaxCandidates; ++i) {
    if (!candidate) return Answer::kUndecided;
    if (!Inside(both, *candidate)) return Answer::kNo;
    if (Contains(*candidate)) return Answer::kYes;
    candidate = Add(*candidate, *step);
  }
  return Answer::kUndecided;
}

std::string NumberCase::Key() const {
  std::string key;
  const auto add = [&](const Decimal& value) { key += value.ToText() + ","; };
  if (bounds.has_low) {
    key += bounds.low_open ? "(" : "[";
    add(bounds.low);
  }
  key += ";";
  if (bounds.has_high) {
    key += bounds.high_open ? ")" : "]";
    add(bounds.high);
  }
  key += ";";
  if (step) add(*step);
  key += ";";
  for (const Decimal& value : not_steps) add(value);
  key += ";";
  for (const Decimal& value : excluded) add(value);
  if (listed) {
    key += ";=";
    for (const Decimal& value : *listed) add(value);
  }
  return key;
}

std::optional<NumberCase> Intersect(const NumberCase& a, const NumberCase& b, bool* too_long) {
  NumberCase result;
  if (a.listed || b.listed) {
    const NumberCase& list = a.listed ? a : b;
    const NumberCase& other = a.listed ? b : a;
    result.listed.emplace();
    for (const Decimal& value : *list.listed) {
      if (other.Contains(value)) result.listed->push_back(value);
    }
    if (result.listed->empty()) return {};
    return result;
  }
  result.bounds = Narrow(a.bounds, b.bounds);
  result.step = a.step ? a.step : b.step;
  if (a.step && b.step) {
    result.step = LeastCommonMultiple(*a.step, *b.step);
    if (!result.step) *too_long = true;
  }
  const auto merge = [](const std::vector<Decimal>& x, const std::vector<Decimal>& y) {
    std::vector<Decimal> out;
    std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(out));
    return out;
  };
  result.not_steps = merge(a.not_steps, b.not_steps);
  for (const Decimal& value : merge(a.excluded, b.excluded)) {
    NumberCase without = result;
    without.excluded.clear();
    if (without.Contains(value)) result.excluded.push_back(value);
  }
  if (result.MeetsBounds({}) == Answer::kNo) return {};
  return result;
}

NumberStep StepNumber(const NumberCase& numbers, NumberForms forms, std::string_view text,
                      char byte) {
  const bool all = forms == NumberForms::kAll;
  const Parts parts(text);
  if (!Grammatical(parts, text, byte, all || !OnlyIntegers(numbers), all)) return {};
  NumberStep step;
  step.text = std::string(text) + (byte == 'E' ? 'e' : byte);
  step.text = Normal(numbers, forms, std::move(step.text));
  step.alive = Alive(numbers, forms, step.text);
  return step;
}

bool AcceptsNumber(const NumberCase& numbers, NumberForms, std::string_view text) {
  if (!Parts(text).complete()) return false;
  const auto value = Decimal::Parse(text);
  return value && numbers.Contains(*value);
}

std::string FinishNumber(const NumberCase& numbers, NumberForms forms, std::string_view text) {
  struct Item {
    std::string text;
    std::string added;
  };
  std::vector<Item> items{{std::string(text), ""}};
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < items.size() && i < 20'000; ++i) {
    if (AcceptsNumber(numbers, forms, items[i].text)) return items[i].added;
    for (const char byte : std::string_view("0123456789.-e")) {
      NumberStep step = StepNumber(numbers, forms, items[i].text, byte);
      if (step.alive != Answer::kYes || !seen.insert(step.text).second) continue;
      items.push_back({std::move(step.text), items[i].added + byte});
    }
  }
  return {};
}

}  // namespace adjudge::schema
