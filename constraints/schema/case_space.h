// CaseSpace: formulas as alternatives of typed cases, and whether anything satisfies them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "constraints/schema/formula.h"
#include "constraints/schema/lowering.h"
#include "constraints/schema/number_case.h"
#include "constraints/schema/string_case.h"

namespace adjudge::schema {

using CaseId = std::int32_t;

// An object: every member that is named in the first of a pair of `all` has a value in its second;
// for each pair of `some` there is a member named and valued so; least..most members.
struct ObjectCase {
  std::vector<std::pair<NameSetId, FormulaId>> all;
  std::vector<std::pair<NameSetId, FormulaId>> some;
  std::uint32_t least = 0;
  std::uint32_t most = kNoBound;
};

// An array: item i is in prefix[i], later ones in `rest`; of the items from `from` on, least..most
// are in `value`, for each of `contains`; least..most items; no two equal, or some two equal.
struct ArrayCase {
  struct Contains {
    std::uint32_t from;
    FormulaId value;
    std::uint32_t least;
    std::uint32_t most;
    friend bool operator==(const Contains&, const Contains&) = default;
  };
  std::vector<FormulaId> prefix;
  FormulaId rest = FormulaPool::kTrueId;
  std::vector<Contains> contains;
  std::uint32_t least = 0;
  std::uint32_t most = kNoBound;
  bool unique = false;
  bool repeats = false;
  FormulaId At(std::uint32_t index) const { return index < prefix.size() ? prefix[index] : rest; }
};

// Null and the booleans have nothing to say more.
using Case = std::variant<std::monostate, NumberCase, StringCase, ObjectCase, ArrayCase>;

// An object case made ready: names that are told apart, and classes of all others.
struct ObjectPlan {
  struct Slot {
    std::string name;
    FormulaId value = FormulaPool::kTrueId;
    bool required = false;
    std::uint32_t some = 0;  // bits of the open obligations that it can meet
    std::int32_t order = 0;  // as declared
  };
  struct Others {
    LanguageId language = LanguagePool::kAll;
    FormulaId value = FormulaPool::kTrueId;
    std::uint32_t some = 0;
    bool infinite = true;
    std::uint64_t size = 0;  // names in the class that are no slot's; where finite
  };
  std::vector<Slot> slots;         // by name
  std::vector<std::string> names;  // of the slots
  std::vector<std::int32_t> by_order;
  std::vector<std::int32_t> required;  // slots
  std::vector<Others> others;
  std::vector<FormulaId> some;  // what meets each open obligation
  std::uint32_t least = 0;
  std::uint32_t most = kNoBound;
  bool counts() const { return least > 0 || most != kNoBound; }
};

struct SpaceLimits {
  std::size_t max_cases = 2'000;  // alternatives of one formula for one type
  std::size_t max_formulas = 400'000;
  std::size_t max_states = 20'000;     // of the automaton of a set of strings
  std::int64_t max_steps = 4'000'000;  // of one call
};

// Does something satisfy it? kOpen: the question is being asked already, further out.
enum class Truth : signed char { kNo, kYes, kOpen };

// One thread at a time. Errors are kept in status(): once it says so, answers mean nothing.
class CaseSpace {
 public:
  CaseSpace(SchemaSet& set, const LoweringOptions& options, const SpaceLimits& limits);

  FormulaPool& formulas() { return formulas_; }
  LanguagePool& languages() { return languages_; }
  Lowering& lowering() { return lowering_; }
  const Status& status() const { return status_; }
  void SetError(const Error& error) {
    if (status_) status_ = tl::unexpected<Error>(error);
  }
  void ClearError() { status_ = {}; }
  // How shortest texts are spelt.
  void set_spelling(bool ordered, NumberForms forms) {
    ordered_ = ordered;
    forms_ = forms;
  }
  void Refill() { steps_ = limits_.max_steps; }

  // Lowers every schema that the formula speaks of, so that no keyword is refused later on.
  Status LowerAll(FormulaId root);

  // The cases of `formula` for values of `type`. Null: they are being found further out, or an
  // error.
  const std::vector<CaseId>* Cases(Type type, FormulaId formula);
  // Those that are not empty; none with an error. REQUIRES: not called from within a question.
  const std::vector<CaseId>& LiveCases(Type type, FormulaId formula);
  Truth Satisfiable(FormulaId formula);
  bool IsSatisfiable(FormulaId formula) { return Satisfiable(formula) == Truth::kYes; }

  const Case& case_of(CaseId id) const { return cases_[static_cast<std::size_t>(id)]; }
  const NumberCase& number(CaseId id) const { return std::get<NumberCase>(case_of(id)); }
  const StringCase& string(CaseId id) const { return std::get<StringCase>(case_of(id)); }
  const ArrayCase& array(CaseId id) const { return std::get<ArrayCase>(case_of(id)); }
  // Null only with an error.
  const ObjectPlan* Plan(CaseId id);

  // Can an object be completed? `used`: slots that stand already; `met`: obligations; `count`:
  // members so far; `taken`: how many members of each class of others stand already; slots of an
  // order below `from_order` may not come any more.
  Truth Completable(const ObjectPlan& plan, const std::vector<bool>& used, std::uint32_t met,
                    std::uint32_t count, const std::vector<std::uint32_t>& taken,
                    std::int32_t from_order);

