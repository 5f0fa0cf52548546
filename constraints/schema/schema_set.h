// SchemaSet: the documents of a schema, and what their references lead to.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "constraints/schema/json_value.h"
#include "engine/base/result.h"

namespace adjudge::schema {

enum class Draft : unsigned char { k4, k6, k7, k2019, k2020 };

struct Dialect {
  Draft draft = Draft::k2020;
  // No dialect was named anywhere: old spellings (a boolean exclusiveMinimum, an array as `items`,
  // `dependencies`) keep their old meaning beside the new ones.
  bool assumed = false;
  // What $vocabulary of a custom meta-schema asks for.
  bool validation = true;
  bool format_assertion = false;
  friend bool operator==(const Dialect&, const Dialect&) = default;
};

// One schema in one of the documents, with what holds inside it.
struct SchemaPlace {
  const JsonValue* schema = nullptr;
  std::string base;      // uri that references start from
  std::string pointer;   // from the root of its document
  std::string document;  // uri of the document, empty for the schema's own text
  Dialect dialect;
};

using PlaceId = std::int32_t;

// Immutable documents; places are made as they are asked for. One thread at a time.
class SchemaSet {
 public:
  struct Options {
    Draft draft = Draft::k2020;
    bool draft_given = false;
    std::map<std::string, std::string> documents;  // uri -> text, beside the known meta-schemas
    JsonLimits limits;
  };

  // Errors: JSON, an unknown dialect, two schemas of one name; place = pointer.
  static Result<std::unique_ptr<SchemaSet>> Load(std::string_view text, const Options& options);

  PlaceId root() const { return root_; }
  const SchemaPlace& place(PlaceId id) const { return places_[static_cast<std::size_t>(id)]; }
  // "pointer", behind the document's uri where it is not the schema's own text.
  std::string Where(PlaceId id, std::string_view keyword = {}) const;

  // A schema below `parent` (entered: with its own $id and $schema).
  Result<PlaceId> Sub(PlaceId parent, const JsonValue& schema, std::string_view keyword,
                      std::string_view key = {});
  // What the reference of `from` names. Errors: place = the keyword's pointer.
  Result<PlaceId> Resolve(PlaceId from, std::string_view keyword, const std::string& reference);
  // The place that declares `name` as $dynamicAnchor in the resource `base`, or -1.
  PlaceId DynamicAnchor(const std::string& base, const std::string& name) const;
  // Root of the resource of that base. REQUIRES: `base` is the base of some place.
  Result<PlaceId> Resource(const std::string& base);
  bool uses_dynamic_scope() const { return dynamic_; }

  // Keywords that the standard does not know and formats and such, for reports.
  std::vector<std::string> notes;

 private:
  Result<PlaceId> Enter(const JsonValue& schema, const SchemaPlace& outer, std::string pointer);
  Status Index(const JsonValue& schema, const SchemaPlace& outer, const std::string& pointer);
  Status LoadDocument(const std::string& uri);
  Result<Dialect> DialectOf(const JsonValue& schema, Dialect outer, const std::string& where);
  Result<PlaceId> Pointer(PlaceId at, const std::string& pointer, const std::string& where);

  Options options_;
  std::map<std::string, std::string> known_;  // texts not yet parsed
  std::map<std::string, std::unique_ptr<JsonValue>> documents_;
  std::vector<SchemaPlace> places_;
  std::unordered_map<std::string, PlaceId> ids_;
  std::unordered_map<std::string, PlaceId> resources_;
  std::unordered_map<std::string, PlaceId> anchors_;
  std::unordered_map<std::string, PlaceId> dynamic_anchors_;
  PlaceId root_ = 0;
  bool dynamic_ = false;
};

}  // namespace adjudge::schema
