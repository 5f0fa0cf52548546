#include "constraints/schema/lowering.h"

#include <algorithm>
#include <utility>

#include "constraints/schema/formats.h"
#include "constraints/schema/pattern.h"
#include "constraints/schema/uri.h"

namespace adjudge::schema {
namespace {

constexpr std::size_t kMaxPatternStates = 4'000;
constexpr std::uint32_t kMaxIndex = 1'000'000'000;

std::optional<TypeMask> MaskOf(const std::string& name) {
  static const std::unordered_map<std::string, TypeMask> kMasks = {
      {"null", Bit(Type::kNull)},     {"boolean", kBooleans},
      {"number", Bit(Type::kNumber)}, {"integer", Bit(Type::kNumber)},
      {"string", Bit(Type::kString)}, {"array", Bit(Type::kArray)},
      {"object", Bit(Type::kObject)}};
  const auto at = kMasks.find(name);
  if (at == kMasks.end()) return {};
  return at->second;
}

}  // namespace

tl::unexpected<Error> Lowering::Wrong(const Context& at, std::string_view keyword,
                                      const std::string& expected) const {
  const JsonValue* found = at.schema->Find(keyword);
  std::string text = found == nullptr ? "nothing" : found->ToText();
  if (text.size() > 60) text = std::string(ToString(found->kind));
  return Fail(ErrorCode::kMalformed, "expected " + expected + ", found " + text,
              set_.Where(at.place, keyword));
}

Result<FormulaId> Lowering::SchemaAt(PlaceId place, std::int32_t scope) {
  const JsonValue& schema = *set_.place(place).schema;
  if (schema.is(JsonKind::kBoolean)) {
    return schema.boolean ? FormulaPool::kTrueId : FormulaPool::kFalseId;
  }
  if (!schema.is(JsonKind::kObject)) {
    return Fail(
        ErrorCode::kMalformed,
        "expected a schema (an object or a boolean), found " + std::string(ToString(schema.kind)),
        set_.Where(place));
  }
  if (schema.members.empty()) return FormulaPool::kTrueId;
  return formulas_.Schema(place, scope);
}

Result<FormulaId> Lowering::SubSchema(const Context& at, const JsonValue& schema,
                                      std::string_view keyword, std::string_view key) {
  ADJUDGE_ASSIGN_OR_RETURN(const PlaceId place, set_.Sub(at.place, schema, keyword, key));
  return SchemaAt(place, at.scope);
}

std::int32_t Lowering::Enter(std::int32_t scope, const std::string& base) {
  if (!set_.uses_dynamic_scope()) return 0;
  std::vector<std::string> bases = scopes_[static_cast<std::size_t>(scope)];
  // Only the outermost resource that declares an anchor counts, so each stands once.
  if (std::find(bases.begin(), bases.end(), base) != bases.end()) return scope;
  bases.push_back(base);
  std::string key;
  for (const std::string& part : bases) key += part + "\n";
  const auto [id, fresh] = scope_ids_.try_emplace(key, static_cast<std::int32_t>(scopes_.size()));
  if (fresh) scopes_.push_back(std::move(bases));
  return id->second;
}

Result<FormulaId> Lowering::Lower(PlaceId place, std::int32_t scope) {
  const std::uint64_t key =
      (static_cast<std::uint64_t>(place) << 32) | static_cast<std::uint32_t>(scope);
  if (const auto known = memo_.find(key); known != memo_.end()) return known->second;
  Context at;
  at.place = place;
  at.scope = Enter(scope, set_.place(place).base);
  at.schema = set_.place(place).schema;
  at.dialect = set_.place(place).dialect;
  ADJUDGE_RETURN_IF_ERROR(References(at));
  const bool alone = at.dialect.draft <= Draft::k7 && at.schema->Find("$ref") != nullptr;
  if (!alone) {
    if (at.dialect.validation) {
      ADJUDGE_RETURN_IF_ERROR(Types(at));
      ADJUDGE_RETURN_IF_ERROR(Numbers(at));
      ADJUDGE_RETURN_IF_ERROR(Strings(at));
    }
    ADJUDGE_RETURN_IF_ERROR(Format(at));
    ADJUDGE_RETURN_IF_ERROR(Objects(at));
    ADJUDGE_RETURN_IF_ERROR(Arrays(at));
    ADJUDGE_RETURN_IF_ERROR(Combinators(at));
    if (at.dialect.draft >= Draft::k2019) ADJUDGE_RETURN_IF_ERROR(Unevaluated(at));
  }
  const FormulaId result = formulas_.And(std::move(at.parts));
  memo_[key] = result;
  return result;
}

Result<PlaceId> Lowering::DynamicTarget(const Context& at, const std::string& reference) {
  ADJUDGE_ASSIGN_OR_RETURN(PlaceId target, set_.Resolve(at.place, "$dynamicRef", reference));
  const auto [base, fragment] = SplitFragment(ResolveUri(set_.place(at.place).base, reference));
  if (fragment.empty() || set_.DynamicAnchor(base, fragment) < 0) return target;
  for (const std::string& outer : scopes_[static_cast<std::size_t>(at.scope)]) {
    const PlaceId found = set_.DynamicAnchor(outer, fragment);
    if (found >= 0) return found;
  }
  return target;
}

Result<PlaceId> Lowering::RecursiveTarget(const Context& at) {
  const auto recursive = [&](PlaceId place) {
    const JsonValue* anchor = set_.place(place).schema->Find("$recursiveAnchor");
    return anchor != nullptr && anchor->boolean;
  };
  ADJUDGE_ASSIGN_OR_RETURN(const PlaceId target, set_.Resolve(at.place, "$recursiveRef", "#"));
  if (!recursive(target)) return target;
  for (const std::string& outer : scopes_[static_cast<std::size_t>(at.scope)]) {
    ADJUDGE_ASSIGN_OR_RETURN(const PlaceId candidate, set_.Resource(outer));
    if (recursive(candidate)) return candidate;
  }
  return target;
}

Status Lowering::References(Context& at) {
  for (const char* keyword : {"$ref", "$dynamicRef", "$recursiveRef"}) {
    const JsonValue* reference = at.schema->Find(keyword);
    if (reference == nullptr) continue;
    if (keyword[1] == 'd' && at.dialect.draft != Draft::k2020) continue;
    if (keyword[2] == 'e' && keyword[3] == 'c' && at.dialect.draft != Draft::k2019) continue;
    if (!reference->is(JsonKind::kString)) return Wrong(at, keyword, "a string");
    Result<PlaceId> target = keyword[1] == 'd'   ? DynamicTarget(at, reference->text)
                             : keyword[3] == 'c' ? RecursiveTarget(at)
                                                 : set_.Resolve(at.place, keyword, reference->text);
    if (!target) return tl::unexpected<Error>(target.error());
    ADJUDGE_ASSIGN_OR_RETURN(const FormulaId formula, SchemaAt(*target, at.scope));
    at.parts.push_back(formula);
  }
  return {};
}

Status Lowering::Types(Context& at) {
  if (const JsonValue* type = at.schema->Find("type")) {
    std::vector<FormulaId> parts;
    TypeMask mask = 0;
    const bool list = type->is(JsonKind::kArray);
    std::vector<const JsonValue*> names;
    if (!list) names.push_back(type);
    for (const JsonValue& item : type->items) names.push_back(&item);
    if (names.empty()) return Wrong(at, "type", "at least one type");
    for (const JsonValue* name : names) {
      const auto known = name->is(JsonKind::kString) ? MaskOf(name->text) : std::nullopt;
      if (!known) return Wrong(at, "type", "the name of a type or a list of them");
      if (name->text == "integer") {
        parts.push_back(formulas_.And(formulas_.OfType(*known), formulas_.MultipleOf(Decimal(1))));
      } else {
        mask |= *known;
      }
    }
    parts.push_back(formulas_.OfType(mask));
    if ((mask & Bit(Type::kNumber)) != 0) parts = {formulas_.OfType(mask)};
    at.parts.push_back(formulas_.Or(std::move(parts)));
  }
  if (const JsonValue* values = at.schema->Find("enum")) {
    if (!values->is(JsonKind::kArray)) return Wrong(at, "enum", "an array");
    at.parts.push_back(formulas_.Enum(values->items));
  }
  const JsonValue* value = at.schema->Find("const");
  if (value != nullptr && at.dialect.draft >= Draft::k6) {
    at.parts.push_back(formulas_.Const(*value));
  }
  return {};
}

Status Lowering::Numbers(Context& at) {
  Bounds bounds;
  const auto take = [&](const Decimal& value, bool low, bool open) {
    bool& has = low ? bounds.has_low : bounds.has_high;
    Decimal& bound = low ? bounds.low : bounds.high;
    bool& is_open = low ? bounds.low_open : bounds.high_open;
    if (has && (low ? value < bound : value > bound)) return;
    is_open = has && value == bound ? is_open || open : open;
    has = true;
    bound = value;
  };
  for (const bool low : {true, false}) {
    const char* plain = low ? "minimum" : "maximum";
    const char* exclusive = low ? "exclusiveMinimum" : "exclusiveMaximum";
    const JsonValue* bound = at.schema->Find(plain);
    const JsonValue* open = at.schema->Find(exclusive);
    if (bound != nullptr && !bound->is(JsonKind::kNumber)) return Wrong(at, plain, "a number");
    const bool flag = at.dialect.draft == Draft::k4 ||
                      (at.dialect.assumed && open != nullptr && open->is(JsonKind::kBoolean));
    if (open != nullptr && !open->is(flag ? JsonKind::kBoolean : JsonKind::kNumber)) {
      return Wrong(at, exclusive, flag ? "a boolean" : "a number");
    }
    if (bound != nullptr) {
      take(bound->number, low, flag && open != nullptr && open->boolean);
    }
    if (open != nullptr && !flag) take(open->number, low, true);
  }
  if (bounds.has_low || bounds.has_high) at.parts.push_back(formulas_.InBounds(bounds));
  if (const JsonValue* step = at.schema->Find("multipleOf")) {
    if (!step->is(JsonKind::kNumber) || step->number.is_zero() || step->number.is_negative()) {
      return Wrong(at, "multipleOf", "a number greater than 0");
    }
    at.parts.push_back(formulas_.MultipleOf(step->number));
  }
  return {};
}

Result<std::uint32_t> Lowering::Number(const Context& at, const char* keyword,
                                       std::uint32_t absent) {
  const JsonValue* value = at.schema->Find(keyword);
  if (value == nullptr) return absent;
  if (!value->is(JsonKind::kNumber) || value->number.is_negative() || !value->number.is_integer()) {
    return Wrong(at, keyword, "a number of 0, 1, 2 ...");
  }
  if (value->number > Decimal(kMaxIndex)) {
    if (absent == kNoBound) return absent;  // an upper bound that no text can reach
    return Fail(ErrorCode::kLimit, "more than " + std::to_string(kMaxIndex),
                set_.Where(at.place, keyword));
  }
  return static_cast<std::uint32_t>(std::stoul(value->number.ToPlain()));
}

Result<LanguageId> Lowering::Pattern(const Context& at, const std::string& pattern,
                                     std::string_view keyword) {
  if (const auto known = patterns_.find(pattern); known != patterns_.end()) return known->second;
  auto language = LanguageOfPattern(languages_, pattern, false, kMaxPatternStates);
  if (language && (language->least > 0 || language->most != kNoBound)) {
    auto lengths = languages_.OfLength(language->least, language->most);
    auto both = lengths ? languages_.And(language->language, *lengths) : lengths;
    if (both) {
      language->language = *both;
    } else {
      language = tl::unexpected<Error>(both.error());
    }
  }
  if (!language) {
    Error error = language.error();
    error.message += error.place.empty() ? "" : " at " + error.place + " of " + QuoteJson(pattern);
    error.place = set_.Where(at.place, keyword);
    return tl::unexpected<Error>(std::move(error));
  }
  patterns_[pattern] = language->language;
  return language->language;
}

Status Lowering::Strings(Context& at) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t least, Number(at, "minLength", 0));
  ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t most, Number(at, "maxLength", kNoBound));
  at.parts.push_back(formulas_.OfLength(least, most));
  if (const JsonValue* pattern = at.schema->Find("pattern")) {
    if (!pattern->is(JsonKind::kString)) return Wrong(at, "pattern", "a string");
    auto language = LanguageOfPattern(languages_, pattern->text, false, kMaxPatternStates);
    if (!language) {
      Error error = language.error();
      error.message += error.place.empty() ? "" : " at " + error.place;
      error.place = set_.Where(at.place, "pattern");
      return tl::unexpected<Error>(std::move(error));
    }
    at.parts.push_back(formulas_.InLanguage(language->language));
    at.parts.push_back(formulas_.OfLength(language->least, language->most));
  }
  return {};
}

