#define PCRE2_CODE_UNIT_WIDTH 8
#include "tests/testing/json_schema_oracle.h"

#include <pcre2.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <vector>

#include "constraints/schema/uri.h"
#include "engine/base/utf8.h"

namespace adjudge::testing {
namespace {

using schema::Decimal;
using schema::JsonKind;
using schema::JsonValue;
using Draft = OracleDraft;

std::size_t CodePoints(const std::string& text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return n;
}

// ECMAScript with the u flag in PCRE2's words.
std::string Translate(const std::string& pattern) {
  static constexpr const char* kSpace =
      "\\t\\n\\x0b\\x0c\\r\\x20\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{"
      "205f}"
      "\\x{3000}\\x{feff}";
  static const std::map<std::string, std::string> kProperties = {
      {"Letter", "L"}, {"digit", "Nd"}, {"Script=Latin", "Latin"}, {"Number", "N"}};
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's') {
        out += in_class ? kSpace : std::string("[") + kSpace + "]";
      } else if (next == 'S') {
        if (in_class) throw std::runtime_error("\\S in a class");
        out += std::string("[^") + kSpace + "]";
      } else if (next == 'u' && i + 1 < pattern.size() && pattern[i + 1] == '{') {
        const auto end = pattern.find('}', i);
        out += "\\x{" + pattern.substr(i + 2, end - i - 2) + "}";
        i = end;
      } else if (next == 'u') {
        auto code = std::stoul(pattern.substr(i + 1, 4), nullptr, 16);
        i += 4;
        if (code >= 0xD800 && code < 0xDC00 && pattern.compare(i + 1, 2, "\\u") == 0) {
          code = 0x10000 + ((code - 0xD800) << 10) +
                 (std::stoul(pattern.substr(i + 3, 4), nullptr, 16) - 0xDC00);
          i += 6;
        }
        char text[16];
        std::snprintf(text, sizeof(text), "\\x{%lx}", code);
        out += text;
      } else if (next == 'c' && i + 1 < pattern.size()) {
        char text[16];
        std::snprintf(text, sizeof(text), "\\x%02x", static_cast<unsigned>(pattern[++i]) % 32);
        out += text;
      } else if ((next == 'p' || next == 'P') && i + 1 < pattern.size() && pattern[i + 1] == '{') {
        const auto end = pattern.find('}', i);
        const std::string name = pattern.substr(i + 2, end - i - 2);
        const auto known = kProperties.find(name);
        out += std::string("\\") + next + "{" +
               (known == kProperties.end() ? name : known->second) + "}";
        i = end;
      } else if (next == 'a' || next == 'Z' || next == 'z' || next == 'A' || next == 'G') {
        throw std::runtime_error("an escape that ECMAScript does not know");
      } else {
        out += std::string("\\") + next;
      }
    } else if (in_class) {
      in_class = c != ']';
      out += c == '[' ? std::string("\\[") : std::string(1, c);
    } else if (c == '[') {
      in_class = true;
      if (pattern.compare(i, 3, "[^]") == 0) {
        out += "[\\x00-\\x{10ffff}]";
        i += 2;
        in_class = false;
      } else {
        out += c;
        if (i + 1 < pattern.size() && pattern[i + 1] == '^') out += pattern[++i];
      }
    } else if (c == '.') {
      out += "[^\\n\\r\\x{2028}\\x{2029}]";
    } else if (c == '$') {
      out += "\\z";
    } else {
      out += c;
    }
  }
  return out;
}

class Pattern {
 public:
  explicit Pattern(const std::string& pattern) {
    const std::string text = Translate(pattern);
    int code = 0;
    PCRE2_SIZE offset = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), PCRE2_UTF, &code,
                          &offset, nullptr);
    if (code_ == nullptr) throw std::runtime_error("bad pattern " + pattern);
    data_ = pcre2_match_data_create(1, nullptr);
  }
  Pattern(const Pattern&) = delete;
  ~Pattern() {
    pcre2_match_data_free(data_);
    pcre2_code_free(code_);
  }
  bool Search(const std::string& text) const {
    const int rc = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                               data_, nullptr);
    if (rc < -2) throw std::runtime_error("pattern gave up");
    return rc >= 0;
  }

 private:
  pcre2_code* code_ = nullptr;
  pcre2_match_data* data_ = nullptr;
};

struct Evaluated {
  std::set<std::string> names;
  std::set<std::size_t> items;
  void Add(const Evaluated& other) {
    names.insert(other.names.begin(), other.names.end());
    items.insert(other.items.begin(), other.items.end());
  }
};

