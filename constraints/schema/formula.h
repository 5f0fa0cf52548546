// Formulas: boolean combinations of what single keywords say, shared by value.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "constraints/schema/decimal.h"
#include "constraints/schema/json_value.h"
#include "constraints/schema/language.h"

namespace adjudge::schema {

using FormulaId = std::int32_t;
using NameSetId = std::int32_t;

// The kinds of values that first bytes tell apart; the two booleans are kinds of their own.
enum class Type : unsigned char { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };
inline constexpr int kTypes = 7;
using TypeMask = std::uint32_t;
inline constexpr TypeMask Bit(Type type) { return 1U << static_cast<unsigned>(type); }
inline constexpr TypeMask kBooleans = Bit(Type::kFalse) | Bit(Type::kTrue);
inline constexpr TypeMask kAllTypes = (1U << kTypes) - 1;

// Names: those listed and those of the languages; or all others, where negated.
struct NameSet {
  std::vector<std::string> names;     // ascending, each once
  std::vector<LanguageId> languages;  // ascending, each once
  bool negated = false;
  bool is_single() const { return !negated && languages.empty() && names.size() == 1; }
  bool is_all() const { return negated && languages.empty() && names.empty(); }
};

struct Bounds {
  bool has_low = false, has_high = false;
  bool low_open = false, high_open = false;  // the bound itself is left out
  Decimal low, high;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

enum class FormulaKind : unsigned char {
  kTrue,
  kFalse,
  kAnd,
  kOr,
  kOne,  // exactly one of the parts, which may repeat; negated: none or several
  // Atoms. Each speaks of one type and holds for values of every other; negated, it fails for them.
  kType,      // a: TypeMask; speaks of all types
  kBounds,    // a: index of bounds
  kMultiple,  // a: index of a decimal
  kNumbers,   // a: index of a list of decimals
  kLanguage,  // a: language
  kLength,    // a..b code points
  kTexts,     // a: index of a list of texts
  kMembers,   // members named in NameSet a have values in formula b
  kNames,     // member names, as strings, are in formula a
  kCount,     // a..b members
  kItem,      // the item at index a, if there is one, is in formula b
  kItems,     // items at index a and later are in formula b
  kContains,  // of the items at index a and later, c..d are in formula b
  kSize,      // a..b items
  kUnique,    // no two items are equal
  kSchema,    // what the schema at place a, in dynamic scope b, says; speaks of all types
};

struct Formula {
  FormulaKind kind = FormulaKind::kTrue;
  bool negated = false;
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  std::vector<FormulaId> parts;
};

class FormulaPool {
 public:
  static constexpr FormulaId kTrueId = 0;
  static constexpr FormulaId kFalseId = 1;

  FormulaPool();
  const Formula& Get(FormulaId id) const { return nodes_[static_cast<std::size_t>(id)]; }

  FormulaId And(std::vector<FormulaId> parts);
  FormulaId And(FormulaId a, FormulaId b) { return And(std::vector<FormulaId>{a, b}); }
  FormulaId Or(std::vector<FormulaId> parts);
  FormulaId Or(FormulaId a, FormulaId b) { return Or(std::vector<FormulaId>{a, b}); }
  FormulaId Not(FormulaId a);
  // One of the parts and no other: a node of its own, since branches that exclude each other anyway
  // need no negations.
  FormulaId ExactlyOne(std::vector<FormulaId> parts);

  FormulaId OfType(TypeMask mask);
  FormulaId InBounds(const Bounds& bounds);
  FormulaId MultipleOf(const Decimal& step);
  FormulaId InNumbers(std::vector<Decimal> numbers);
  FormulaId InLanguage(LanguageId language);
  FormulaId OfLength(std::uint32_t least, std::uint32_t most);
  FormulaId InTexts(std::vector<std::string> texts);
  FormulaId Members(NameSetId names, FormulaId value);
  FormulaId Names(FormulaId name);
  FormulaId Count(std::uint32_t least, std::uint32_t most);
  FormulaId Item(std::uint32_t index, FormulaId value);
  FormulaId Items(std::uint32_t from, FormulaId value);
  FormulaId Contains(std::uint32_t from, FormulaId value, std::uint32_t least, std::uint32_t most);
  FormulaId Size(std::uint32_t least, std::uint32_t most);
  FormulaId Unique();
  FormulaId Schema(std::int32_t place, std::int32_t scope);

  // Exactly this value.
  FormulaId Const(const JsonValue& value);
  FormulaId Enum(const std::vector<JsonValue>& values);
  FormulaId Required(const std::string& name);

  NameSetId AddNames(NameSet names);
  NameSetId OneName(const std::string& name) { return AddNames({{name}, {}, false}); }
  NameSetId AllNames() { return AddNames({{}, {}, true}); }
  const NameSet& name_set(NameSetId id) const { return name_sets_[static_cast<std::size_t>(id)]; }
  const Bounds& bounds(std::int32_t i) const { return bounds_[static_cast<std::size_t>(i)]; }
  const Decimal& decimal(std::int32_t i) const { return decimals_[static_cast<std::size_t>(i)]; }
  const std::vector<Decimal>& numbers(std::int32_t i) const {
    return numbers_[static_cast<std::size_t>(i)];
  }
  const std::vector<std::string>& texts(std::int32_t i) const {
    return texts_[static_cast<std::size_t>(i)];
  }
  std::size_t size() const { return nodes_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  FormulaId Intern(Formula node);
  FormulaId Combine(FormulaKind kind, std::vector<FormulaId> parts);

  std::vector<Formula> nodes_;
  std::unordered_map<std::string, FormulaId> ids_;
  std::unordered_map<FormulaId, FormulaId> nots_;
  std::vector<NameSet> name_sets_;
  std::unordered_map<std::string, NameSetId> name_ids_;
  std::vector<Bounds> bounds_;
  std::vector<Decimal> decimals_;
  std::vector<std::vector<Decimal>> numbers_;
  std::vector<std::vector<std::string>> texts_;
  std::unordered_map<std::string, std::int32_t> payload_ids_;
  std::size_t bytes_ = 0;
};

}  // namespace adjudge::schema