Status Lowering::Format(Context& at) {
  const JsonValue* format = at.schema->Find("format");
  if (format == nullptr || !(options_.assert_formats || at.dialect.format_assertion)) return {};
  if (!format->is(JsonKind::kString)) return Wrong(at, "format", "a string");
  auto language = LanguageOfFormat(languages_, format->text);
  if (!language) {
    if (options_.strict_formats) {
      return Fail(ErrorCode::kUnsupported, "the standard knows no format " + format->ToText(),
                  set_.Where(at.place, "format"));
    }
    unknown_formats_.insert(format->text);
    return {};
  }
  if (!*language) {
    Error error = language->error();
    error.place = set_.Where(at.place, "format");
    return tl::unexpected<Error>(std::move(error));
  }
  at.parts.push_back(formulas_.InLanguage((*language)->language));
  at.parts.push_back(formulas_.OfLength((*language)->least, (*language)->most));
  return {};
}

Result<NameSet> Lowering::DeclaredNames(const Context& at) {
  NameSet declared;
  if (const JsonValue* properties = at.schema->Find("properties")) {
    if (!properties->is(JsonKind::kObject)) return Wrong(at, "properties", "an object");
    for (const auto& [name, schema] : properties->members) declared.names.push_back(name);
  }
  if (const JsonValue* patterns = at.schema->Find("patternProperties")) {
    if (!patterns->is(JsonKind::kObject)) return Wrong(at, "patternProperties", "an object");
    for (const auto& [pattern, schema] : patterns->members) {
      ADJUDGE_ASSIGN_OR_RETURN(const LanguageId language,
                               Pattern(at, pattern, "patternProperties"));
      declared.languages.push_back(language);
    }
  }
  return declared;
}