struct Dialect {
  Draft draft = Draft::k2020;
  bool validation = true;
};

bool IsMetaSchema(const std::string& uri, Draft& draft) {
  static const std::vector<std::pair<std::string, Draft>> kKnown = {
      {"http://json-schema.org/draft-04/schema", Draft::k4},
      {"http://json-schema.org/draft-06/schema", Draft::k6},
      {"http://json-schema.org/draft-07/schema", Draft::k7},
      {"https://json-schema.org/draft/2019-09/schema", Draft::k2019},
      {"https://json-schema.org/draft/2020-12/schema", Draft::k2020}};
  for (const auto& [known, value] : kKnown) {
    if (uri != known && uri != known + "#") continue;
    draft = value;
    return true;
  }
  return false;
}

struct Place {
  const JsonValue* schema = nullptr;
  std::string base;
  Dialect dialect;
};

}  // namespace

struct JsonSchemaOracle::Impl {
  Options options;
  JsonValue root;
  std::map<std::string, JsonValue> documents;
  std::map<std::string, Place> resources;        // uri -> root of a resource, not yet entered
  std::map<std::string, Place> anchors;          // uri#name
  std::map<std::string, Place> dynamic_anchors;  // uri#name
  mutable std::map<std::string, std::unique_ptr<Pattern>> patterns;

  using Scope = std::vector<std::string>;  // base uris, outermost first

  Dialect DialectOf(const JsonValue& schema, Dialect outer) const {
    const JsonValue* name = schema.Find("$schema");
    if (name == nullptr || !name->is(JsonKind::kString)) return outer;
    Dialect dialect = outer;
    dialect.validation = true;
    if (IsMetaSchema(name->text, dialect.draft)) return dialect;
    const auto meta = documents.find(schema::SplitFragment(name->text).first);
    if (meta == documents.end()) return outer;
    if (const JsonValue* above = meta->second.Find("$schema")) {
      IsMetaSchema(above->text, dialect.draft);
    }
    if (const JsonValue* vocabulary = meta->second.Find("$vocabulary")) {
      dialect.validation =
          vocabulary->Find("https://json-schema.org/draft/2020-12/vocab/validation") != nullptr ||
          vocabulary->Find("https://json-schema.org/draft/2019-09/vocab/validation") != nullptr;
    }
    return dialect;
  }

  // Base uri and dialect that hold inside `schema`.
  Place Enter(const JsonValue& schema, const Place& outer) const {
    Place place{&schema, outer.base, outer.dialect};
    if (!schema.is(JsonKind::kObject)) return place;
    place.dialect = DialectOf(schema, outer.dialect);
    const bool old = place.dialect.draft <= Draft::k7;
    if (old && schema.Find("$ref") != nullptr) return place;
    const JsonValue* id = schema.Find(place.dialect.draft == Draft::k4 ? "id" : "$id");
    if (id == nullptr || !id->is(JsonKind::kString)) return place;
    if (old && !id->text.empty() && id->text[0] == '#') return place;
    place.base = schema::SplitFragment(schema::ResolveUri(outer.base, id->text)).first;
    return place;
  }

