// Value: what a Jinja expression evaluates to, with the types and words of Python.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/result.h"
#include "engine/template/budget.h"
#include "engine/template/text.h"

namespace adjudge::jinja {

enum class Kind : unsigned char {
  kMissing,  // an argument that was not given; never seen by a template
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kText,
  kList,
  kTuple,
  kDict,
  kRange,
  kView,       // dict.keys(), .values(), .items()
  kGenerator,  // items once, one after the other
  kNamespace,
  kLoop,
  kMacro,
  kFunction,  // range, dict, raise_exception ...
  kMethod,    // bound to its receiver
  kCycler,
  kJoiner,
};

struct Sequence;
struct Dict;
struct Range;
struct View;
struct Generator;
struct Namespace;
struct Undefined;
struct Method;
struct Macro;
struct Loop;
struct Cycler;
struct Joiner;

// Immutable but for namespaces, generators, cyclers and joiners, whose state all copies share.
class Value {
 public:
  Value() = default;  // missing

  static Value None() { return Value(Kind::kNone); }
  static Value Bool(bool value) { return Int(value, false, Kind::kBool); }
  static Value Int(std::int64_t value, bool trusted = false, Kind kind = Kind::kInt) {
    Value v(kind);
    v.integer_ = value;
    v.trusted_ = trusted;
    return v;
  }
  static Value Float(double value, bool trusted = false) {
    Value v(Kind::kFloat);
    v.real_ = value;
    v.trusted_ = trusted;
    return v;
  }
  static Value Function(std::int64_t id) { return Int(id, false, Kind::kFunction); }
  static Value String(TextPtr text) { return Value(Kind::kText, std::move(text)); }
  static Value String(std::string_view bytes, bool trusted = true) {
    return String(MakeText(std::string(bytes), trusted));
  }
  static Value Of(Kind kind, std::shared_ptr<const Object> object) {
    return Value(kind, std::move(object));
  }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_undefined() const { return kind_ == Kind::kUndefined; }
  bool is_missing() const { return kind_ == Kind::kMissing; }
  bool is_text() const { return kind_ == Kind::kText; }
  // An int in Python's eyes: bool is one.
  bool is_int() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool is_number() const { return is_int() || kind_ == Kind::kFloat; }
  bool is_sequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }
  // Of a number: the template's own literals and counters made it.
  bool trusted() const { return trusted_; }

  std::int64_t integer() const { return integer_; }  // bool, int; the id of a function
  double real() const { return kind_ == Kind::kFloat ? real_ : static_cast<double>(integer_); }

  const Text& text() const { return As<Text>(); }
  TextPtr text_ptr() const { return std::static_pointer_cast<const Text>(object_); }
  const Sequence& sequence() const { return As<Sequence>(); }
  std::shared_ptr<Generator> generator_ptr() const {
    return std::const_pointer_cast<Generator>(std::static_pointer_cast<const Generator>(object_));
  }
  const Dict& dict() const { return As<Dict>(); }
  const Range& range() const { return As<Range>(); }
  const View& view() const { return As<View>(); }
  const Method& method() const { return As<Method>(); }
  const Macro& macro() const;  // in macro.cc
  const Undefined& undefined() const { return As<Undefined>(); }
  // Of a value whose state all copies share.
  template <typename T>
  T& Shared() const {
    return const_cast<T&>(As<T>());
  }
  const Object* identity() const { return object_.get(); }

 private:
  explicit Value(Kind kind) : kind_(kind) {}
  Value(Kind kind, std::shared_ptr<const Object> object)
      : kind_(kind), object_(std::move(object)) {}
  template <typename T>
  const T& As() const {
    return static_cast<const T&>(*object_);
  }

  Kind kind_ = Kind::kMissing;
  bool trusted_ = false;
  union {
    std::int64_t integer_ = 0;
    double real_;
  };
  std::shared_ptr<const Object> object_;
};

// What containers know of what is in them.
struct Container : Object {
  int depth = 1;              // of nesting, itself included
  bool holds_shared = false;  // a value with shared state is somewhere inside

  void Count(const Value& item);
  // Counts `item` in; false when that nests too deeply.
  bool Admit(const Value& item, const Budget& budget);
};

struct Sequence : Container {
  std::vector<Value> items;
};

struct Dict : Container {
  std::vector<std::pair<Value, Value>> entries;  // in order of insertion

  const Value* Find(std::string_view key) const;
  // An error where the key cannot be one (a list, for example).
  Result<const Value*> Find(const Value& key) const;
  Status Set(const Value& key, Value value, Budget& budget);

 private:
  const Value* FindCoded(const std::string& coded) const;
  std::unordered_map<std::string, std::size_t> index_;  // by the coded key
};

struct Range : Object {
  std::int64_t start = 0;
  std::int64_t stop = 0;
  std::int64_t step = 1;
  std::int64_t size() const;
  Value at(std::int64_t i) const { return Value::Int(start + i * step, true); }
};

struct View : Object {
  enum class Part { kKeys, kValues, kItems };
  Value dict;
  Part part = Part::kKeys;
};

struct Generator : Container {
  std::vector<Value> items;
  std::size_t next = 0;
  std::optional<Error> error;  // what taking the item after the last one gives
  const char* type = "generator";

  // Absent at the end. Raises `error` once, as a Python generator does.
  Result<std::optional<Value>> Next();
};

struct Namespace : Object {
  std::vector<std::pair<std::string, Value>> attributes;
  const Value* Find(std::string_view name) const;
};

struct Undefined : Object {
  std::string message;
  bool security = false;  // SecurityError rather than UndefinedError
};

struct Method : Object {
  Value receiver;
  std::string name;
};

struct Cycler : Object {
  std::vector<Value> items;
  std::size_t position = 0;
};

struct Joiner : Object {
  Value separator;
  bool used = false;
};

Result<Value> MakeList(std::vector<Value> items, Budget& budget, Kind kind = Kind::kList);
Value MakeUndefined(std::string message, bool security = false);
// The undefined value that looking up `name` in `object` gives.
Value UndefinedAttribute(const Value& object, std::string_view name);
Value UndefinedElement(const Value& object, std::string_view repr);
// The error of using an undefined value.
tl::unexpected<Error> UndefinedError(const Value& undefined);

// type(value).__name__
std::string_view TypeName(const Value& value);
bool Truth(const Value& value);
// The key under which a dict or a set of seen values files it: equal exactly for equal values.
Result<std::string> CodedKey(const Value& value);

// len(value); TypeError where it has none.
Result<std::int64_t> Length(const Value& value, Budget& budget);
// All items of an iterable, as Python's iter() gives them; uses up a generator.
Result<std::vector<Value>> Items(const Value& value, Budget& budget);
bool IsIterable(const Value& value);
// iter(value): a generator is its own iterator.
Result<std::shared_ptr<Generator>> Iterate(const Value& value, Budget& budget);
// Something in `value` has state that it shares with others, so that it could come to hold itself.
bool HoldsShared(const Value& value);
// The characters of a text, each with its trust.
std::vector<Value> Characters(const Text& text);

}  // namespace adjudge::jinja