Status Lowering::Members(Context& at) {
  ADJUDGE_ASSIGN_OR_RETURN(NameSet declared, DeclaredNames(at));
  if (const JsonValue* properties = at.schema->Find("properties")) {
    for (const auto& [name, schema] : properties->members) {
      ADJUDGE_ASSIGN_OR_RETURN(const FormulaId value, SubSchema(at, schema, "properties", name));
      at.parts.push_back(formulas_.Members(formulas_.OneName(name), value));
    }
  }
  if (const JsonValue* patterns = at.schema->Find("patternProperties")) {
    for (const auto& [pattern, schema] : patterns->members) {
      ADJUDGE_ASSIGN_OR_RETURN(const FormulaId value,
                               SubSchema(at, schema, "patternProperties", pattern));
      at.parts.push_back(
          formulas_.Members(formulas_.AddNames({{}, {patterns_.at(pattern)}, false}), value));
    }
  }
  if (const JsonValue* additional = at.schema->Find("additionalProperties")) {
    ADJUDGE_ASSIGN_OR_RETURN(const FormulaId value,
                             SubSchema(at, *additional, "additionalProperties"));
    declared.negated = true;
    at.parts.push_back(formulas_.Members(formulas_.AddNames(std::move(declared)), value));
  }
  const JsonValue* names = at.schema->Find("propertyNames");
  if (names != nullptr && at.dialect.draft >= Draft::k6) {
    ADJUDGE_ASSIGN_OR_RETURN(const FormulaId name, SubSchema(at, *names, "propertyNames"));
    at.parts.push_back(formulas_.Names(name));
  }
  return {};
}