  // A resource that is a whole document or is named by an id, and what lies below it.
  void Index(const JsonValue& schema, const Place& outer) {
    if (schema.is(JsonKind::kArray)) {
      for (const JsonValue& item : schema.items) Index(item, outer);
    }
    if (!schema.is(JsonKind::kObject)) return;
    const Place place = Enter(schema, outer);
    const Place stored{&schema, outer.base, outer.dialect};  // Check enters it
    if (place.base != outer.base) resources.try_emplace(place.base, stored);
    const Draft draft = place.dialect.draft;
    const JsonValue* id = schema.Find(draft == Draft::k4 ? "id" : "$id");
    if (draft <= Draft::k7 && schema.Find("$ref") != nullptr) id = nullptr;
    if (draft <= Draft::k7 && id != nullptr && id->is(JsonKind::kString)) {
      const auto [uri, fragment] = schema::SplitFragment(schema::ResolveUri(outer.base, id->text));
      if (!fragment.empty()) anchors.try_emplace(uri + "#" + fragment, stored);
    }
    if (draft >= Draft::k2019) {
      const JsonValue* anchor = schema.Find("$anchor");
      if (anchor != nullptr && anchor->is(JsonKind::kString)) {
        anchors.try_emplace(place.base + "#" + anchor->text, stored);
      }
      anchor = schema.Find("$dynamicAnchor");
      if (anchor != nullptr && anchor->is(JsonKind::kString)) {
        anchors.try_emplace(place.base + "#" + anchor->text, stored);
        dynamic_anchors.try_emplace(place.base + "#" + anchor->text, stored);
      }
    }
    static const std::set<std::string> kMaps = {"properties",   "patternProperties",
                                                "$defs",        "definitions",
                                                "dependencies", "dependentSchemas"};
    static const std::set<std::string> kOther = {"enum", "const", "default", "examples"};
    static const std::set<std::string> kApply = {"items",
                                                 "additionalItems",
                                                 "prefixItems",
                                                 "contains",
                                                 "allOf",
                                                 "anyOf",
                                                 "oneOf",
                                                 "not",
                                                 "if",
                                                 "then",
                                                 "else",
                                                 "additionalProperties",
                                                 "propertyNames",
                                                 "unevaluatedProperties",
                                                 "unevaluatedItems",
                                                 "contentSchema"};
    for (const auto& [name, value] : schema.members) {
      if (kOther.count(name) > 0) continue;
      if (kMaps.count(name) > 0) {
        for (const auto& member : value.members) Index(member.second, place);
      } else if (kApply.count(name) > 0) {
        Index(value, place);
      }
    }
  }

  Place Pointer(Place place, const std::string& pointer) const {
    const JsonValue* at = place.schema;
    std::size_t i = 0;
    if (!pointer.empty()) place = Enter(*at, place);
    while (i < pointer.size()) {
      const std::size_t end = std::min(pointer.find('/', i + 1), pointer.size());
      std::string part;
      for (std::size_t k = i + 1; k < end; ++k) {
        if (pointer[k] == '~' && k + 1 < end) {
          part.push_back(pointer[++k] == '1' ? '/' : '~');
        } else {
          part.push_back(pointer[k]);
        }
      }
      if (at->is(JsonKind::kArray)) {
        const std::size_t index = std::stoul(part);
        if (index >= at->items.size()) throw std::runtime_error("no such item " + pointer);
        at = &at->items[index];
      } else {
        at = at->Find(part);
        if (at == nullptr) throw std::runtime_error("nothing at " + pointer);
      }
      i = end;
      if (i < pointer.size()) place = Enter(*at, place);
    }
    place.schema = at;
    return place;
  }

  Place Resolve(const std::string& uri) const {
    const auto [base, fragment] = schema::SplitFragment(uri);
    if (!fragment.empty() && fragment[0] != '/') {
      const auto anchor = anchors.find(base + "#" + fragment);
      if (anchor == anchors.end()) throw std::runtime_error("no anchor " + uri);
      return anchor->second;
    }
    const auto resource = resources.find(base);
    if (resource == resources.end()) throw std::runtime_error("no document " + uri);
    return Pointer(resource->second, fragment);
  }

  bool Search(const std::string& pattern, const std::string& text) const {
    auto& slot = patterns[pattern];
    if (slot == nullptr) slot = std::make_unique<Pattern>(pattern);
    return slot->Search(text);
  }

  bool Follow(const Place& target, const JsonValue& value, const Scope& scope,
              Evaluated& evaluated) const {
    Evaluated inner;
    if (!Check(target, value, scope, inner)) return false;
    evaluated.Add(inner);
    return true;
  }

  bool References(const Place& place, const JsonValue& value, const Scope& scope,
                  Evaluated& evaluated) const {
    const JsonValue& schema = *place.schema;
    const Draft draft = place.dialect.draft;
    if (const JsonValue* ref = schema.Find("$ref"); ref != nullptr && ref->is(JsonKind::kString)) {
      const Place target = Resolve(schema::ResolveUri(place.base, ref->text));
      if (!Follow(target, value, scope, evaluated)) return false;
    }
    const JsonValue* dynamic = schema.Find("$dynamicRef");
    if (draft == Draft::k2020 && dynamic != nullptr) {
      const std::string uri = schema::ResolveUri(place.base, dynamic->text);
      Place target = Resolve(uri);
      const auto [base, fragment] = schema::SplitFragment(uri);
      if (dynamic_anchors.count(base + "#" + fragment) > 0) {
        for (const std::string& outer : scope) {
          const auto found = dynamic_anchors.find(outer + "#" + fragment);
          if (found == dynamic_anchors.end()) continue;
          target = found->second;
          break;
        }
      }
      if (!Follow(target, value, scope, evaluated)) return false;
    }
    if (draft == Draft::k2019 && schema.Find("$recursiveRef") != nullptr) {
      const auto recursive = [](const Place& at) {
        const JsonValue* anchor = at.schema->Find("$recursiveAnchor");
        return anchor != nullptr && anchor->boolean;
      };
      Place target = Resolve(schema::ResolveUri(place.base, "#"));
      if (recursive(target)) {
        for (const std::string& outer : scope) {
          const Place candidate = Resolve(outer);
          if (!recursive(candidate)) continue;
          target = candidate;
          break;
        }
      }
      if (!Follow(target, value, scope, evaluated)) return false;
    }
    return true;
  }

