#include "constraints/schema/case_space.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/check.h"

namespace adjudge::schema {
namespace {

constexpr std::uint32_t kMaxPrefix = 10'000;

// The type that an atom speaks of.
Type TypeOfAtom(FormulaKind kind) {
  switch (kind) {
    case FormulaKind::kBounds:
    case FormulaKind::kMultiple:
    case FormulaKind::kNumbers:
      return Type::kNumber;
    case FormulaKind::kLanguage:
    case FormulaKind::kLength:
    case FormulaKind::kTexts:
      return Type::kString;
    case FormulaKind::kMembers:
    case FormulaKind::kNames:
    case FormulaKind::kCount:
      return Type::kObject;
    default:
      return Type::kArray;
  }
}

bool IsAtom(FormulaKind kind) {
  return kind >= FormulaKind::kBounds && kind < FormulaKind::kSchema;
}

std::uint64_t Key(Type type, FormulaId formula) {
  return (static_cast<std::uint64_t>(formula) << 3) | static_cast<std::uint64_t>(type);
}

template <typename T>
void Append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The ranges outside least..most.
std::vector<std::pair<std::uint32_t, std::uint32_t>> Outside(std::uint32_t least,
                                                             std::uint32_t most) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  if (least > 0) ranges.emplace_back(0, least - 1);
  if (most != kNoBound) ranges.emplace_back(most + 1, kNoBound);
  return ranges;
}

}  // namespace

CaseSpace::CaseSpace(SchemaSet& set, const LoweringOptions& options, const SpaceLimits& limits)
    : set_(set),
      limits_(limits),
      languages_(limits.max_states),
      lowering_(set, formulas_, languages_, options),
      steps_(limits.max_steps) {}

bool CaseSpace::Spend(std::int64_t steps) {
  steps_ -= steps;
  if (steps_ >= 0 && formulas_.size() <= limits_.max_formulas) return true;
  SetError({ErrorCode::kLimit,
            steps_ < 0 ? "the schema needs more than max_steps = " +
                             std::to_string(limits_.max_steps) + " to be decided"
                       : "the schema needs more than max_formulas = " +
                             std::to_string(limits_.max_formulas),
            "/"});
  return false;
}

std::size_t CaseSpace::bytes() const {
  return formulas_.bytes() + languages_.bytes() + text_bytes_ + expanded_.size() * 80 +
         live_.size() * 80 + truths_.size() * 32 + case_truths_.size() * 32;
}

Status CaseSpace::LowerAll(FormulaId root) {
  std::vector<FormulaId> work{root};
  std::unordered_set<FormulaId> seen{root};
  const auto add = [&](FormulaId formula) {
    if (seen.insert(formula).second) work.push_back(formula);
  };
  while (!work.empty()) {
    const Formula node = formulas_.Get(work.back());
    work.pop_back();
    for (const FormulaId part : node.parts) add(part);
    switch (node.kind) {
      case FormulaKind::kSchema: {
        ADJUDGE_ASSIGN_OR_RETURN(const FormulaId lowered, lowering_.Lower(node.a, node.b));
        add(lowered);
        break;
      }
      case FormulaKind::kNames:
        add(node.a);
        break;
      case FormulaKind::kMembers:
      case FormulaKind::kItem:
      case FormulaKind::kItems:
      case FormulaKind::kContains:
        add(node.b);
        break;
      default:
        break;
    }
  }
  return {};
}

// Expansion.

Case CaseSpace::Top(Type type) {
  switch (type) {
    case Type::kNumber:
      return NumberCase{};
    case Type::kString:
      return StringCase{};
    case Type::kObject:
      return ObjectCase{};
    case Type::kArray:
      return ArrayCase{};
    default:
      return std::monostate{};
  }
}