Status Lowering::Dependencies(Context& at) {
  for (const std::string_view keyword : {"dependentRequired", "dependentSchemas", "dependencies"}) {
    const JsonValue* dependent = at.schema->Find(keyword);
    const bool old = keyword == "dependencies";
    if (dependent == nullptr) continue;
    if (!old && at.dialect.draft < Draft::k2019) continue;
    if (!dependent->is(JsonKind::kObject)) return Wrong(at, keyword, "an object");
    for (const auto& [name, needs] : dependent->members) {
      FormulaId then = FormulaPool::kTrueId;
      const bool list = keyword == "dependentRequired" || (old && needs.is(JsonKind::kArray));
      if (list) {
        std::vector<FormulaId> all;
        for (const JsonValue& need : needs.items) {
          if (!need.is(JsonKind::kString)) return Wrong(at, keyword, "lists of names");
          all.push_back(formulas_.Required(need.text));
        }
        if (!needs.is(JsonKind::kArray)) return Wrong(at, keyword, "lists of names");
        then = formulas_.And(std::move(all));
      } else {
        ADJUDGE_ASSIGN_OR_RETURN(then, SubSchema(at, needs, keyword, name));
      }
      at.parts.push_back(
          formulas_.Or(formulas_.Members(formulas_.OneName(name), FormulaPool::kFalseId), then));
    }
  }
  return {};
}

