#include "engine/template/value.h"

#include <bit>
#include <cmath>

#include "engine/template/loop.h"
#include "engine/template/print.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

constexpr std::size_t kLinearSearch = 8;  // entries up to which a dict needs no index

// object_type_repr of Jinja.
std::string ObjectTypeRepr(const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
      return "None";
    case Kind::kNamespace:
      return "jinja2.utils.Namespace object";
    case Kind::kLoop:
      return "jinja2.runtime.LoopContext object";
    case Kind::kMacro:
      return "jinja2.runtime.Macro object";
    case Kind::kText:
      return value.text().markup ? "markupsafe.Markup object" : "str object";
    default:
      return std::string(TypeName(value)) + " object";
  }
}

int DepthOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kList:
    case Kind::kTuple:
      return value.sequence().depth;
    case Kind::kDict:
      return value.dict().depth;
    case Kind::kGenerator:
      return value.Shared<Generator>().depth;
    case Kind::kView:
      return value.view().dict.dict().depth + 1;
    case Kind::kMethod:
      return DepthOf(value.method().receiver) + 1;
    default:
      return 0;
  }
}

}  // namespace

bool HoldsShared(const Value& value) {
  switch (value.kind()) {
    case Kind::kList:
    case Kind::kTuple:
      return value.sequence().holds_shared;
    case Kind::kDict:
      return value.dict().holds_shared;
    case Kind::kGenerator:
      return value.Shared<Generator>().holds_shared;
    case Kind::kView:
      return value.view().dict.dict().holds_shared;
    case Kind::kMethod:
      return HoldsShared(value.method().receiver);
    case Kind::kJoiner:
      return HoldsShared(value.Shared<Joiner>().separator);
    case Kind::kNamespace:
    case Kind::kLoop:
    case Kind::kCycler:
      return true;
    default:
      return false;
  }
}

void Container::Count(const Value& item) {
  depth = std::max(depth, DepthOf(item) + 1);
  holds_shared = holds_shared || HoldsShared(item);
}

bool Container::Admit(const Value& item, const Budget& budget) {
  Count(item);
  return depth <= budget.max_depth();
}

const Value* Dict::FindCoded(const std::string& coded) const {
  const auto found = index_.find(coded);
  return found == index_.end() ? nullptr : &entries[found->second].second;
}

const Value* Dict::Find(std::string_view key) const {
  if (entries.size() > kLinearSearch) {
    std::string coded = "s";
    coded += key;
    return FindCoded(coded);
  }
  for (const auto& [name, value] : entries) {
    if (name.is_text() && name.text().bytes == key) return &value;
  }
  return nullptr;
}

Result<const Value*> Dict::Find(const Value& key) const {
  if (key.is_text()) return Find(key.text().view());
  ADJUDGE_ASSIGN_OR_RETURN(const std::string coded, CodedKey(key));
  return FindCoded(coded);
}

Status Dict::Set(const Value& key, Value value, Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(4));
  ADJUDGE_ASSIGN_OR_RETURN(std::string coded, CodedKey(key));
  ADJUDGE_RETURN_IF_ERROR(budget.SpendBytes(coded.size()));
  if (!Admit(key, budget) || !Admit(value, budget)) {
    return tl::unexpected<Error>(TooDeep(budget, "a value"));
  }
  const auto [place, fresh] = index_.try_emplace(std::move(coded), entries.size());
  if (fresh) {
    entries.emplace_back(key, std::move(value));
  } else {
    entries[place->second].second = std::move(value);
  }
  return {};
}

std::int64_t Range::size() const {
  // As differences of unsigned numbers: start and stop may be anywhere in 64 bits.
  if (step > 0 && start < stop) {
    const auto distance = static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start);
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>((distance - 1) / static_cast<std::uint64_t>(step) + 1, INT64_MAX));
  }
  if (step < 0 && start > stop) {
    const auto distance = static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
    const auto stride = std::uint64_t{0} - static_cast<std::uint64_t>(step);
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>((distance - 1) / stride + 1, INT64_MAX));
  }
  return 0;
}