const std::vector<CaseId>* CaseSpace::Cases(Type type, FormulaId formula) {
  const std::uint64_t key = Key(type, formula);
  if (const auto known = expanded_.find(key); known != expanded_.end()) return &known->second;
  if (!status_ || !Spend(8)) return nullptr;
  if (const auto open = expanding_.find(key); open != expanding_.end()) {
    if (open->second < questions_) {
      blocked_ = true;
      return nullptr;
    }
    const Formula& node = formulas_.Get(formula);
    SetError({ErrorCode::kMalformed, "the reference leads back to itself",
              node.kind == FormulaKind::kSchema ? set_.Where(node.a) : "/"});
    return nullptr;
  }
  expanding_[key] = questions_;
  CaseList list = Expand(type, formula);
  expanding_.erase(key);
  if (Stopped()) return nullptr;
  std::vector<CaseId> ids;
  std::set<CaseId> seen;
  for (Case& value : list) {
    const CaseId id = Intern(type, std::move(value));
    if (seen.insert(id).second) ids.push_back(id);
  }
  return &(expanded_[key] = std::move(ids));
}

const std::vector<CaseId>& CaseSpace::LiveCases(Type type, FormulaId formula) {
  static const std::vector<CaseId> kNone;
  const std::uint64_t key = Key(type, formula);
  if (const auto known = live_.find(key); known != live_.end()) return known->second;
  const std::vector<CaseId>* all = Cases(type, formula);
  if (all == nullptr) return kNone;
  std::vector<CaseId> ids;
  for (const CaseId id : std::vector<CaseId>(*all)) {
    if (CaseSatisfiable(id) == Truth::kYes) ids.push_back(id);
  }
  if (!status_) return kNone;
  return live_[key] = std::move(ids);
}

CaseSpace::CaseList CaseSpace::List(Type type, FormulaId formula) {
  const Formula& node = formulas_.Get(formula);
  if (IsAtom(node.kind)) return ExpandAtom(type, node);
  CaseList list;
  const std::vector<CaseId>* ids = Cases(type, formula);
  if (ids == nullptr) return list;
  for (const CaseId id : *ids) list.push_back(case_of(id));
  return list;
}

CaseSpace::CaseList CaseSpace::Expand(Type type, FormulaId formula) {
  const Formula node = formulas_.Get(formula);
  CaseList list;
  switch (node.kind) {
    case FormulaKind::kTrue:
      return {Top(type)};
    case FormulaKind::kFalse:
      return {};
    case FormulaKind::kType:
      if ((static_cast<TypeMask>(node.a) & Bit(type)) != 0) list.push_back(Top(type));
      return list;
    case FormulaKind::kSchema: {
      auto lowered = lowering_.Lower(node.a, node.b);
      if (!lowered) {
        SetError(lowered.error());
        return {};
      }
      list = List(type, node.negated ? formulas_.Not(*lowered) : *lowered);
      if (!status_ && status_.error().place == "/") status_.error().place = set_.Where(node.a);
      return list;
    }
    case FormulaKind::kAnd:
      return ExpandAnd(type, node.parts);
    case FormulaKind::kOne:
      return ExpandOne(type, node);
    case FormulaKind::kOr: {
      std::vector<std::string> texts;
      std::vector<Decimal> numbers;
      for (const FormulaId part : node.parts) {
        for (Case& value : List(type, part)) {
          // Lists join into one.
          if (auto* string = std::get_if<StringCase>(&value); string && string->listed) {
            texts.insert(texts.end(), string->listed->begin(), string->listed->end());
          } else if (auto* number = std::get_if<NumberCase>(&value); number && number->listed) {
            numbers.insert(numbers.end(), number->listed->begin(), number->listed->end());
          } else {
            list.push_back(std::move(value));
          }
        }
        if (Stopped()) return {};
      }
      const auto once = [](auto& values) {
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
      };
      if (!texts.empty()) {
        once(texts);
        StringCase string;
        string.listed = std::move(texts);
        list.emplace_back(std::move(string));
      }
      if (!numbers.empty()) {
        once(numbers);
        NumberCase number;
        number.listed = std::move(numbers);
        list.emplace_back(std::move(number));
      }
      return list;
    }
    default:
      return ExpandAtom(type, node);
  }
}