Status Lowering::Objects(Context& at) {
  ADJUDGE_RETURN_IF_ERROR(Members(at));
  ADJUDGE_RETURN_IF_ERROR(Dependencies(at));
  if (!at.dialect.validation) return {};
  if (const JsonValue* required = at.schema->Find("required")) {
    if (!required->is(JsonKind::kArray)) return Wrong(at, "required", "an array of names");
    std::vector<FormulaId> all;
    for (const JsonValue& name : required->items) {
      if (!name.is(JsonKind::kString)) return Wrong(at, "required", "an array of names");
      all.push_back(formulas_.Required(name.text));
    }
    if (!all.empty()) {
      at.parts.push_back(formulas_.Or(formulas_.OfType(kAllTypes & ~Bit(Type::kObject)),
                                      formulas_.And(std::move(all))));
    }
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t least, Number(at, "minProperties", 0));
  ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t most, Number(at, "maxProperties", kNoBound));
  at.parts.push_back(formulas_.Count(least, most));
  return {};
}

Lowering::ItemKeywords Lowering::ItemsOf(const Context& at) const {
  ItemKeywords found;
  const JsonValue* items = at.schema->Find("items");
  if (at.dialect.draft == Draft::k2020) found.prefix = at.schema->Find("prefixItems");
  const bool old = at.dialect.draft < Draft::k2020 || at.dialect.assumed;
  if (old && items != nullptr && items->is(JsonKind::kArray)) {
    found.prefix = items;
    found.prefix_keyword = "items";
    found.rest = at.schema->Find("additionalItems");
    found.rest_keyword = "additionalItems";
  } else {
    found.rest = items;
  }
  return found;
}

Status Lowering::Arrays(Context& at) {
  const ItemKeywords items = ItemsOf(at);
  std::uint32_t n = 0;
  if (items.prefix != nullptr) {
    if (!items.prefix->is(JsonKind::kArray)) return Wrong(at, items.prefix_keyword, "an array");
    for (const JsonValue& schema : items.prefix->items) {
      ADJUDGE_ASSIGN_OR_RETURN(const FormulaId value,
                               SubSchema(at, schema, items.prefix_keyword, std::to_string(n)));
      at.parts.push_back(formulas_.Item(n++, value));
    }
  }
  if (items.rest != nullptr) {
    ADJUDGE_ASSIGN_OR_RETURN(const FormulaId value, SubSchema(at, *items.rest, items.rest_keyword));
    at.parts.push_back(formulas_.Items(n, value));
  }
  ADJUDGE_RETURN_IF_ERROR(Contains(at));
  if (!at.dialect.validation) return {};
  ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t least, Number(at, "minItems", 0));
  ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t most, Number(at, "maxItems", kNoBound));
  at.parts.push_back(formulas_.Size(least, most));
  if (const JsonValue* unique = at.schema->Find("uniqueItems")) {
    if (!unique->is(JsonKind::kBoolean)) return Wrong(at, "uniqueItems", "a boolean");
    if (unique->boolean) at.parts.push_back(formulas_.Unique());
  }
  return {};
}

