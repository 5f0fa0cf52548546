#include "constraints/schema/formula.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace adjudge::schema {
namespace {

template <typename T>
void Append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendText(std::string& key, const std::string& text) {
  Append(key, text.size());
  key += text;
}

template <typename T>
void SortOnce(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::string KeyOf(const Formula& node) {
  std::string key;
  Append(key, node.kind);
  Append(key, node.negated);
  Append(key, node.a);
  Append(key, node.b);
  Append(key, node.c);
  Append(key, node.d);
  key.append(reinterpret_cast<const char*>(node.parts.data()),
             node.parts.size() * sizeof(FormulaId));
  return key;
}

}  // namespace

FormulaPool::FormulaPool() {
  Intern({FormulaKind::kTrue});
  Intern({FormulaKind::kFalse});
}

FormulaId FormulaPool::Intern(Formula node) {
  std::string key = KeyOf(node);
  const auto found = ids_.find(key);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<FormulaId>(nodes_.size());
  bytes_ += 2 * key.size() + sizeof(Formula) + 32;
  ids_.emplace(std::move(key), id);
  nodes_.push_back(std::move(node));
  return id;
}

FormulaId FormulaPool::Combine(FormulaKind kind, std::vector<FormulaId> parts) {
  const FormulaId neutral = kind == FormulaKind::kAnd ? kTrueId : kFalseId;
  const FormulaId absorbing = kind == FormulaKind::kAnd ? kFalseId : kTrueId;
  std::vector<FormulaId> flat;
  for (const FormulaId part : parts) {
    if (part == absorbing) return absorbing;
    if (part == neutral) continue;
    const Formula& node = Get(part);
    if (node.kind == kind) {
      flat.insert(flat.end(), node.parts.begin(), node.parts.end());
    } else {
      flat.push_back(part);
    }
  }
  // Each once, in the order in which they came: that of the keys of an object, in the end.
  std::unordered_set<FormulaId> seen;
  flat.erase(std::remove_if(flat.begin(), flat.end(),
                            [&](FormulaId part) { return !seen.insert(part).second; }),
             flat.end());
  if (flat.empty()) return neutral;
  if (flat.size() == 1) return flat[0];
  for (const FormulaId part : flat) {
    const auto opposite = nots_.find(part);
    if (opposite != nots_.end() && seen.count(opposite->second) > 0) return absorbing;
  }
  Formula node;
  node.kind = kind;
  node.parts = std::move(flat);
  return Intern(std::move(node));
}

FormulaId FormulaPool::And(std::vector<FormulaId> parts) {
  return Combine(FormulaKind::kAnd, std::move(parts));
}

FormulaId FormulaPool::Or(std::vector<FormulaId> parts) {
  return Combine(FormulaKind::kOr, std::move(parts));
}

FormulaId FormulaPool::Not(FormulaId a) {
  if (a == kTrueId) return kFalseId;
  if (a == kFalseId) return kTrueId;
  if (const auto known = nots_.find(a); known != nots_.end()) return known->second;
  const Formula node = Get(a);
  FormulaId result = 0;
  if (node.kind == FormulaKind::kAnd || node.kind == FormulaKind::kOr) {
    std::vector<FormulaId> parts;
    parts.reserve(node.parts.size());
    for (const FormulaId part : node.parts) parts.push_back(Not(part));
    result = node.kind == FormulaKind::kAnd ? Or(std::move(parts)) : And(std::move(parts));
  } else if (node.kind == FormulaKind::kType) {
    result = OfType(kAllTypes & ~static_cast<TypeMask>(node.a));
  } else {
    Formula opposite = node;
    opposite.negated = !node.negated;
    result = Intern(std::move(opposite));
  }
  nots_[a] = result;
  nots_[result] = a;
  return result;
}

FormulaId FormulaPool::ExactlyOne(std::vector<FormulaId> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::remove(parts.begin(), parts.end(), kFalseId), parts.end());
  if (parts.empty()) return kFalseId;
  if (parts.size() == 1) return parts[0];
  Formula node{FormulaKind::kOne};
  node.parts = std::move(parts);
  return Intern(std::move(node));
}