CaseSpace::CaseList CaseSpace::ExpandAtom(Type type, const Formula& atom) {
  if (TypeOfAtom(atom.kind) != type) {
    if (atom.negated) return {};
    return {Top(type)};
  }
  const Formula copy = atom;  // the pool may grow
  switch (type) {
    case Type::kNumber:
      return ExpandNumber(copy);
    case Type::kString:
      return ExpandString(copy);
    case Type::kObject:
      return ExpandObject(copy);
    default:
      return ExpandArray(copy);
  }
}

CaseSpace::CaseList CaseSpace::ExpandNumber(const Formula& atom) {
  NumberCase number;
  if (atom.kind == FormulaKind::kBounds) {
    const Bounds& bounds = formulas_.bounds(atom.a);
    if (!atom.negated) {
      number.bounds = bounds;
      return {number};
    }
    CaseList list;
    if (bounds.has_low) {
      NumberCase below;
      below.bounds.has_high = true;
      below.bounds.high = bounds.low;
      below.bounds.high_open = !bounds.low_open;
      list.emplace_back(below);
    }
    if (bounds.has_high) {
      NumberCase above;
      above.bounds.has_low = true;
      above.bounds.low = bounds.high;
      above.bounds.low_open = !bounds.high_open;
      list.emplace_back(above);
    }
    return list;
  }
  if (atom.kind == FormulaKind::kMultiple) {
    if (atom.negated) {
      number.not_steps.push_back(formulas_.decimal(atom.a));
    } else {
      number.step = formulas_.decimal(atom.a);
    }
  } else if (atom.negated) {
    number.excluded = formulas_.numbers(atom.a);
  } else {
    number.listed = formulas_.numbers(atom.a);
  }
  return {number};
}

CaseSpace::CaseList CaseSpace::ExpandString(const Formula& atom) {
  StringCase string;
  if (atom.kind == FormulaKind::kLength) {
    if (!atom.negated) {
      string.least = atom.c;
      string.most = atom.d;
      return {string};
    }
    CaseList list;
    for (const auto& [least, most] : Outside(atom.c, atom.d)) {
      string.least = least;
      string.most = most;
      list.emplace_back(string);
    }
    return list;
  }
  if (atom.kind == FormulaKind::kLanguage) {
    string.language = atom.a;
    if (atom.negated) {
      const auto opposite = languages_.Not(atom.a);
      if (!opposite) {
        SetError(opposite.error());
        return {};
      }
      string.language = *opposite;
    }
    if (languages_.Get(string.language).empty()) return {};
    return {string};
  }
  if (atom.negated) {
    string.excluded = formulas_.texts(atom.a);
  } else {
    string.listed = formulas_.texts(atom.a);
    if (string.listed->empty()) return {};
  }
  return {string};
}

CaseSpace::CaseList CaseSpace::ExpandObject(const Formula& atom) {
  ObjectCase object;
  if (atom.kind == FormulaKind::kMembers) {
    if (atom.negated) {
      const FormulaId opposite = formulas_.Not(atom.b);
      if (opposite == FormulaPool::kFalseId) return {};
      object.some.emplace_back(atom.a, opposite);
    } else {
      object.all.emplace_back(atom.a, atom.b);
    }
    return {object};
  }
  if (atom.kind == FormulaKind::kNames) {
    NameSet others = NamesOf(atom.a);
    others.negated = !others.negated;
    const NameSetId id = formulas_.AddNames(std::move(others));
    if (atom.negated) {
      object.some.emplace_back(id, FormulaPool::kTrueId);
    } else {
      object.all.emplace_back(id, FormulaPool::kFalseId);
    }
    return {object};
  }
  if (!atom.negated) {
    object.least = atom.c;
    object.most = atom.d;
    return {object};
  }
  CaseList list;
  for (const auto& [least, most] : Outside(atom.c, atom.d)) {
    object.least = least;
    object.most = most;
    list.emplace_back(object);
  }
  return list;
}

