// Lowering: the keywords of one schema -> a formula.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "constraints/schema/formula.h"
#include "constraints/schema/schema_set.h"
#include "engine/base/result.h"

namespace adjudge::schema {

struct LoweringOptions {
  bool assert_formats = true;
  bool strict_formats = false;         // refuse names of formats that the standard does not know
  std::size_t max_alternatives = 256;  // of what unevaluated* may have to tell apart
};

// A keyword of the wrong type, a reference that leads nowhere, or what is not done exactly is an
// error; its place is the keyword's pointer. One thread at a time.
class Lowering {
 public:
  Lowering(SchemaSet& set, FormulaPool& formulas, LanguagePool& languages,
           const LoweringOptions& options)
      : set_(set), formulas_(formulas), languages_(languages), options_(options) {}

  // The formula of a kSchema node; the schemas below it are kSchema nodes again.
  Result<FormulaId> Lower(PlaceId place, std::int32_t scope);
  Result<FormulaId> Root() { return SchemaAt(set_.root(), 0); }

  // Names of formats that were taken as annotations, for reports.
  const std::set<std::string>& unknown_formats() const { return unknown_formats_; }
  const std::string& WhereOf(PlaceId place);

 private:
  // What is evaluated of the members and items where `condition` holds too.
  struct Evaluated {
    FormulaId condition = FormulaPool::kTrueId;
    NameSet names;
    bool all_names = false;
    std::uint32_t prefix = 0;
    bool all_items = false;
    std::vector<FormulaId> matching;  // items in one of these (contains)
    bool nothing() const {
      return names.names.empty() && names.languages.empty() && !all_names && prefix == 0 &&
             !all_items && matching.empty();
    }
  };
  using Alternatives = std::vector<Evaluated>;
  struct Context {
    PlaceId place;
    std::int32_t scope;
    const JsonValue* schema;
    Dialect dialect;
    std::vector<FormulaId> parts;
  };

  Result<FormulaId> SchemaAt(PlaceId place, std::int32_t scope);
  Result<FormulaId> SubSchema(const Context& at, const JsonValue& schema, std::string_view keyword,
                              std::string_view key = {});
  std::int32_t Enter(std::int32_t scope, const std::string& base);

  tl::unexpected<Error> Wrong(const Context& at, std::string_view keyword,
                              const std::string& expected) const;
  Result<std::uint32_t> Number(const Context& at, const char* keyword, std::uint32_t absent);
  Status References(Context& at);
  Result<PlaceId> DynamicTarget(const Context& at, const std::string& reference);
  Result<PlaceId> RecursiveTarget(const Context& at);
  Status Types(Context& at);
  Status Numbers(Context& at);
  Status Strings(Context& at);
  Status Format(Context& at);
  Status Objects(Context& at);
  Status Members(Context& at);
  Status Dependencies(Context& at);
  Status Arrays(Context& at);
  Status Contains(Context& at);
  Status Combinators(Context& at);
  Status Unevaluated(Context& at);

  Result<LanguageId> Pattern(const Context& at, const std::string& pattern,
                             std::string_view keyword);
  // The names of `properties` and the languages of `patternProperties`.
  Result<NameSet> DeclaredNames(const Context& at);
  struct ItemKeywords {
    const JsonValue* prefix = nullptr;
    const JsonValue* rest = nullptr;
    const char* prefix_keyword = "prefixItems";
    const char* rest_keyword = "items";
  };
  ItemKeywords ItemsOf(const Context& at) const;

  Result<Alternatives> EvaluatedAt(PlaceId place, std::int32_t scope, int depth);
  Result<Alternatives> EvaluatedBy(const Context& at, int depth);
  Status Join(const Context& at, Alternatives& into, const Alternatives& more);

  SchemaSet& set_;
  FormulaPool& formulas_;
  LanguagePool& languages_;
  LoweringOptions options_;
  std::unordered_map<std::uint64_t, FormulaId> memo_;
  std::vector<std::vector<std::string>> scopes_ = {{}};
  std::unordered_map<std::string, std::int32_t> scope_ids_;
  std::unordered_map<std::string, LanguageId> patterns_;
  std::set<std::string> unknown_formats_;
};

}  // namespace adjudge::schema