Status Lowering::Contains(Context& at) {
  const JsonValue* contains = at.schema->Find("contains");
  if (contains == nullptr || at.dialect.draft < Draft::k6) return {};
  ADJUDGE_ASSIGN_OR_RETURN(const FormulaId value, SubSchema(at, *contains, "contains"));
  std::uint32_t least = 1;
  std::uint32_t most = kNoBound;
  if (at.dialect.draft >= Draft::k2019 && at.dialect.validation) {
    ADJUDGE_ASSIGN_OR_RETURN(least, Number(at, "minContains", 1));
    ADJUDGE_ASSIGN_OR_RETURN(most, Number(at, "maxContains", kNoBound));
  }
  at.parts.push_back(formulas_.Contains(0, value, least, most));
  return {};
}

Status Lowering::Combinators(Context& at) {
  for (const char* keyword : {"allOf", "anyOf", "oneOf"}) {
    const JsonValue* list = at.schema->Find(keyword);
    if (list == nullptr) continue;
    if (!list->is(JsonKind::kArray) || list->items.empty()) {
      return Wrong(at, keyword, "a list of at least one schema");
    }
    std::vector<FormulaId> parts;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(const FormulaId part,
                               SubSchema(at, list->items[i], keyword, std::to_string(i)));
      parts.push_back(part);
    }
    if (keyword[1] == 'l') {
      at.parts.push_back(formulas_.And(std::move(parts)));
    } else if (keyword[1] == 'n' && keyword[0] == 'a') {
      at.parts.push_back(formulas_.Or(std::move(parts)));
    } else {
      at.parts.push_back(formulas_.ExactlyOne(std::move(parts)));
    }
  }
  if (const JsonValue* no = at.schema->Find("not")) {
    ADJUDGE_ASSIGN_OR_RETURN(const FormulaId part, SubSchema(at, *no, "not"));
    at.parts.push_back(formulas_.Not(part));
  }
  const JsonValue* condition = at.schema->Find("if");
  if (condition == nullptr || at.dialect.draft < Draft::k7) return {};
  ADJUDGE_ASSIGN_OR_RETURN(const FormulaId test, SubSchema(at, *condition, "if"));
  for (const char* keyword : {"then", "else"}) {
    const JsonValue* branch = at.schema->Find(keyword);
    if (branch == nullptr) continue;
    ADJUDGE_ASSIGN_OR_RETURN(const FormulaId part, SubSchema(at, *branch, keyword));
    at.parts.push_back(formulas_.Or(keyword[0] == 't' ? formulas_.Not(test) : test, part));
  }
  return {};
}

// Unevaluated. Which members and items count as evaluated depends on which subschemas hold. The
// alternatives list sets of them: under an alternative's condition at least its names are
// evaluated, and for every value some alternative whose condition holds has all of them. So
// unevaluatedProperties: U is the disjunction, over alternatives, of condition and "other members
// are in U": a condition that holds with a smaller set only says more than is needed.
Status Lowering::Unevaluated(Context& at) {
  const JsonValue* members = at.schema->Find("unevaluatedProperties");
  const JsonValue* items = at.schema->Find("unevaluatedItems");
  if (members == nullptr && items == nullptr) return {};
  ADJUDGE_ASSIGN_OR_RETURN(const Alternatives alternatives, EvaluatedBy(at, 0));
  std::vector<FormulaId> of_members;
  std::vector<FormulaId> of_items;
  FormulaId member = FormulaPool::kTrueId;
  FormulaId item = FormulaPool::kTrueId;
  if (members != nullptr) {
    ADJUDGE_ASSIGN_OR_RETURN(member, SubSchema(at, *members, "unevaluatedProperties"));
  }
  if (items != nullptr) {
    ADJUDGE_ASSIGN_OR_RETURN(item, SubSchema(at, *items, "unevaluatedItems"));
  }
  for (const Evaluated& alternative : alternatives) {
    FormulaId rest = FormulaPool::kTrueId;
    if (!alternative.all_names) {
      NameSet others = alternative.names;
      others.negated = true;
      rest = formulas_.Members(formulas_.AddNames(std::move(others)), member);
    }
    of_members.push_back(formulas_.And(alternative.condition, rest));
    rest = FormulaPool::kTrueId;
    if (!alternative.all_items) {
      std::vector<FormulaId> either = alternative.matching;
      either.push_back(item);
      rest = formulas_.Items(alternative.prefix, formulas_.Or(std::move(either)));
    }
    of_items.push_back(formulas_.And(alternative.condition, rest));
  }
  if (members != nullptr) {
    at.parts.push_back(formulas_.Or(formulas_.OfType(kAllTypes & ~Bit(Type::kObject)),
                                    formulas_.Or(std::move(of_members))));
  }
  if (items != nullptr) {
    at.parts.push_back(formulas_.Or(formulas_.OfType(kAllTypes & ~Bit(Type::kArray)),
                                    formulas_.Or(std::move(of_items))));
  }
  return {};
}