CaseSpace::CaseList CaseSpace::ExpandArray(const Formula& atom) {
  ArrayCase array;
  const auto index = static_cast<std::uint32_t>(atom.a);
  const bool indexed = atom.kind == FormulaKind::kItem || atom.kind == FormulaKind::kItems;
  if (indexed && index > kMaxPrefix) {
    SetError({ErrorCode::kLimit, "more than " + std::to_string(kMaxPrefix) + " prefix items", "/"});
    return {};
  }
  CaseList list;
  switch (atom.kind) {
    case FormulaKind::kItem:
      array.prefix.assign(index + 1, FormulaPool::kTrueId);
      array.prefix[index] = atom.negated ? formulas_.Not(atom.b) : atom.b;
      if (atom.negated) array.least = index + 1;
      return {array};
    case FormulaKind::kItems:
      if (atom.negated) {
        array.contains.push_back({index, formulas_.Not(atom.b), 1, kNoBound});
      } else {
        array.prefix.assign(index, FormulaPool::kTrueId);
        array.rest = atom.b;
      }
      return {array};
    case FormulaKind::kContains: {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges{{atom.c, atom.d}};
      if (atom.negated) ranges = Outside(atom.c, atom.d);
      for (const auto& [least, most] : ranges) {
        if (least > most) continue;
        ArrayCase one;
        if (most == 0) {
          one.prefix.assign(index, FormulaPool::kTrueId);
          one.rest = formulas_.Not(atom.b);
        } else {
          one.contains.push_back({index, atom.b, least, most});
        }
        list.emplace_back(std::move(one));
      }
      return list;
    }
    case FormulaKind::kSize: {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges{{atom.c, atom.d}};
      if (atom.negated) ranges = Outside(atom.c, atom.d);
      for (const auto& [least, most] : ranges) {
        if (least > most) continue;
        array.least = least;
        array.most = most;
        list.emplace_back(array);
      }
      return list;
    }
    default:  // kUnique
      (atom.negated ? array.repeats : array.unique) = true;
      return {array};
  }
}

CaseSpace::CaseList CaseSpace::ExpandAnd(Type type, const std::vector<FormulaId>& parts) {
  CaseList result{Top(type)};
  std::vector<CaseList> several;
  for (const FormulaId part : parts) {
    CaseList list = List(type, part);
    if (Stopped() || list.empty()) return {};
    if (list.size() > 1) {
      several.push_back(std::move(list));
    } else if (!Conjoin(result[0], list[0])) {
      return {};
    }
  }
  std::stable_sort(several.begin(), several.end(),
                   [](const CaseList& a, const CaseList& b) { return a.size() < b.size(); });
  for (const CaseList& list : several) {
    result = Product(std::move(result), list);
    if (Stopped() || result.empty()) return {};
  }
  return result;
}

CaseSpace::CaseList CaseSpace::Product(CaseList a, const CaseList& b) {
  CaseList result;
  const bool prune = b.size() > 1;
  for (const Case& x : a) {
    for (const Case& y : b) {
      if (!Spend(4)) return {};
      Case both = x;
      if (!Conjoin(both, y)) continue;
      if (prune && both.index() != 0) {
        const CaseId id = Intern(static_cast<Type>(both.index() == 1   ? Type::kNumber
                                                   : both.index() == 2 ? Type::kString
                                                   : both.index() == 3 ? Type::kObject
                                                                       : Type::kArray),
                                 both);
        ++questions_;
        const int outer = lowest_;
        const Truth truth = CaseSatisfiable(id);
        lowest_ = outer;  // an open answer only keeps the case
        --questions_;
        if (truth == Truth::kNo) continue;
      }
      if (Stopped()) return {};
      result.push_back(std::move(both));
      if (result.size() > limits_.max_cases) {
        SetError({ErrorCode::kLimit,
                  "its alternatives need more than max_cases = " +
                      std::to_string(limits_.max_cases) + " cases",
                  "/"});
        return {};
      }
    }
  }
  return result;
}

