// The syntax tree of a template. Immutable once parsed; chains of operators and of postfixes are
// flat, so that the depth of the tree is the depth of the source's nesting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/template/operators.h"
#include "engine/template/text.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

// A name of the template, by its number in Template::names.
using NameId = int;

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr list;  // *list
  ExprPtr dict;  // **dict
};

// What follows an operand: .name [item] [a:b:c] (call) |filter "is test".
struct Postfix {
  enum class Kind { kAttribute, kItem, kSlice, kCall, kFilter, kTest };
  Kind kind = Kind::kAttribute;
  int line = 0;
  std::string name;  // of the attribute, filter or test
  ExprPtr item;
  ExprPtr start, stop, step;
  CallArguments arguments;
  bool negated = false;  // "is not"
};

struct Expr {
  enum class Kind {
    kConst,
    kName,
    kList,
    kTuple,
    kDict,         // operands are keys and values in turn
    kNegate,       // -a
    kPlus,         // +a
    kNot,          // not a
    kAnd,          // a and b and c
    kOr,           // a or b or c
    kConcat,       // a ~ b ~ c
    kArithmetic,   // a op b op c, from the left
    kCompare,      // a op b op c, as Python chains them
    kConditional,  // operands: test, then, and perhaps else
    kPostfix,      // operand followed by postfixes
  };
  Kind kind = Kind::kConst;
  int line = 0;
  Value constant;
  NameId name = -1;
  std::vector<ExprPtr> operands;
  std::vector<Operator> operators;  // between the operands
  std::vector<Postfix> postfixes;
};

// What `set` and `for` assign to.
struct Target {
  enum class Kind { kName, kAttribute, kTuple };
  Kind kind = Kind::kName;
  NameId name = -1;
  std::string attribute;      // name.attribute of a namespace
  std::vector<Target> parts;  // of a tuple
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Parameter {
  NameId name = -1;
  std::string spelling;
  ExprPtr otherwise;  // the default, or null
};

struct Signature {
  std::string name;
  std::vector<Parameter> parameters;
  bool uses_caller = false;
  bool uses_varargs = false;
  bool uses_kwargs = false;
};

struct Branch {
  ExprPtr test;  // null for else
  Body body;
};

struct Statement {
  enum class Kind {
    kData,
    kOutput,
    kIf,
    kFor,
    kSet,
    kSetBlock,
    kWith,
    kMacro,
    kCallBlock,
    kFilterBlock,
    kScope,  // {% generation %}
    kBreak,
    kContinue,
  };
  Kind kind = Kind::kData;
  int line = 0;
  TextPtr data;                  // kData
  ExprPtr expr;                  // output; iterable; value of set; the call of a call block
  std::vector<Branch> branches;  // kIf
  Target target;                 // for, set
  ExprPtr filter;                // the `if` of a for
  Body body;
  Body otherwise;                                       // else of a for
  Signature signature;                                  // macro, call block
  NameId name = -1;                                     // of the macro
  std::vector<Postfix> filters;                         // of a filter block or block set
  std::vector<std::pair<Target, ExprPtr>> assignments;  // with
};

struct Template {
  Body body;
  std::vector<std::string> names;
};

}  // namespace adjudge::jinja