FormulaId FormulaPool::OfType(TypeMask mask) {
  if (mask == kAllTypes) return kTrueId;
  if (mask == 0) return kFalseId;
  Formula node{FormulaKind::kType};
  node.a = static_cast<std::int32_t>(mask);
  return Intern(std::move(node));
}

FormulaId FormulaPool::InBounds(const Bounds& bounds) {
  std::string key = "b";
  Append(key, bounds.has_low);
  Append(key, bounds.has_high);
  Append(key, bounds.low_open);
  Append(key, bounds.high_open);
  AppendText(key, bounds.low.ToText());
  AppendText(key, bounds.high.ToText());
  const auto [at, fresh] = payload_ids_.try_emplace(key, static_cast<std::int32_t>(bounds_.size()));
  if (fresh) bounds_.push_back(bounds);
  Formula node{FormulaKind::kBounds};
  node.a = at->second;
  return Intern(std::move(node));
}

FormulaId FormulaPool::MultipleOf(const Decimal& step) {
  const auto [at, fresh] =
      payload_ids_.try_emplace("d" + step.ToText(), static_cast<std::int32_t>(decimals_.size()));
  if (fresh) decimals_.push_back(step);
  Formula node{FormulaKind::kMultiple};
  node.a = at->second;
  return Intern(std::move(node));
}

FormulaId FormulaPool::InNumbers(std::vector<Decimal> numbers) {
  SortOnce(numbers);
  std::string key = "n";
  for (const Decimal& number : numbers) AppendText(key, number.ToText());
  const auto [at, fresh] =
      payload_ids_.try_emplace(std::move(key), static_cast<std::int32_t>(numbers_.size()));
  if (fresh) numbers_.push_back(std::move(numbers));
  Formula node{FormulaKind::kNumbers};
  node.a = at->second;
  return Intern(std::move(node));
}

FormulaId FormulaPool::InLanguage(LanguageId language) {
  if (language == LanguagePool::kAll) return kTrueId;
  Formula node{FormulaKind::kLanguage};
  node.a = language;
  return Intern(std::move(node));
}

FormulaId FormulaPool::OfLength(std::uint32_t least, std::uint32_t most) {
  if (least == 0 && most == kNoBound) return kTrueId;
  Formula node{FormulaKind::kLength};
  node.c = least;
  node.d = most;
  return Intern(std::move(node));
}

FormulaId FormulaPool::InTexts(std::vector<std::string> texts) {
  SortOnce(texts);
  std::string key = "t";
  for (const std::string& text : texts) AppendText(key, text);
  bytes_ += key.size();
  const auto [at, fresh] =
      payload_ids_.try_emplace(std::move(key), static_cast<std::int32_t>(texts_.size()));
  if (fresh) texts_.push_back(std::move(texts));
  Formula node{FormulaKind::kTexts};
  node.a = at->second;
  return Intern(std::move(node));
}

FormulaId FormulaPool::Members(NameSetId names, FormulaId value) {
  // A single name stays, so that its place in the order of keys is known.
  const NameSet& set = name_set(names);
  if (value == kTrueId && !set.is_single()) return kTrueId;
  if (!set.negated && set.names.empty() && set.languages.empty()) return kTrueId;
  Formula node{FormulaKind::kMembers};
  node.a = names;
  node.b = value;
  return Intern(std::move(node));
}

FormulaId FormulaPool::Names(FormulaId name) {
  if (name == kTrueId) return kTrueId;
  Formula node{FormulaKind::kNames};
  node.a = name;
  return Intern(std::move(node));
}

FormulaId FormulaPool::Count(std::uint32_t least, std::uint32_t most) {
  if (least == 0 && most == kNoBound) return kTrueId;
  Formula node{FormulaKind::kCount};
  node.c = least;
  node.d = most;
  return Intern(std::move(node));
}

FormulaId FormulaPool::Item(std::uint32_t index, FormulaId value) {
  if (value == kTrueId) return kTrueId;
  Formula node{FormulaKind::kItem};
  node.a = static_cast<std::int32_t>(index);
  node.b = value;
  return Intern(std::move(node));
}

FormulaId FormulaPool::Items(std::uint32_t from, FormulaId value) {
  if (value == kTrueId) return kTrueId;
  Formula node{FormulaKind::kItems};
  node.a = static_cast<std::int32_t>(from);
  node.b = value;
  return Intern(std::move(node));
}