bool CaseSpace::Exclude(Type type, FormulaId a, FormulaId b) {
  const CaseList x = List(type, a);
  const CaseList y = List(type, b);
  for (const Case& left : x) {
    for (const Case& right : y) {
      if (!Spend(4)) return false;
      Case both = left;
      if (!Conjoin(both, right)) continue;
      if (both.index() == 0) return false;
      const CaseId id = Intern(type, std::move(both));
      ++questions_;
      const int outer = lowest_;
      const Truth truth = CaseSatisfiable(id);
      lowest_ = outer;
      --questions_;
      if (truth != Truth::kNo) return false;
    }
  }
  return !Stopped();
}

CaseSpace::CaseList CaseSpace::ExpandOne(Type type, const Formula& one) {
  CaseList result;
  const auto& parts = one.parts;
  const auto add = [&](CaseList list) {
    for (Case& value : list) result.push_back(std::move(value));
  };
  if (one.negated) {
    std::vector<FormulaId> none;
    for (const FormulaId part : parts) none.push_back(formulas_.Not(part));
    add(ExpandAnd(type, none));
    for (std::size_t i = 0; i < parts.size() && !Stopped(); ++i) {
      for (std::size_t j = i + 1; j < parts.size() && !Stopped(); ++j) {
        if (Exclude(type, parts[i], parts[j])) continue;
        add(Product(List(type, parts[i]), List(type, parts[j])));
      }
    }
    return result;
  }
  std::vector<std::vector<bool>> apart(parts.size(), std::vector<bool>(parts.size(), false));
  for (std::size_t i = 0; i < parts.size() && !Stopped(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      apart[i][j] = apart[j][i] = Exclude(type, parts[i], parts[j]);
    }
  }
  for (std::size_t i = 0; i < parts.size() && !Stopped(); ++i) {
    std::vector<FormulaId> branch{parts[i]};
    for (std::size_t j = 0; j < parts.size(); ++j) {
      if (j != i && !apart[i][j]) branch.push_back(formulas_.Not(parts[j]));
    }
    add(branch.size() == 1 ? List(type, parts[i]) : ExpandAnd(type, branch));
  }
  return result;
}

bool CaseSpace::Conjoin(Case& into, const Case& other) {
  if (auto* number = std::get_if<NumberCase>(&into)) {
    const auto& more = std::get<NumberCase>(other);
    if (more.is_free()) return true;
    bool too_long = false;
    auto both = Intersect(*number, more, &too_long);
    if (too_long) {
      SetError({ErrorCode::kLimit, "the common multiple of the steps has too many digits", "/"});
    }
    if (both) *number = std::move(*both);
    return both.has_value();
  }
  if (auto* string = std::get_if<StringCase>(&into)) {
    auto both = Intersect(languages_, *string, std::get<StringCase>(other));
    if (!both) {
      SetError(both.error());
      return false;
    }
    if (*both) *string = std::move(**both);
    return both->has_value();
  }
  if (auto* object = std::get_if<ObjectCase>(&into)) {
    const auto& more = std::get<ObjectCase>(other);
    object->all.insert(object->all.end(), more.all.begin(), more.all.end());
    object->some.insert(object->some.end(), more.some.begin(), more.some.end());
    object->least = std::max(object->least, more.least);
    object->most = std::min(object->most, more.most);
    return object->least <= object->most;
  }
  if (auto* array = std::get_if<ArrayCase>(&into)) {
    const auto& more = std::get<ArrayCase>(other);
    const auto n = std::max(array->prefix.size(), more.prefix.size());
    for (std::size_t i = 0; i < n; ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      const FormulaId both = formulas_.And(array->At(index), more.At(index));
      if (i < array->prefix.size()) {
        array->prefix[i] = both;
      } else {
        array->prefix.push_back(both);
      }
    }
    array->rest = formulas_.And(array->rest, more.rest);
    for (const auto& contains : more.contains) {
      if (std::find(array->contains.begin(), array->contains.end(), contains) ==
          array->contains.end()) {
        array->contains.push_back(contains);
      }
    }
    array->least = std::max(array->least, more.least);
    array->most = std::min(array->most, more.most);
    array->unique |= more.unique;
    array->repeats |= more.repeats;
    return array->least <= array->most && !(array->unique && array->repeats);
  }
  return true;
}