  // Where an array is. Counts are cut off where more makes no difference.
  struct ArrayState {
    std::uint32_t index = 0;            // of the next item, at most ArrayHorizon()
    std::uint32_t size = 0;             // items so far
    std::vector<std::uint32_t> counts;  // per contains
    std::vector<std::string> seen;      // canonical texts of the items so far, ascending
    bool repeated = false;              // two were equal
    friend bool operator==(const ArrayState&, const ArrayState&) = default;
  };
  Truth Completable(const ArrayCase& array, const ArrayState& at);
  bool Ends(const ArrayCase& array, const ArrayState& at) const;
  // The ways to take the next item: what it has to satisfy, and the state behind it (without
  // `seen`, which depends on the value; `repeats` says that the item equals an earlier one).
  struct ArrayStep {
    FormulaId value = FormulaPool::kTrueId;
    ArrayState next;
  };
  std::vector<ArrayStep> ArraySteps(const ArrayCase& array, const ArrayState& at);
  // Items whose values have to be known later on.
  static bool Remembers(const ArrayCase& array) { return array.unique || array.repeats; }
  ArrayState AfterItem(const ArrayCase& array, ArrayState next, const JsonValue& value) const;

  // Values that satisfy it, in canonical form; all of them if there are fewer than `cap`.
  std::vector<std::string> Values(FormulaId formula, std::uint32_t cap);
  // A short compact text of a value. nullopt: none, or an error.
  std::optional<std::string> Shortest(FormulaId formula);
  // A short rest of an object or array, from the next member or item on, without the bracket.
  std::optional<std::string> ShortestObject(const ObjectPlan& plan, std::vector<bool> used,
                                            std::uint32_t met, std::uint32_t count,
                                            std::vector<std::string> names, std::int32_t from_order,
                                            bool first);
  std::optional<std::string> ShortestArray(const ArrayCase& array, ArrayState at, bool first);

  // The language of the strings that satisfy a formula.
  NameSet NamesOf(FormulaId formula);
  std::size_t bytes() const;

 private:
  using CaseList = std::vector<Case>;

  CaseList Expand(Type type, FormulaId formula);
  CaseList List(Type type, FormulaId formula);
  CaseList ExpandAtom(Type type, const Formula& atom);
  CaseList ExpandNumber(const Formula& atom);
  CaseList ExpandString(const Formula& atom);
  CaseList ExpandObject(const Formula& atom);
  CaseList ExpandArray(const Formula& atom);
  CaseList ExpandAnd(Type type, const std::vector<FormulaId>& parts);
  CaseList ExpandOne(Type type, const Formula& one);
  bool Exclude(Type type, FormulaId a, FormulaId b);  // surely nothing satisfies both
  static Case Top(Type type);
  // `into` and `other`; false: surely empty.
  bool Conjoin(Case& into, const Case& other);
  CaseList Product(CaseList a, const CaseList& b);
  CaseId Intern(Type type, Case value);
  void Normalise(Case& value);
  std::string KeyOf(const Case& value) const;

  Truth CaseSatisfiable(CaseId id);
  // How the open obligations of an object are met: by slots, or by members of other names.
  struct Assignment {
    const ObjectPlan& plan;
    const std::vector<bool>& used;
    std::uint32_t count;
    const std::vector<std::uint32_t>& taken;
    std::int32_t from_order;
    std::unordered_map<std::int32_t, FormulaId> slots;      // -> what it has to meet too
    std::vector<std::pair<std::int32_t, FormulaId>> fresh;  // class, what it has to meet too
  };
  Truth Assign(Assignment& so_far, std::uint32_t open);
  Truth CheckAssignment(const Assignment& done);
  Truth UniqueCompletable(const ArrayCase& array, const ArrayState& at);
  Truth CountedCompletable(const ArrayCase& array, const ArrayState& at);
  void AddUniqueSteps(const ArrayCase& array, const ArrayState& at, ArrayStep step,
                      std::vector<ArrayStep>& steps);
  FormulaId ConstOf(const std::string& canonical);
  FormulaId Without(FormulaId formula, const std::vector<std::string>& values);
  static std::uint32_t Horizon(const ArrayCase& array);
  static ArrayState Advance(const ArrayCase& array, const ArrayState& at);
  void BuildPlan(const ObjectCase& object, ObjectPlan& plan);
  void BuildOthers(const ObjectCase& object, ObjectPlan& plan,
                   const std::vector<std::pair<NameSetId, FormulaId>>& open);
  bool Matches(const NameSet& set, const std::string& name) const;
  bool Spend(std::int64_t steps);
  bool Stopped() const { return !status_ || blocked_; }
  std::optional<std::string> ShortestOfCase(Type type, CaseId id);

  SchemaSet& set_;
  SpaceLimits limits_;
  FormulaPool formulas_;
  LanguagePool languages_;
  Lowering lowering_;
  Status status_;
  std::int64_t steps_ = 0;

  std::vector<Case> cases_;
  std::vector<Type> case_types_;
  std::unordered_map<std::string, CaseId> case_ids_;
  std::unordered_map<std::uint64_t, std::vector<CaseId>> expanded_;
  std::unordered_map<std::uint64_t, std::vector<CaseId>> live_;
  std::unordered_map<std::uint64_t, int> expanding_;  // -> questions_ when it began
  // An expansion met itself through a question: what hangs on it is not known until it is done.
  bool blocked_ = false;
  std::unordered_map<CaseId, ObjectPlan> plans_;

  std::unordered_map<FormulaId, Truth> truths_;
  std::unordered_map<CaseId, Truth> case_truths_;
  std::unordered_map<FormulaId, int> asking_;  // -> depth
  int questions_ = 0;                          // Satisfiable calls on the stack
  int lowest_ = 1 << 30;                       // outermost question that an open answer hangs on
  std::unordered_map<std::string, FormulaId> consts_;
  std::unordered_map<FormulaId, std::optional<std::string>> shortest_;
  std::unordered_set<FormulaId> shortening_;
  bool cut_ = false;  // a search met itself
  bool ordered_ = false;
  NumberForms forms_ = NumberForms::kAll;
  std::size_t text_bytes_ = 0;
};

}  // namespace adjudge::schema