FormulaId FormulaPool::Contains(std::uint32_t from, FormulaId value, std::uint32_t least,
                                std::uint32_t most) {
  if (least == 0 && most == kNoBound) return kTrueId;
  Formula node{FormulaKind::kContains};
  node.a = static_cast<std::int32_t>(from);
  node.b = value;
  node.c = least;
  node.d = most;
  return Intern(std::move(node));
}

FormulaId FormulaPool::Size(std::uint32_t least, std::uint32_t most) {
  if (least == 0 && most == kNoBound) return kTrueId;
  Formula node{FormulaKind::kSize};
  node.c = least;
  node.d = most;
  return Intern(std::move(node));
}

FormulaId FormulaPool::Unique() { return Intern({FormulaKind::kUnique}); }

FormulaId FormulaPool::Schema(std::int32_t place, std::int32_t scope) {
  Formula node{FormulaKind::kSchema};
  node.a = place;
  node.b = scope;
  return Intern(std::move(node));
}

FormulaId FormulaPool::Required(const std::string& name) {
  return Not(Members(OneName(name), kFalseId));
}

FormulaId FormulaPool::Const(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull:
      return OfType(Bit(Type::kNull));
    case JsonKind::kBoolean:
      return OfType(Bit(value.boolean ? Type::kTrue : Type::kFalse));
    case JsonKind::kNumber:
      return And(OfType(Bit(Type::kNumber)), InNumbers({value.number}));
    case JsonKind::kString:
      return And(OfType(Bit(Type::kString)), InTexts({value.text}));
    case JsonKind::kArray: {
      const auto n = static_cast<std::uint32_t>(value.items.size());
      std::vector<FormulaId> parts{OfType(Bit(Type::kArray)), Size(n, n)};
      for (std::uint32_t i = 0; i < n; ++i) parts.push_back(Item(i, Const(value.items[i])));
      return And(std::move(parts));
    }
    case JsonKind::kObject: {
      std::vector<FormulaId> parts{OfType(Bit(Type::kObject))};
      NameSet others{{}, {}, true};
      for (const auto& [name, member] : value.members) {
        others.names.push_back(name);
        parts.push_back(Required(name));
        parts.push_back(Members(OneName(name), Const(member)));
      }
      parts.push_back(Members(AddNames(std::move(others)), kFalseId));
      return And(std::move(parts));
    }
  }
  return kFalseId;
}

FormulaId FormulaPool::Enum(const std::vector<JsonValue>& values) {
  TypeMask mask = 0;
  std::vector<Decimal> numbers;
  std::vector<std::string> texts;
  std::vector<FormulaId> parts;
  for (const JsonValue& value : values) {
    if (value.is(JsonKind::kNull)) {
      mask |= Bit(Type::kNull);
    } else if (value.is(JsonKind::kBoolean)) {
      mask |= Bit(value.boolean ? Type::kTrue : Type::kFalse);
    } else if (value.is(JsonKind::kNumber)) {
      numbers.push_back(value.number);
    } else if (value.is(JsonKind::kString)) {
      texts.push_back(value.text);
    } else {
      parts.push_back(Const(value));
    }
  }
  parts.push_back(OfType(mask));
  if (!numbers.empty()) {
    parts.push_back(And(OfType(Bit(Type::kNumber)), InNumbers(std::move(numbers))));
  }
  if (!texts.empty()) parts.push_back(And(OfType(Bit(Type::kString)), InTexts(std::move(texts))));
  return Or(std::move(parts));
}

NameSetId FormulaPool::AddNames(NameSet names) {
  SortOnce(names.names);
  SortOnce(names.languages);
  std::string key;
  Append(key, names.negated);
  for (const LanguageId language : names.languages) Append(key, language);
  key.push_back('/');
  for (const std::string& name : names.names) AppendText(key, name);
  const auto found = name_ids_.find(key);
  if (found != name_ids_.end()) return found->second;
  const auto id = static_cast<NameSetId>(name_sets_.size());
  bytes_ += 2 * key.size() + sizeof(NameSet);
  name_ids_.emplace(std::move(key), id);
  name_sets_.push_back(std::move(names));
  return id;
}

}  // namespace adjudge::schema
