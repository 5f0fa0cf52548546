#include "constraints/schema/schema_set.h"

#include <algorithm>
#include <set>
#include <utility>

#include "constraints/schema/metaschemas.h"
#include "constraints/schema/uri.h"

namespace adjudge::schema {
namespace {

bool KnownDialect(std::string_view uri, Draft& draft) {
  static constexpr std::pair<std::string_view, Draft> kKnown[] = {
      {"json-schema.org/draft-04/schema", Draft::k4},
      {"json-schema.org/draft-06/schema", Draft::k6},
      {"json-schema.org/draft-07/schema", Draft::k7},
      {"json-schema.org/draft/2019-09/schema", Draft::k2019},
      {"json-schema.org/draft/2020-12/schema", Draft::k2020}};
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (uri.substr(0, scheme.size()) == scheme) {
      uri.remove_prefix(scheme.size());
      break;
    }
  }
  if (!uri.empty() && uri.back() == '#') uri.remove_suffix(1);
  for (const auto& [name, value] : kKnown) {
    if (uri != name) continue;
    draft = value;
    return true;
  }
  return false;
}

// Where schemas lie inside schemas: a list or one; a map of them.
const std::set<std::string_view>& Applicators() {
  static const std::set<std::string_view> kNames = {"items",
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
  return kNames;
}
const std::set<std::string_view>& Maps() {
  static const std::set<std::string_view> kNames = {"properties",   "patternProperties",
                                                    "$defs",        "definitions",
                                                    "dependencies", "dependentSchemas"};
  return kNames;
}

}  // namespace

Result<std::unique_ptr<SchemaSet>> SchemaSet::Load(std::string_view text, const Options& options) {
  auto set = std::make_unique<SchemaSet>();
  set->options_ = options;
  set->known_ = options.documents;
  ADJUDGE_ASSIGN_OR_RETURN(JsonValue root, ParseJson(text, options.limits));
  auto document = std::make_unique<JsonValue>(std::move(root));
  const JsonValue& value = *document;
  set->documents_.emplace("", std::move(document));
  SchemaPlace outer;
  outer.dialect.draft = options.draft;
  outer.dialect.assumed = !options.draft_given;
  // Whether dynamic scopes have to be followed, also for documents that are not read yet.
  const auto mentions = [](std::string_view source) {
    return source.find("dynamicRef") != std::string_view::npos ||
           source.find("recursiveRef") != std::string_view::npos ||
           source.find("json-schema.org/draft/20") != std::string_view::npos;
  };
  set->dynamic_ = mentions(text);
  for (const auto& [uri, source] : options.documents) set->dynamic_ |= mentions(source);
  ADJUDGE_ASSIGN_OR_RETURN(const PlaceId first, set->Enter(value, outer, ""));
  set->root_ = first;
  set->resources_[""] = first;
  set->resources_.try_emplace(set->place(first).base, first);
  ADJUDGE_RETURN_IF_ERROR(set->Index(value, outer, ""));
  return set;
}

std::string SchemaSet::Where(PlaceId id, std::string_view keyword) const {
  const SchemaPlace& at = place(id);
  std::string where = at.pointer;
  if (!keyword.empty()) where = PointerJoin(where, keyword);
  if (!at.document.empty()) where = at.document + "#" + where;
  return where.empty() ? "/" : where;
}

Result<Dialect> SchemaSet::DialectOf(const JsonValue& schema, Dialect outer,
                                     const std::string& where) {
  const JsonValue* name = schema.Find("$schema");
  if (name == nullptr) return outer;
  const std::string place = PointerJoin(where, "$schema");
  if (!name->is(JsonKind::kString)) {
    return Fail(ErrorCode::kMalformed, "expected a string, found " + name->ToText(), place);
  }
  Dialect dialect;
  if (KnownDialect(name->text, dialect.draft)) return dialect;
  const std::string uri = SplitFragment(name->text).first;
  if (documents_.count(uri) == 0) {
    if (!LoadDocument(uri)) {
      return Fail(ErrorCode::kUnsupported,
                  "unknown dialect " + name->ToText() +
                      "; known are drafts 4, 6, 7, 2019-09, 2020-12 and supplied documents",
                  place);
    }
  }
  const JsonValue& meta = *documents_[uri];
  if (const JsonValue* above = meta.Find("$schema")) KnownDialect(above->text, dialect.draft);
  if (const JsonValue* vocabulary = meta.Find("$vocabulary")) {
    const std::string draft = dialect.draft == Draft::k2019 ? "2019-09" : "2020-12";
    const std::string words = "https://json-schema.org/draft/" + draft + "/vocab/";
    dialect.validation = vocabulary->Find(words + "validation") != nullptr;
    dialect.format_assertion = vocabulary->Find(words + "format-assertion") != nullptr;
  }
  return dialect;
}

Result<PlaceId> SchemaSet::Enter(const JsonValue& schema, const SchemaPlace& outer,
                                 std::string pointer) {
  SchemaPlace place = outer;
  place.schema = &schema;
  place.pointer = std::move(pointer);
  if (schema.is(JsonKind::kObject)) {
    ADJUDGE_ASSIGN_OR_RETURN(place.dialect, DialectOf(schema, outer.dialect, place.pointer));
    const bool old = place.dialect.draft <= Draft::k7;
    const JsonValue* id = schema.Find(place.dialect.draft == Draft::k4 ? "id" : "$id");
    const bool names = id != nullptr && id->is(JsonKind::kString) && !id->text.empty() &&
                       !(old && (id->text[0] == '#' || schema.Find("$ref") != nullptr));
    if (names) place.base = SplitFragment(ResolveUri(outer.base, id->text)).first;
  }
  const std::string key = place.document + "#" + place.pointer + "#" + place.base;
  const auto [at, fresh] = ids_.try_emplace(key, static_cast<PlaceId>(places_.size()));
  if (fresh) places_.push_back(std::move(place));
  return at->second;
}

Status SchemaSet::Index(const JsonValue& schema, const SchemaPlace& outer,
                        const std::string& pointer) {
  if (schema.is(JsonKind::kArray)) {
    for (std::size_t i = 0; i < schema.items.size(); ++i) {
      ADJUDGE_RETURN_IF_ERROR(
          Index(schema.items[i], outer, PointerJoin(pointer, std::to_string(i))));
    }
  }
  if (!schema.is(JsonKind::kObject)) return {};
  bool names = false;
  for (const auto& [name, value] : schema.members) {
    names |= name == "$id" || name == "id" || name == "$anchor" || name == "$dynamicAnchor" ||
             name == "$schema" || name == "$recursiveAnchor";
  }
  SchemaPlace inner = outer;
  inner.pointer = pointer;
  if (names) {
    ADJUDGE_ASSIGN_OR_RETURN(const PlaceId id, Enter(schema, outer, pointer));
    inner = place(id);
    if (inner.base != outer.base) resources_.try_emplace(inner.base, id);
    const Draft draft = inner.dialect.draft;
    const auto text = [&](const char* keyword) {
      const JsonValue* value = schema.Find(keyword);
      return value != nullptr && value->is(JsonKind::kString) ? value->text : std::string();
    };
    const std::string own = text(draft == Draft::k4 ? "id" : "$id");
    if (draft <= Draft::k7 && !own.empty() && schema.Find("$ref") == nullptr) {
      const auto [uri, fragment] = SplitFragment(ResolveUri(outer.base, own));
      if (!fragment.empty()) anchors_.try_emplace(uri + "#" + fragment, id);
    }
    if (draft >= Draft::k2019) {
      for (const char* keyword : {"$anchor", "$dynamicAnchor"}) {
        const std::string anchor = text(keyword);
        if (anchor.empty()) continue;
        anchors_.try_emplace(inner.base + "#" + anchor, id);
        if (keyword[1] == 'd') dynamic_anchors_.try_emplace(inner.base + "#" + anchor, id);
      }
    }
  }
  for (const auto& [name, value] : schema.members) {
    if (Maps().count(name) > 0) {
      for (const auto& [key, sub] : value.members) {
        ADJUDGE_RETURN_IF_ERROR(Index(sub, inner, PointerJoin(PointerJoin(pointer, name), key)));
      }
    } else if (Applicators().count(name) > 0) {
      ADJUDGE_RETURN_IF_ERROR(Index(value, inner, PointerJoin(pointer, name)));
    }
  }
  return {};
}

Status SchemaSet::LoadDocument(const std::string& uri) {
  auto text = known_.find(uri);
  if (text == known_.end()) text = known_.find(uri + "#");
  if (text == known_.end()) {
    static const std::map<std::string, std::string> kMeta = MetaSchemas();
    const auto meta = kMeta.find(uri);
    if (meta == kMeta.end()) {
      return Fail(ErrorCode::kNotFound, "no document " + QuoteJson(uri) + " was supplied");
    }
    text = known_.emplace(uri, meta->second).first;
  }
  auto value = ParseJson(text->second, options_.limits);
  if (!value) {
    value.error().place = uri + ": " + value.error().place;
    return tl::unexpected<Error>(value.error());
  }
  auto document = std::make_unique<JsonValue>(std::move(*value));
  const JsonValue& root = *document;
  documents_[uri] = std::move(document);
  SchemaPlace outer;
  outer.base = uri;
  outer.document = uri;
  outer.dialect.draft = options_.draft;
  outer.dialect.assumed = !options_.draft_given;
  ADJUDGE_ASSIGN_OR_RETURN(const PlaceId id, Enter(root, outer, ""));
  resources_.try_emplace(uri, id);
  resources_.try_emplace(place(id).base, id);
  return Index(root, outer, "");
}

Result<PlaceId> SchemaSet::Sub(PlaceId parent, const JsonValue& schema, std::string_view keyword,
                               std::string_view key) {
  const SchemaPlace outer = place(parent);
  std::string pointer = PointerJoin(outer.pointer, keyword);
  if (!key.empty() || keyword == "properties" || keyword == "patternProperties" ||
      keyword == "dependentSchemas" || keyword == "dependencies") {
    pointer = PointerJoin(pointer, key);
  }
  return Enter(schema, outer, std::move(pointer));
}

Result<PlaceId> SchemaSet::Pointer(PlaceId at, const std::string& pointer,
                                   const std::string& where) {
  std::size_t i = 0;
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
    const SchemaPlace outer = place(at);
    const JsonValue* next = outer.schema->Find(part);
    if (outer.schema->is(JsonKind::kArray)) {
      const bool number = !part.empty() && part.size() < 9 &&
                          part.find_first_not_of("0123456789") == std::string::npos;
      const std::size_t index = number ? std::stoul(part) : outer.schema->items.size();
      next = index < outer.schema->items.size() ? &outer.schema->items[index] : nullptr;
    }
    if (next == nullptr) {
      return Fail(ErrorCode::kNotFound, "nothing lies at " + QuoteJson(pointer), where);
    }
    ADJUDGE_ASSIGN_OR_RETURN(at, Enter(*next, outer, PointerJoin(outer.pointer, part)));
    i = end;
  }
  return at;
}