  static bool HasType(const std::string& type, const JsonValue& value) {
    if (type == "integer") return value.is(JsonKind::kNumber) && value.number.is_integer();
    return type == ToString(value.kind);
  }

  bool AnyType(const JsonValue& schema, const JsonValue& value) const {
    const JsonValue* type = schema.Find("type");
    if (type == nullptr) return true;
    if (type->is(JsonKind::kString)) return HasType(type->text, value);
    return std::any_of(type->items.begin(), type->items.end(),
                       [&](const JsonValue& t) { return HasType(t.text, value); });
  }

  static bool Limit(const JsonValue& schema, const char* name,
                    const std::function<bool(const Decimal&)>& holds) {
    const JsonValue* limit = schema.Find(name);
    return limit == nullptr || !limit->is(JsonKind::kNumber) || holds(limit->number);
  }

  bool Assertions(const Place& place, const JsonValue& value) const {
    const JsonValue& schema = *place.schema;
    if (!AnyType(schema, value)) return false;
    if (const JsonValue* wanted = schema.Find("const");
        wanted != nullptr && place.dialect.draft > Draft::k4 && !(*wanted == value)) {
      return false;
    }
    if (const JsonValue* wanted = schema.Find("enum")) {
      if (std::none_of(wanted->items.begin(), wanted->items.end(),
                       [&](const JsonValue& v) { return v == value; })) {
        return false;
      }
    }
    if (value.is(JsonKind::kNumber)) {
      const Decimal& x = value.number;
      const auto flag = [&](const char* name) {
        const JsonValue* v = schema.Find(name);
        return v != nullptr && v->is(JsonKind::kBoolean) && v->boolean;
      };
      const bool above = flag("exclusiveMinimum");
      const bool below = flag("exclusiveMaximum");
      if (!Limit(schema, "minimum", [&](auto& m) { return above ? x > m : x >= m; }) ||
          !Limit(schema, "maximum", [&](auto& m) { return below ? x < m : x <= m; }) ||
          !Limit(schema, "exclusiveMinimum", [&](auto& m) { return x > m; }) ||
          !Limit(schema, "exclusiveMaximum", [&](auto& m) { return x < m; }) ||
          !Limit(schema, "multipleOf", [&](auto& m) { return IsMultiple(x, m); })) {
        return false;
      }
    }
    const auto between = [&](std::size_t n, const char* least, const char* most) {
      const Decimal count(static_cast<std::int64_t>(n));
      return Limit(schema, least, [&](auto& m) { return count >= m; }) &&
             Limit(schema, most, [&](auto& m) { return count <= m; });
    };
    if (value.is(JsonKind::kString)) {
      if (!between(CodePoints(value.text), "minLength", "maxLength")) return false;
      const JsonValue* pattern = schema.Find("pattern");
      if (pattern != nullptr && !Search(pattern->text, value.text)) return false;
      const JsonValue* format = schema.Find("format");
      if (options.assert_formats && format != nullptr && format->is(JsonKind::kString) &&
          !OracleFormat(format->text, value.text)) {
        return false;
      }
    }
    if (value.is(JsonKind::kArray)) {
      if (!between(value.items.size(), "minItems", "maxItems")) return false;
      const JsonValue* unique = schema.Find("uniqueItems");
      if (unique != nullptr && unique->boolean) {
        std::set<std::string> seen;
        for (const JsonValue& item : value.items) {
          if (!seen.insert(std::string(ToString(item.kind)) + item.Canonical()).second)
            return false;
        }
      }
    }
    if (value.is(JsonKind::kObject)) {
      if (!between(value.members.size(), "minProperties", "maxProperties")) return false;
      const JsonValue* required = schema.Find("required");
      if (required != nullptr && required->is(JsonKind::kArray)) {
        for (const JsonValue& name : required->items) {
          if (value.Find(name.text) == nullptr) return false;
        }
      }
      if (const JsonValue* dependent = schema.Find("dependentRequired");
          dependent != nullptr && place.dialect.draft >= Draft::k2019) {
        for (const auto& [name, needs] : dependent->members) {
          if (value.Find(name) == nullptr) continue;
          for (const JsonValue& need : needs.items) {
            if (value.Find(need.text) == nullptr) return false;
          }
        }
      }
    }
    return true;
  }