Result<std::optional<Value>> Generator::Next() {
  if (next < items.size()) return items[next++];
  if (error) return tl::unexpected<Error>(*std::exchange(error, std::nullopt));
  return std::nullopt;
}

const Value* Namespace::Find(std::string_view name) const {
  for (const auto& [key, value] : attributes) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<Value> MakeList(std::vector<Value> items, Budget& budget, Kind kind) {
  ADJUDGE_RETURN_IF_ERROR(budget.SpendItems(items.size()));
  auto sequence = std::make_shared<Sequence>();
  for (const Value& item : items) {
    if (!sequence->Admit(item, budget)) return tl::unexpected<Error>(TooDeep(budget, "a value"));
  }
  sequence->items = std::move(items);
  return Value::Of(kind, std::move(sequence));
}

Value MakeUndefined(std::string message, bool security) {
  auto undefined = std::make_shared<Undefined>();
  undefined->message = std::move(message);
  undefined->security = security;
  return Value::Of(Kind::kUndefined, std::move(undefined));
}

Value UndefinedAttribute(const Value& object, std::string_view name) {
  return MakeUndefined(QuotedRepr(ObjectTypeRepr(object)) + " has no attribute " +
                       QuotedRepr(name));
}

Value UndefinedElement(const Value& object, std::string_view repr) {
  return MakeUndefined(ObjectTypeRepr(object) + " has no element " + std::string(repr));
}

tl::unexpected<Error> UndefinedError(const Value& undefined) {
  const Undefined& what = undefined.undefined();
  return Raise(what.security ? "SecurityError" : "UndefinedError", what.message);
}

std::string_view TypeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
      return "missing";
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kText:
      return value.text().markup ? "Markup" : "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kView:
      return value.view().part == View::Part::kKeys     ? "dict_keys"
             : value.view().part == View::Part::kValues ? "dict_values"
                                                        : "dict_items";
    case Kind::kGenerator:
      return value.Shared<Generator>().type;
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kMacro:
      return "Macro";
    case Kind::kFunction:
      return "function";
    case Kind::kMethod:
      return "builtin_function_or_method";
    case Kind::kCycler:
      return "Cycler";
    case Kind::kJoiner:
      return "Joiner";
  }
  return "object";
}

bool Truth(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.integer() != 0;
    case Kind::kFloat:
      return value.real() != 0;
    case Kind::kText:
      return !value.text().bytes.empty();
    case Kind::kList:
    case Kind::kTuple:
      return !value.sequence().items.empty();
    case Kind::kDict:
      return !value.dict().entries.empty();
    case Kind::kRange:
      return value.range().size() > 0;
    case Kind::kView:
      return !value.view().dict.dict().entries.empty();
    default:
      return true;
  }
}

namespace {

std::string Coded(char kind, std::string_view what) {
  std::string coded(1, kind);
  coded.append(what);
  return coded;
}

}  // namespace

Result<std::string> CodedKey(const Value& value) {
  switch (value.kind()) {
    case Kind::kText:
      return Coded('s', value.text().bytes);
    case Kind::kNone:
      return std::string("n");
    case Kind::kUndefined:
      return std::string("u");
    case Kind::kBool:
    case Kind::kInt:
      return Coded('i', std::to_string(value.integer()));
    case Kind::kFloat: {
      const double real = value.real();
      if (real == std::floor(real) && std::abs(real) < 9e18) {
        return Coded('i', std::to_string(static_cast<std::int64_t>(real)));
      }
      return Coded('f', std::to_string(std::bit_cast<std::uint64_t>(real)));
    }
    case Kind::kTuple: {
      std::string coded = "t";
      for (const Value& item : value.sequence().items) {
        ADJUDGE_ASSIGN_OR_RETURN(const std::string part, CodedKey(item));
        coded += std::to_string(part.size()) + ":" + part;
      }
      return coded;
    }
    case Kind::kList:
    case Kind::kDict:
      return Raise("TypeError", "unhashable type: '" + std::string(TypeName(value)) + "'");
    default:
      return Refuse("a key of type " + std::string(TypeName(value)));
  }
}