void CaseSpace::Normalise(Case& value) {
  if (auto* object = std::get_if<ObjectCase>(&value)) {
    std::unordered_map<NameSetId, std::size_t> at;
    std::vector<std::pair<NameSetId, FormulaId>> all;
    for (const auto& [names, formula] : object->all) {
      const auto [known, fresh] = at.try_emplace(names, all.size());
      if (fresh) {
        all.emplace_back(names, formula);
      } else {
        FormulaId& joined = all[known->second].second;
        joined = formulas_.And(joined, formula);
      }
    }
    object->all = std::move(all);
    auto& some = object->some;
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
  } else if (auto* array = std::get_if<ArrayCase>(&value)) {
    if (array->most <= array->prefix.size()) {
      array->prefix.resize(array->most);
      array->rest = FormulaPool::kTrueId;
    }
    while (!array->prefix.empty() && array->prefix.back() == array->rest) array->prefix.pop_back();
    if (array->most <= 1) array->unique = false;
  }
}

std::string CaseSpace::KeyOf(const Case& value) const {
  std::string key;
  if (const auto* number = std::get_if<NumberCase>(&value)) {
    key = "n" + number->Key();
  } else if (const auto* string = std::get_if<StringCase>(&value)) {
    key = "s" + string->Key();
  } else if (const auto* object = std::get_if<ObjectCase>(&value)) {
    key = "o";
    Append(key, object->least);
    Append(key, object->most);
    Append(key, object->all.size());
    for (const auto& [names, formula] : object->all) {
      Append(key, names);
      Append(key, formula);
    }
    for (const auto& [names, formula] : object->some) {
      Append(key, names);
      Append(key, formula);
    }
  } else if (const auto* array = std::get_if<ArrayCase>(&value)) {
    key = "a";
    Append(key, array->least);
    Append(key, array->most);
    Append(key, array->unique);
    Append(key, array->repeats);
    Append(key, array->rest);
    Append(key, array->prefix.size());
    for (const FormulaId formula : array->prefix) Append(key, formula);
    for (const auto& contains : array->contains) {
      Append(key, contains.from);
      Append(key, contains.value);
      Append(key, contains.least);
      Append(key, contains.most);
    }
  } else {
    key = "-";
  }
  return key;
}

CaseId CaseSpace::Intern(Type type, Case value) {
  Normalise(value);
  std::string key = KeyOf(value);
  const auto [at, fresh] =
      case_ids_.try_emplace(std::move(key), static_cast<CaseId>(cases_.size()));
  if (fresh) {
    text_bytes_ += 3 * at->first.size() + sizeof(Case) + 64;
    cases_.push_back(std::move(value));
    case_types_.push_back(type);
  }
  return at->second;
}

// Questions. An answer that is open hangs on a question further out; `lowest_` is the outermost
// such one. A question that comes out open and hangs on nothing but itself has no finite witness:
// the answer is no.

