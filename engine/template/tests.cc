#include "engine/template/tests.h"

#include <algorithm>
#include <optional>

#include "engine/template/filters.h"
#include "engine/template/methods.h"
#include "engine/template/operators.h"
#include "engine/template/print.h"

namespace adjudge::jinja {
namespace {

// Tests of one value, without arguments.
using Plain = bool (*)(const Value&);
struct PlainTest {
  std::string_view name;
  Plain holds;
};

bool IsSequence(const Value& value) {
  return value.is_text() || value.is_sequence() || value.is(Kind::kDict) ||
         value.is(Kind::kRange) || value.is_undefined();
}

bool IsCallable(const Value& value) {
  switch (value.kind()) {
    case Kind::kFunction:
    case Kind::kMethod:
    case Kind::kMacro:
    case Kind::kLoop:
    case Kind::kJoiner:
    case Kind::kUndefined:
      return true;
    default:
      return false;
  }
}

constexpr PlainTest kPlainTests[] = {
    {"defined", [](const Value& v) { return !v.is_undefined(); }},
    {"undefined", [](const Value& v) { return v.is_undefined(); }},
    {"none", [](const Value& v) { return v.is(Kind::kNone); }},
    {"boolean", [](const Value& v) { return v.is(Kind::kBool); }},
    {"true", [](const Value& v) { return v.is(Kind::kBool) && v.integer() != 0; }},
    {"false", [](const Value& v) { return v.is(Kind::kBool) && v.integer() == 0; }},
    {"integer", [](const Value& v) { return v.is(Kind::kInt); }},
    {"float", [](const Value& v) { return v.is(Kind::kFloat); }},
    {"number", [](const Value& v) { return v.is_number(); }},
    {"string", [](const Value& v) { return v.is_text(); }},
    {"mapping", [](const Value& v) { return v.is(Kind::kDict); }},
    {"sequence", IsSequence},
    {"iterable", IsIterable},
    {"callable", IsCallable},
    {"escaped", [](const Value& v) { return v.is_text() && v.text().markup; }},
};

struct ComparisonTest {
  std::string_view name;
  Operator op;
};

constexpr ComparisonTest kComparisonTests[] = {
    {"eq", Operator::kEqual},        {"equalto", Operator::kEqual},
    {"==", Operator::kEqual},        {"ne", Operator::kNotEqual},
    {"!=", Operator::kNotEqual},     {"lt", Operator::kLess},
    {"lessthan", Operator::kLess},   {"<", Operator::kLess},
    {"le", Operator::kLessEqual},    {"<=", Operator::kLessEqual},
    {"gt", Operator::kGreater},      {"greaterthan", Operator::kGreater},
    {">", Operator::kGreater},       {"ge", Operator::kGreaterEqual},
    {">=", Operator::kGreaterEqual}, {"in", Operator::kIn}};

constexpr std::string_view kOtherTests[] = {"odd",    "even", "divisibleby", "sameas",
                                            "filter", "test", "lower",       "upper"};

Result<bool> IsDivisible(const Value& value, const Value& by, std::int64_t rest, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const Value modulo, Arithmetic(Operator::kModulo, value, by, budget));
  return Equals(modulo, Value::Int(rest), budget);
}

Result<bool> IsSame(const Value& value, const Value& other) {
  if (value.kind() != other.kind()) return false;
  if (value.is(Kind::kNone)) return true;
  if (value.is(Kind::kBool)) return value.integer() == other.integer();
  if (value.is_number() || value.is_text() || value.is(Kind::kFunction)) {
    return Refuse("the test 'sameas' for " + std::string(TypeName(value)));
  }
  return value.identity() == other.identity();
}

Result<bool> IsCase(std::string_view name, const Value& value, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(TextPtr text, ToText(value, budget));
  ADJUDGE_ASSIGN_OR_RETURN(
      const Value holds,
      CallTextMethod(text, name == "lower" ? "islower" : "isupper", Arguments(), budget));
  return Truth(holds);
}

Result<bool> ApplyOther(std::string_view name, const Value& value, const Arguments& arguments,
                        Budget& budget) {
  if (name == "divisibleby" || name == "sameas") {
    ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind(name, arguments, {"other"}, 1));
    return name == "sameas" ? IsSame(value, bound[0]) : IsDivisible(value, bound[0], 0, budget);
  }
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind(name, arguments, {}));
  if (name == "odd" || name == "even") {
    return IsDivisible(value, Value::Int(2), name == "odd" ? 1 : 0, budget);
  }
  if (name == "lower" || name == "upper") return IsCase(name, value, budget);
  if (!value.is_text()) return false;
  return name == "filter" ? HasFilter(value.text().view()) : HasTest(value.text().view());
}

std::optional<Operator> FindComparison(std::string_view name) {
  for (const ComparisonTest& test : kComparisonTests) {
    if (test.name == name) return test.op;
  }
  return std::nullopt;
}

Plain FindPlain(std::string_view name) {
  for (const PlainTest& test : kPlainTests) {
    if (test.name == name) return test.holds;
  }
  return nullptr;
}

}  // namespace

bool HasTest(std::string_view name) {
  return FindPlain(name) != nullptr || FindComparison(name) ||
         std::find(std::begin(kOtherTests), std::end(kOtherTests), name) != std::end(kOtherTests);
}

Result<bool> ApplyTest(std::string_view name, const Value& value, const Arguments& arguments,
                       Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
  if (const Plain holds = FindPlain(name)) {
    ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind(name, arguments, {}));
    return holds(value);
  }
  if (const std::optional<Operator> op = FindComparison(name)) {
    ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind(name, arguments, {"other"}, 1));
    return Compare(*op, value, bound[0], budget);
  }
  if (!HasTest(name)) return Refuse("the test '" + std::string(name.substr(0, 40)) + "'");
  return ApplyOther(name, value, arguments, budget);
}

}  // namespace adjudge::jinja