Status Lowering::Join(const Context& at, Alternatives& into, const Alternatives& more) {
  if (more.size() == 1 && more[0].condition == FormulaPool::kTrueId && more[0].nothing()) return {};
  Alternatives result;
  for (const Evaluated& a : into) {
    for (const Evaluated& b : more) {
      Evaluated both = a;
      both.condition = formulas_.And(a.condition, b.condition);
      both.names.names.insert(both.names.names.end(), b.names.names.begin(), b.names.names.end());
      both.names.languages.insert(both.names.languages.end(), b.names.languages.begin(),
                                  b.names.languages.end());
      both.all_names |= b.all_names;
      both.prefix = std::max(both.prefix, b.prefix);
      both.all_items |= b.all_items;
      both.matching.insert(both.matching.end(), b.matching.begin(), b.matching.end());
      result.push_back(std::move(both));
      if (result.size() > options_.max_alternatives) {
        return Fail(ErrorCode::kLimit,
                    "what is evaluated depends on more than max_alternatives = " +
                        std::to_string(options_.max_alternatives) + " cases",
                    set_.Where(at.place, at.schema->Find("unevaluatedProperties") != nullptr
                                             ? "unevaluatedProperties"
                                             : "unevaluatedItems"));
      }
    }
  }
  into = std::move(result);
  return {};
}

Result<Lowering::Alternatives> Lowering::EvaluatedAt(PlaceId place, std::int32_t scope, int depth) {
  if (!set_.place(place).schema->is(JsonKind::kObject)) return Alternatives{Evaluated{}};
  if (depth > 200) {
    return Fail(ErrorCode::kMalformed, "the reference leads back to itself", set_.Where(place));
  }
  Context at;
  at.place = place;
  at.scope = Enter(scope, set_.place(place).base);
  at.schema = set_.place(place).schema;
  at.dialect = set_.place(place).dialect;
  ADJUDGE_ASSIGN_OR_RETURN(Alternatives found, EvaluatedBy(at, depth));
  // What a nested unevaluated* took is evaluated too.
  for (Evaluated& alternative : found) {
    alternative.all_names |= at.schema->Find("unevaluatedProperties") != nullptr;
    alternative.all_items |= at.schema->Find("unevaluatedItems") != nullptr;
  }
  return found;
}