Result<PlaceId> SchemaSet::Resource(const std::string& base) {
  auto found = resources_.find(base);
  if (found == resources_.end()) {
    ADJUDGE_RETURN_IF_ERROR(LoadDocument(base));
    found = resources_.find(base);
  }
  return found->second;
}

Result<PlaceId> SchemaSet::Resolve(PlaceId from, std::string_view keyword,
                                   const std::string& reference) {
  const std::string where = Where(from, keyword);
  const auto [base, fragment] = SplitFragment(ResolveUri(place(from).base, reference));
  auto resource = Resource(base);
  if (!resource) {
    Error error = resource.error();
    error.message = "the reference " + QuoteJson(reference) + " leads nowhere: " + error.message;
    error.place = where;
    return tl::unexpected<Error>(std::move(error));
  }
  if (!fragment.empty() && fragment[0] != '/') {
    const auto anchor = anchors_.find(base + "#" + fragment);
    if (anchor == anchors_.end()) {
      return Fail(ErrorCode::kNotFound, "no anchor " + QuoteJson(fragment), where);
    }
    return anchor->second;
  }
  return Pointer(*resource, fragment, where);
}

PlaceId SchemaSet::DynamicAnchor(const std::string& base, const std::string& name) const {
  const auto found = dynamic_anchors_.find(base + "#" + name);
  return found == dynamic_anchors_.end() ? -1 : found->second;
}

}  // namespace adjudge::schema