Result<std::int64_t> Length(const Value& value, Budget& budget) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kText:
      ADJUDGE_RETURN_IF_ERROR(budget.SpendBytes(value.text().bytes.size()));
      return static_cast<std::int64_t>(CountCodePoints(value.text().bytes));
    case Kind::kList:
    case Kind::kTuple:
      return static_cast<std::int64_t>(value.sequence().items.size());
    case Kind::kDict:
      return static_cast<std::int64_t>(value.dict().entries.size());
    case Kind::kRange:
      return value.range().size();
    case Kind::kView:
      return static_cast<std::int64_t>(value.view().dict.dict().entries.size());
    case Kind::kLoop:
      return value.Shared<Loop>().Length(budget);
    default:
      return Raise("TypeError",
                   "object of type '" + std::string(TypeName(value)) + "' has no len()");
  }
}

std::vector<Value> Characters(const Text& text) {
  std::vector<Value> items;
  for (std::size_t i = 0; i < text.bytes.size();) {
    const std::size_t bytes = DecodeAt(text.bytes, i).bytes;
    items.push_back(Value::String(text.view().substr(i, bytes), text.trust.At(i)));
    i += bytes;
  }
  return items;
}

namespace {

Result<std::vector<Value>> ViewItems(const View& view, Budget& budget) {
  std::vector<Value> items;
  for (const auto& [key, value] : view.dict.dict().entries) {
    if (view.part == View::Part::kItems) {
      ADJUDGE_ASSIGN_OR_RETURN(Value pair, MakeList({key, value}, budget, Kind::kTuple));
      items.push_back(std::move(pair));
    } else {
      items.push_back(view.part == View::Part::kKeys ? key : value);
    }
  }
  return items;
}

Result<std::vector<Value>> GeneratorItems(Generator& generator) {
  std::vector<Value> items;
  while (true) {
    ADJUDGE_ASSIGN_OR_RETURN(std::optional<Value> item, generator.Next());
    if (!item) return items;
    items.push_back(*std::move(item));
  }
}

}  // namespace

Result<std::vector<Value>> Items(const Value& value, Budget& budget) {
  if (!IsIterable(value)) {
    return Raise("TypeError", Quoted(TypeName(value)) + " object is not iterable");
  }
  if (value.is(Kind::kLoop) || value.is(Kind::kCycler)) {
    return Refuse("iterating over a " + std::string(TypeName(value)));
  }
  if (value.is_undefined()) return std::vector<Value>();
  if (!value.is(Kind::kGenerator)) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t length, Length(value, budget));
    ADJUDGE_RETURN_IF_ERROR(budget.Spend(length));
  }
  switch (value.kind()) {
    case Kind::kText:
      return Characters(value.text());
    case Kind::kList:
    case Kind::kTuple:
      return value.sequence().items;
    case Kind::kDict: {
      View keys;
      keys.dict = value;
      return ViewItems(keys, budget);
    }
    case Kind::kView:
      return ViewItems(value.view(), budget);
    case Kind::kRange: {
      std::vector<Value> items;
      for (std::int64_t i = 0; i < value.range().size(); ++i) items.push_back(value.range().at(i));
      return items;
    }
    default: {
      Generator& generator = value.Shared<Generator>();
      ADJUDGE_RETURN_IF_ERROR(budget.SpendItems(generator.items.size()));
      return GeneratorItems(generator);
    }
  }
}

Result<std::shared_ptr<Generator>> Iterate(const Value& value, Budget& budget) {
  if (value.is(Kind::kGenerator)) return value.generator_ptr();
  auto generator = std::make_shared<Generator>();
  ADJUDGE_ASSIGN_OR_RETURN(generator->items, Items(value, budget));
  return generator;
}

bool IsIterable(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kText:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kView:
    case Kind::kGenerator:
    case Kind::kLoop:
    case Kind::kCycler:
      return true;
    default:
      return false;
  }
}

}  // namespace adjudge::jinja