Result<Lowering::Alternatives> Lowering::EvaluatedBy(const Context& at, int depth) {
  Alternatives result(1);
  Evaluated& own = result[0];
  ADJUDGE_ASSIGN_OR_RETURN(own.names, DeclaredNames(at));
  own.all_names = at.schema->Find("additionalProperties") != nullptr;
  const ItemKeywords items = ItemsOf(at);
  if (items.prefix != nullptr) own.prefix = static_cast<std::uint32_t>(items.prefix->items.size());
  own.all_items = items.rest != nullptr;
  const JsonValue* contains = at.schema->Find("contains");
  if (contains != nullptr && at.dialect.draft == Draft::k2020) {
    ADJUDGE_ASSIGN_OR_RETURN(const FormulaId value, SubSchema(at, *contains, "contains"));
    own.matching.push_back(value);
  }
  const auto sub = [&](const JsonValue& schema, std::string_view keyword,
                       std::string_view key) -> Result<Alternatives> {
    ADJUDGE_ASSIGN_OR_RETURN(const PlaceId place, set_.Sub(at.place, schema, keyword, key));
    return EvaluatedAt(place, at.scope, depth + 1);
  };
  // `schema` holds (and then evaluates), or is left out of account.
  const auto maybe = [&](const JsonValue& schema, std::string_view keyword, std::string_view key,
                         FormulaId holds) -> Status {
    ADJUDGE_ASSIGN_OR_RETURN(Alternatives found, sub(schema, keyword, key));
    for (Evaluated& alternative : found) {
      alternative.condition = formulas_.And(alternative.condition, holds);
    }
    found.erase(
        std::remove_if(found.begin(), found.end(), [](const Evaluated& e) { return e.nothing(); }),
        found.end());
    found.emplace_back();
    return Join(at, result, found);
  };
  for (const char* keyword : {"$ref", "$dynamicRef", "$recursiveRef"}) {
    const JsonValue* reference = at.schema->Find(keyword);
    if (reference == nullptr || !reference->is(JsonKind::kString)) continue;
    if (keyword[1] == 'd' && at.dialect.draft != Draft::k2020) continue;
    if (std::string_view(keyword) == "$recursiveRef" && at.dialect.draft != Draft::k2019) continue;
    Result<PlaceId> target = keyword[1] == 'd' ? DynamicTarget(at, reference->text)
                             : std::string_view(keyword) == "$recursiveRef"
                                 ? RecursiveTarget(at)
                                 : set_.Resolve(at.place, keyword, reference->text);
    if (!target) return tl::unexpected<Error>(target.error());
    ADJUDGE_ASSIGN_OR_RETURN(const Alternatives found, EvaluatedAt(*target, at.scope, depth + 1));
    ADJUDGE_RETURN_IF_ERROR(Join(at, result, found));
  }
  if (const JsonValue* all = at.schema->Find("allOf")) {
    for (std::size_t i = 0; i < all->items.size(); ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(const Alternatives found,
                               sub(all->items[i], "allOf", std::to_string(i)));
      ADJUDGE_RETURN_IF_ERROR(Join(at, result, found));
    }
  }
  for (const char* keyword : {"anyOf", "oneOf"}) {
    const JsonValue* list = at.schema->Find(keyword);
    if (list == nullptr) continue;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(const FormulaId holds,
                               SubSchema(at, list->items[i], keyword, std::to_string(i)));
      ADJUDGE_RETURN_IF_ERROR(maybe(list->items[i], keyword, std::to_string(i), holds));
    }
  }
  if (const JsonValue* condition = at.schema->Find("if")) {
    ADJUDGE_ASSIGN_OR_RETURN(const FormulaId test, SubSchema(at, *condition, "if"));
    ADJUDGE_ASSIGN_OR_RETURN(Alternatives yes, sub(*condition, "if", ""));
    Alternatives no(1);
    if (const JsonValue* then = at.schema->Find("then")) {
      ADJUDGE_ASSIGN_OR_RETURN(const Alternatives found, sub(*then, "then", ""));
      ADJUDGE_RETURN_IF_ERROR(Join(at, yes, found));
    }
    if (const JsonValue* other = at.schema->Find("else")) {
      ADJUDGE_ASSIGN_OR_RETURN(no, sub(*other, "else", ""));
    }
    for (Evaluated& e : yes) e.condition = formulas_.And(e.condition, test);
    for (Evaluated& e : no) {
      if (!e.nothing()) e.condition = formulas_.And(e.condition, formulas_.Not(test));
    }
    yes.insert(yes.end(), no.begin(), no.end());
    ADJUDGE_RETURN_IF_ERROR(Join(at, result, yes));
  }
  for (const char* keyword : {"dependentSchemas", "dependencies"}) {
    const JsonValue* dependent = at.schema->Find(keyword);
    if (dependent == nullptr) continue;
    for (const auto& [name, schema] : dependent->members) {
      if (schema.is(JsonKind::kArray)) continue;
      ADJUDGE_RETURN_IF_ERROR(maybe(schema, keyword, name, formulas_.Required(name)));
    }
  }
  return result;
}

}  // namespace adjudge::schema