  bool Combinators(const Place& place, const JsonValue& value, const Scope& scope,
                   Evaluated& evaluated) const {
    const JsonValue& schema = *place.schema;
    const auto check = [&](const JsonValue& sub) {
      return Follow(Place{&sub, place.base, place.dialect}, value, scope, evaluated);
    };
    const auto count = [&](const JsonValue& list) {
      std::size_t n = 0;
      for (const JsonValue& sub : list.items) n += check(sub) ? 1 : 0;
      return n;
    };
    if (const auto* all = schema.Find("allOf"); all && count(*all) != all->items.size())
      return false;
    if (const auto* any = schema.Find("anyOf"); any && count(*any) == 0) return false;
    if (const auto* one = schema.Find("oneOf"); one && count(*one) != 1) return false;
    if (const auto* no = schema.Find("not")) {
      Evaluated ignored;
      if (Check(Place{no, place.base, place.dialect}, value, scope, ignored)) return false;
    }
    if (const auto* condition = schema.Find("if"); condition && place.dialect.draft >= Draft::k7) {
      const JsonValue* then = schema.Find(check(*condition) ? "then" : "else");
      if (then != nullptr && !check(*then)) return false;
    }
    if (value.is(JsonKind::kObject)) {
      if (const auto* dep = schema.Find("dependentSchemas");
          dep && place.dialect.draft >= Draft::k2019) {
        for (const auto& [name, sub] : dep->members) {
          if (value.Find(name) != nullptr && !check(sub)) return false;
        }
      }
      if (const auto* dep = schema.Find("dependencies")) {
        for (const auto& [name, sub] : dep->members) {
          if (value.Find(name) == nullptr) continue;
          if (sub.is(JsonKind::kArray)) {
            for (const JsonValue& need : sub.items) {
              if (value.Find(need.text) == nullptr) return false;
            }
          } else if (!check(sub)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  bool Sub(const Place& place, const JsonValue& sub, const JsonValue& value,
           const Scope& scope) const {
    Evaluated ignored;
    return Check(Place{&sub, place.base, place.dialect}, value, scope, ignored);
  }

  bool Members(const Place& place, const JsonValue& value, const Scope& scope,
               Evaluated& evaluated) const {
    const JsonValue& schema = *place.schema;
    const JsonValue* properties = schema.Find("properties");
    const JsonValue* patterns_of = schema.Find("patternProperties");
    const JsonValue* additional = schema.Find("additionalProperties");
    const JsonValue* names =
        place.dialect.draft > Draft::k4 ? schema.Find("propertyNames") : nullptr;
    for (const auto& [name, item] : value.members) {
      bool matched = false;
      if (properties != nullptr) {
        if (const JsonValue* sub = properties->Find(name)) {
          matched = true;
          if (!Sub(place, *sub, item, scope)) return false;
        }
      }
      if (patterns_of != nullptr) {
        for (const auto& [pattern, sub] : patterns_of->members) {
          if (!Search(pattern, name)) continue;
          matched = true;
          if (!Sub(place, sub, item, scope)) return false;
        }
      }
      if (!matched && additional != nullptr) {
        matched = true;
        if (!Sub(place, *additional, item, scope)) return false;
      }
      if (matched) evaluated.names.insert(name);
      if (names != nullptr) {
        JsonValue text;
        text.kind = JsonKind::kString;
        text.text = name;
        if (!Sub(place, *names, text, scope)) return false;
      }
    }
    return true;
  }

  bool Items(const Place& place, const JsonValue& value, const Scope& scope,
             Evaluated& evaluated) const {
    const JsonValue& schema = *place.schema;
    const Draft draft = place.dialect.draft;
    const JsonValue* items = schema.Find("items");
    const JsonValue* prefix = draft == Draft::k2020 ? schema.Find("prefixItems") : nullptr;
    const JsonValue* rest = items;
    if (items != nullptr &&
        items->is(JsonKind::kArray)) {  // the old form, in schemas of no named draft
      prefix = items;
      rest = schema.Find("additionalItems");
    }
    const std::size_t n_prefix = prefix == nullptr ? 0 : prefix->items.size();
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const JsonValue* sub = i < n_prefix ? &prefix->items[i] : rest;
      if (sub == nullptr) continue;
      evaluated.items.insert(i);
      if (!Sub(place, *sub, value.items[i], scope)) return false;
    }
    const JsonValue* contains = draft > Draft::k4 ? schema.Find("contains") : nullptr;
    if (contains == nullptr) return true;
    std::int64_t n = 0;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (!Sub(place, *contains, value.items[i], scope)) continue;
      ++n;
      if (draft == Draft::k2020) evaluated.items.insert(i);
    }
    const bool counted = draft >= Draft::k2019 && place.dialect.validation;
    const bool least = counted && schema.Find("minContains") != nullptr;
    if (least && !Limit(schema, "minContains", [&](auto& m) { return Decimal(n) >= m; }))
      return false;
    if (!least && n == 0) return false;
    return !counted || Limit(schema, "maxContains", [&](auto& m) { return Decimal(n) <= m; });
  }

  bool Check(const Place& outer, const JsonValue& value, Scope scope, Evaluated& evaluated) const {
    const JsonValue& schema = *outer.schema;
    if (schema.is(JsonKind::kBoolean)) return schema.boolean;
    if (!schema.is(JsonKind::kObject)) throw std::runtime_error("not a schema");
    const Place place = Enter(schema, outer);
    if (scope.empty() || scope.back() != place.base) scope.push_back(place.base);
    if (scope.size() > 500) throw std::runtime_error("endless references");
    if (place.dialect.draft <= Draft::k7 && schema.Find("$ref") != nullptr) {
      return References(place, value, scope, evaluated);
    }
    if (!References(place, value, scope, evaluated)) return false;
    if (place.dialect.validation && !Assertions(place, value)) return false;
    if (!Combinators(place, value, scope, evaluated)) return false;
    if (value.is(JsonKind::kObject) && !Members(place, value, scope, evaluated)) return false;
    if (value.is(JsonKind::kArray) && !Items(place, value, scope, evaluated)) return false;
    if (place.dialect.draft < Draft::k2019) return true;
    const JsonValue* rest = schema.Find("unevaluatedProperties");
    if (value.is(JsonKind::kObject) && rest != nullptr) {
      for (const auto& [name, item] : value.members) {
        if (evaluated.names.count(name) > 0) continue;
        evaluated.names.insert(name);
        if (!Sub(place, *rest, item, scope)) return false;
      }
    }
    rest = schema.Find("unevaluatedItems");
    if (value.is(JsonKind::kArray) && rest != nullptr) {
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (evaluated.items.count(i) > 0) continue;
        evaluated.items.insert(i);
        if (!Sub(place, *rest, value.items[i], scope)) return false;
      }
    }
    return true;
  }
};

JsonSchemaOracle::JsonSchemaOracle(std::string_view text, Options options)
    : impl_(std::make_unique<Impl>()) {
  const auto parse = [](std::string_view json) {
    auto value = schema::ParseJson(json);
    if (!value) throw std::runtime_error(ToString(value.error()));
    return std::move(*value);
  };
  impl_->options = std::move(options);
  impl_->root = parse(text);
  for (const auto& [uri, document] : impl_->options.documents) {
    impl_->documents.emplace(uri, parse(document));
  }
  const Dialect dialect{impl_->options.draft, true};
  for (const auto& [uri, document] : impl_->documents) {
    const Place outer{&document, uri, dialect};
    impl_->resources.try_emplace(uri, outer);
    impl_->Index(document, outer);
  }
  const Place outer{&impl_->root, "", dialect};
  impl_->resources.insert_or_assign("", outer);
  impl_->Index(impl_->root, outer);
}

JsonSchemaOracle::~JsonSchemaOracle() = default;

bool JsonSchemaOracle::IsValid(const schema::JsonValue& value) const {
  const Dialect dialect{impl_->options.draft, true};
  Evaluated evaluated;
  return impl_->Check(Place{&impl_->root, "", dialect}, value, {}, evaluated);
}

bool JsonSchemaOracle::IsValidText(std::string_view text) const {
  const auto value = schema::ParseJson(text);
  return value && IsValid(*value);
}

}  // namespace adjudge::testing
