// CaseSpace: arrays.
#include <algorithm>
#include <map>
#include <set>

#include "constraints/schema/case_space.h"
#include "engine/base/check.h"

namespace adjudge::schema {
namespace {

constexpr std::size_t kMaxChoices = 8;
constexpr std::uint32_t kMaxValues = 64;

Truth Least(Truth a, Truth b) {
  if (a == Truth::kNo || b == Truth::kNo) return Truth::kNo;
  return a == Truth::kOpen || b == Truth::kOpen ? Truth::kOpen : Truth::kYes;
}

std::string StateKey(const CaseSpace::ArrayState& at) {
  std::string key = std::to_string(at.index) + "," + std::to_string(at.size);
  for (const std::uint32_t count : at.counts) key += "," + std::to_string(count);
  return key;
}

}  // namespace

std::uint32_t CaseSpace::Horizon(const ArrayCase& array) {
  auto horizon = static_cast<std::uint32_t>(array.prefix.size());
  for (const auto& contains : array.contains) horizon = std::max(horizon, contains.from);
  return horizon;
}

CaseSpace::ArrayState CaseSpace::Advance(const ArrayCase& array, const ArrayState& at) {
  ArrayState next = at;
  next.index = std::min(at.index + 1, Horizon(array));
  next.size = at.size + 1;
  if (array.most == kNoBound) next.size = std::min(next.size, array.least);
  return next;
}

bool CaseSpace::Ends(const ArrayCase& array, const ArrayState& at) const {
  if (at.size < array.least || at.size > array.most) return false;
  for (std::size_t j = 0; j < array.contains.size(); ++j) {
    if (at.counts[j] < array.contains[j].least || at.counts[j] > array.contains[j].most)
      return false;
  }
  return !array.repeats || at.repeated;
}

FormulaId CaseSpace::ConstOf(const std::string& canonical) {
  const auto known = consts_.find(canonical);
  if (known != consts_.end()) return known->second;
  const auto value = ParseJson(canonical);
  ADJUDGE_CHECK_MSG(value.has_value(), canonical.c_str());
  return consts_[canonical] = formulas_.Const(*value);
}

FormulaId CaseSpace::Without(FormulaId formula, const std::vector<std::string>& values) {
  std::vector<FormulaId> parts{formula};
  for (const std::string& value : values) parts.push_back(formulas_.Not(ConstOf(value)));
  return formulas_.And(std::move(parts));
}

CaseSpace::ArrayState CaseSpace::AfterItem(const ArrayCase& array, ArrayState next,
                                           const JsonValue& value) const {
  if (!Remembers(array) || next.repeated) return next;
  const std::string text = value.Canonical();
  const auto at = std::lower_bound(next.seen.begin(), next.seen.end(), text);
  if (at != next.seen.end() && *at == text) {
    next.repeated = true;
    next.seen.clear();  // what was seen no longer matters
  } else {
    next.seen.insert(at, text);
  }
  return next;
}

std::vector<CaseSpace::ArrayStep> CaseSpace::ArraySteps(const ArrayCase& array,
                                                        const ArrayState& at) {
  std::vector<ArrayStep> steps;
  if (at.size >= array.most) return steps;
  ArrayStep first;
  first.value = array.At(at.index);
  first.next = Advance(array, at);
  std::vector<std::size_t> choices;
  for (std::size_t j = 0; j < array.contains.size(); ++j) {
    const auto& contains = array.contains[j];
    if (at.index < contains.from) continue;
    if (contains.most == kNoBound && at.counts[j] >= contains.least) continue;
    if (at.counts[j] >= contains.most) {
      first.value = formulas_.And(first.value, formulas_.Not(contains.value));
    } else {
      choices.push_back(j);
    }
  }
  if (choices.size() > kMaxChoices) {
    SetError({ErrorCode::kLimit,
              "more than " + std::to_string(kMaxChoices) + " contains are counted at once", "/"});
    return steps;
  }
  for (std::uint32_t chosen = 0; chosen < (1U << choices.size()); ++chosen) {
    ArrayStep step = first;
    std::vector<FormulaId> parts{first.value};
    for (std::size_t k = 0; k < choices.size(); ++k) {
      const auto& contains = array.contains[choices[k]];
      const bool in = (chosen >> k & 1U) != 0;
      parts.push_back(in ? contains.value : formulas_.Not(contains.value));
      std::uint32_t& count = step.next.counts[choices[k]];
      count += in ? 1 : 0;
      if (contains.most == kNoBound) count = std::min(count, contains.least);
    }
    step.value = formulas_.And(std::move(parts));
    if (array.unique) {
      AddUniqueSteps(array, at, std::move(step), steps);
      continue;
    }
    if (array.repeats && !at.repeated) {
      // The item equals an earlier one, or another one comes that equals it.
      std::vector<FormulaId> same;
      for (const std::string& value : at.seen) same.push_back(ConstOf(value));
      ArrayStep again = step;
      again.value = formulas_.And(step.value, formulas_.Or(std::move(same)));
      again.next.repeated = true;
      again.next.seen.clear();
      steps.push_back(std::move(again));
      if (array.most - at.size < 2) continue;
      steps.push_back(std::move(step));
      continue;
    }
    steps.push_back(std::move(step));
  }
  steps.erase(std::remove_if(steps.begin(), steps.end(),
                             [&](const ArrayStep& step) {
                               if (Satisfiable(step.value) != Truth::kYes) return true;
                               if (array.repeats && !step.next.repeated) return false;
                               return Completable(array, step.next) != Truth::kYes;
                             }),
              steps.end());
  return steps;
}

void CaseSpace::AddUniqueSteps(const ArrayCase& array, const ArrayState& at, ArrayStep step,
                               std::vector<ArrayStep>& steps) {
  step.value = Without(step.value, at.seen);
  const std::uint32_t still = array.least > at.size + 1 ? array.least - at.size - 1 : 0;
  if (still == 0) {
    steps.push_back(std::move(step));
    return;
  }
  // Later places with few values: an item that takes one of those is looked at by itself.
  std::vector<std::string> scarce;
  for (std::uint32_t i = 1; i <= still; ++i) {
    const std::uint32_t index = std::min(at.index + i, Horizon(array));
    const auto values = Values(Without(array.At(index), at.seen), still + 1);
    if (values.size() <= still) scarce.insert(scarce.end(), values.begin(), values.end());
    if (index == Horizon(array)) break;
  }
  std::sort(scarce.begin(), scarce.end());
  scarce.erase(std::unique(scarce.begin(), scarce.end()), scarce.end());
  for (const std::string& value : scarce) {
    ArrayStep one = step;
    one.value = formulas_.And(step.value, ConstOf(value));
    one.next.seen.insert(std::lower_bound(one.next.seen.begin(), one.next.seen.end(), value),
                         value);
    if (Satisfiable(one.value) != Truth::kYes || Completable(array, one.next) != Truth::kYes)
      continue;
    one.next.seen = at.seen;
    steps.push_back(std::move(one));
  }
  step.value = Without(step.value, scarce);
  steps.push_back(std::move(step));
}

Truth CaseSpace::Completable(const ArrayCase& array, const ArrayState& at) {
  if (at.size > array.most) return Truth::kNo;
  if (array.repeats && !at.repeated) {
    if (!array.prefix.empty() || !array.contains.empty()) {
      SetError({ErrorCode::kUnsupported,
                "uniqueItems that must fail, beside items told apart by place or contains", "/"});
      return Truth::kNo;
    }
    // One value twice, wherever items may be anything of `rest`; or one that was seen.
    std::uint32_t needed = at.seen.empty() ? 2 : 1;
    if (array.most - at.size < needed) return Truth::kNo;
    return Satisfiable(array.rest);
  }
  if (array.unique && array.least > 0) {
    const Truth counted = array.contains.empty() ? Truth::kYes : CountedCompletable(array, at);
    return counted == Truth::kNo ? counted : Least(counted, UniqueCompletable(array, at));
  }
  if (!array.contains.empty()) {
    if (array.unique) {
      for (const auto& contains : array.contains) {
        if (contains.least <= 1 && contains.most == kNoBound) continue;
        const auto enough = static_cast<std::uint32_t>(at.seen.size()) + contains.least + 1;
        if (enough > kMaxValues || Values(contains.value, enough).size() < enough) {
          SetError(
              {ErrorCode::kUnsupported, "uniqueItems beside counted contains of few values", "/"});
          return Truth::kNo;
        }
      }
    }
    return CountedCompletable(array, at);
  }
  Truth truth = Truth::kYes;
  const auto n = static_cast<std::uint32_t>(array.prefix.size());
  std::uint32_t index = at.index;
  for (std::uint32_t size = at.size; size < array.least; ++size) {
    truth = Least(truth, Satisfiable(array.At(index)));
    if (truth == Truth::kNo || index >= n) return truth;
    ++index;
  }
  return truth;
}

Truth CaseSpace::CountedCompletable(const ArrayCase& array, const ArrayState& at) {
  std::set<std::string> seen{StateKey(at)};
  std::vector<ArrayState> work{at};
  bool open = false;
  ArrayCase plain = array;
  plain.unique = false;
  while (!work.empty()) {
    const ArrayState state = std::move(work.back());
    work.pop_back();
    if (Ends(plain, state)) return Truth::kYes;
    if (!Spend(32)) return Truth::kNo;
    if (state.size >= array.most) continue;
    // As ArraySteps, but without asking what lies behind.
    std::vector<std::pair<FormulaId, ArrayState>> next{
        {array.At(state.index), Advance(array, state)}};
    for (std::size_t j = 0; j < array.contains.size(); ++j) {
      const auto& contains = array.contains[j];
      if (state.index < contains.from) continue;
      if (contains.most == kNoBound && state.counts[j] >= contains.least) continue;
      std::vector<std::pair<FormulaId, ArrayState>> split;
      for (auto& [value, to] : next) {
        split.emplace_back(formulas_.And(value, formulas_.Not(contains.value)), to);
        if (state.counts[j] >= contains.most) continue;
        ArrayState counted = to;
        ++counted.counts[j];
        if (contains.most == kNoBound) {
          counted.counts[j] = std::min(counted.counts[j], contains.least);
        }
        split.emplace_back(formulas_.And(value, contains.value), std::move(counted));
      }
      next = std::move(split);
    }
    for (auto& [value, to] : next) {
      const std::string key = StateKey(to);
      if (seen.count(key) > 0) continue;
      const Truth truth = Satisfiable(value);
      if (truth == Truth::kNo) continue;
      if (truth == Truth::kOpen) {
        open = true;
        continue;
      }
      seen.insert(key);
      work.push_back(std::move(to));
    }
  }
  return open ? Truth::kOpen : Truth::kNo;
}

std::vector<std::string> CaseSpace::Values(FormulaId formula, std::uint32_t cap) {
  std::vector<std::string> values;
  if (cap > kMaxValues) {
    SetError({ErrorCode::kLimit,
              "uniqueItems beside minItems of more than " + std::to_string(kMaxValues) +
                  " over few values",
              "/"});
    return values;
  }
  while (values.size() < cap && !Stopped()) {
    const auto text = Shortest(Without(formula, values));
    if (!text) break;
    values.push_back(ParseJson(*text)->Canonical());
  }
  return values;
}

Truth CaseSpace::UniqueCompletable(const ArrayCase& array, const ArrayState& at) {
  const std::uint32_t still = array.least > at.size ? array.least - at.size : 0;
  if (still == 0) return Truth::kYes;
  // Places with endlessly many values take care of themselves; the others are matched to values.
  std::vector<std::vector<std::string>> places;
  for (std::uint32_t i = 0; i < still; ++i) {
    const FormulaId value = array.At(std::min(at.index + i, Horizon(array)));
    const Truth truth = Satisfiable(value);
    if (truth != Truth::kYes) return truth;
    bool many = value == FormulaPool::kTrueId;
    for (const Type type : {Type::kNumber, Type::kString, Type::kArray, Type::kObject}) {
      if (many || type == Type::kArray || type == Type::kObject) break;
      const std::vector<CaseId>* ids = Cases(type, value);
      if (ids == nullptr) continue;
      for (const CaseId id : std::vector<CaseId>(*ids)) {
        if (CaseSatisfiable(id) != Truth::kYes) continue;
        if (type == Type::kString) {
          const StringCase& string = this->string(id);
          many |= !string.listed && string.most == kNoBound &&
                  languages_.Get(string.language).infinite();
        } else {
          const NumberCase& number = this->number(id);
          many |= !number.listed && (!number.bounds.has_low || !number.bounds.has_high);
        }
      }
    }
    if (many && i >= array.prefix.size()) break;  // all later places are the same
    if (many) continue;
    auto values = Values(Without(value, at.seen), still);
    if (Stopped()) return Truth::kNo;
    if (values.empty()) return Truth::kNo;
    if (values.size() < still) places.push_back(std::move(values));
  }
  // Augmenting paths (Kuhn).
  std::map<std::string, std::size_t> owner;
  std::set<std::string> tried;
  const auto place = [&](const auto& self, std::size_t p) -> bool {
    for (const std::string& value : places[p]) {
      if (!tried.insert(value).second) continue;
      const auto taken = owner.find(value);
      if (taken != owner.end() && !self(self, taken->second)) continue;
      owner[value] = p;
      return true;
    }
    return false;
  };
  for (std::size_t p = 0; p < places.size(); ++p) {
    tried.clear();
    if (!place(place, p)) return Truth::kNo;
  }
  return Truth::kYes;
}

}  // namespace adjudge::schema