Truth CaseSpace::Satisfiable(FormulaId formula) {
  if (formula == FormulaPool::kTrueId) return Truth::kYes;
  if (formula == FormulaPool::kFalseId) return Truth::kNo;
  if (const auto known = truths_.find(formula); known != truths_.end()) return known->second;
  if (const auto open = asking_.find(formula); open != asking_.end()) {
    lowest_ = std::min(lowest_, open->second);
    return Truth::kOpen;
  }
  if (!status_ || !Spend(8)) return Truth::kNo;
  const int depth = ++questions_;
  const int outer_lowest = lowest_;
  lowest_ = 1 << 30;
  asking_[formula] = depth;
  Truth truth = Truth::kNo;
  for (int t = 0; t < kTypes && truth != Truth::kYes; ++t) {
    const std::vector<CaseId>* ids = Cases(static_cast<Type>(t), formula);
    if (ids == nullptr) {
      if (blocked_) {  // hangs on an expansion, which no question can close
        blocked_ = false;
        lowest_ = -1;
        truth = Truth::kOpen;
      }
      continue;
    }
    for (const CaseId id : std::vector<CaseId>(*ids)) {
      const Truth of_case = CaseSatisfiable(id);
      if (of_case == Truth::kNo) continue;
      truth = of_case;
      if (truth == Truth::kYes) break;
    }
  }
  asking_.erase(formula);
  --questions_;
  if (truth == Truth::kOpen && lowest_ >= depth) truth = Truth::kNo;
  if (truth != Truth::kOpen && status_) truths_[formula] = truth;
  lowest_ = truth == Truth::kOpen ? std::min(outer_lowest, lowest_) : outer_lowest;
  return truth;
}

Truth CaseSpace::CaseSatisfiable(CaseId id) {
  if (const auto known = case_truths_.find(id); known != case_truths_.end()) return known->second;
  Truth truth = Truth::kYes;
  const Case value = case_of(id);
  if (const auto* number = std::get_if<NumberCase>(&value)) {
    const auto answer = number->MeetsBounds({});
    if (answer == NumberCase::Answer::kUndecided) {
      SetError({ErrorCode::kLimit,
                "whether a number satisfies all of multipleOf, its negations and the bounds was "
                "not found out within 2,000 candidates",
                "/"});
    }
    truth = answer == NumberCase::Answer::kYes ? Truth::kYes : Truth::kNo;
  } else if (const auto* string = std::get_if<StringCase>(&value)) {
    truth = string->Start(languages_) ? Truth::kYes : Truth::kNo;
  } else if (std::holds_alternative<ObjectCase>(value)) {
    const ObjectPlan* plan = Plan(id);
    if (plan == nullptr) return Truth::kNo;
    truth = Completable(*plan, std::vector<bool>(plan->slots.size()), 0, 0,
                        std::vector<std::uint32_t>(plan->others.size()), 0);
  } else if (const auto* array = std::get_if<ArrayCase>(&value)) {
    ArrayState start;
    start.counts.resize(array->contains.size());
    truth = Completable(*array, start);
  }
  if (truth != Truth::kOpen && status_) case_truths_[id] = truth;
  return truth;
}

NameSet CaseSpace::NamesOf(FormulaId formula) {
  NameSet set;
  const std::vector<CaseId>* ids = Cases(Type::kString, formula);
  if (ids == nullptr) return set;
  for (const CaseId id : *ids) {
    const StringCase& string = this->string(id);
    if (string.listed) {
      set.names.insert(set.names.end(), string.listed->begin(), string.listed->end());
      continue;
    }
    auto language = languages_.OfLength(string.least, string.most);
    if (language) language = languages_.And(*language, string.language);
    if (language && !string.excluded.empty()) {
      auto without = languages_.OfTexts(string.excluded);
      if (without) without = languages_.Not(*without);
      language = without ? languages_.And(*language, *without) : without;
    }
    if (!language) {
      SetError(language.error());
      return set;
    }
    set.languages.push_back(*language);
  }
  return set;
}

bool CaseSpace::Matches(const NameSet& set, const std::string& name) const {
  bool in = std::binary_search(set.names.begin(), set.names.end(), name);
  for (const LanguageId language : set.languages) {
    in = in || languages_.Get(language).Contains(name);
  }
  return in != set.negated;
}

}  // namespace adjudge::schema
