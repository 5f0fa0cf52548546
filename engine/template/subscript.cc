// Items, attributes and slices.
#include <algorithm>

#include "engine/template/loop.h"
#include "engine/template/macro.h"
#include "engine/template/methods.h"
#include "engine/template/operators.h"
#include "engine/template/print.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

struct SliceBounds {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

Result<std::optional<std::int64_t>> SliceIndex(const Value& value) {
  if (value.is_missing() || value.is(Kind::kNone)) return std::nullopt;
  if (value.is_int()) return value.integer();
  return Raise("TypeError", "slice indices must be integers or None or have an __index__ method");
}

std::int64_t Clamp(std::int64_t index, std::int64_t length, bool backwards) {
  if (index < 0) {
    index = index < -length ? -1 : index + length;
    if (index < 0) return backwards ? -1 : 0;
  }
  return std::min(index, backwards ? length - 1 : length);
}

// Python's rules for start:stop:step over `length` items.
Result<SliceBounds> Bounds(const Value& start_value, const Value& stop_value,
                           const Value& step_value, std::int64_t length) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> step, SliceIndex(step_value));
  ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> start, SliceIndex(start_value));
  ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> stop, SliceIndex(stop_value));
  SliceBounds bounds;
  bounds.step = std::max(step.value_or(1), -INT64_MAX);
  if (bounds.step == 0) return Raise("ValueError", "slice step cannot be zero");
  const bool backwards = bounds.step < 0;
  bounds.start = start ? Clamp(*start, length, backwards) : (backwards ? length - 1 : 0);
  bounds.end = stop ? Clamp(*stop, length, backwards) : (backwards ? -1 : length);
  if (backwards && bounds.end < bounds.start) {
    bounds.count = (bounds.start - bounds.end - 1) / -bounds.step + 1;
  } else if (!backwards && bounds.start < bounds.end) {
    bounds.count = (bounds.end - bounds.start - 1) / bounds.step + 1;
  }
  return bounds;
}

// Byte offsets of every character, and the end.
std::vector<std::size_t> Offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < text.size(); i += DecodeAt(text, i).bytes) offsets.push_back(i);
  offsets.push_back(text.size());
  return offsets;
}

Result<Value> SliceText(const TextPtr& text, const Value& start, const Value& stop,
                        const Value& step, Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(budget.SpendBytes(text->bytes.size()));
  const bool ascii = IsAscii(text->bytes);
  const std::vector<std::size_t> offsets =
      ascii ? std::vector<std::size_t>() : Offsets(text->bytes);
  const auto offset = [&](std::int64_t i) {
    return ascii ? static_cast<std::size_t>(i) : offsets[static_cast<std::size_t>(i)];
  };
  const std::size_t length = ascii ? text->bytes.size() : offsets.size() - 1;
  ADJUDGE_ASSIGN_OR_RETURN(const SliceBounds bounds,
                           Bounds(start, stop, step, static_cast<std::int64_t>(length)));
  if (bounds.count == 0) return Value::String("", true);
  if (bounds.step == 1) {
    ADJUDGE_ASSIGN_OR_RETURN(TextPtr part, SubText(text, offset(bounds.start),
                                                   offset(bounds.start + bounds.count), budget));
    return Value::String(std::move(part));
  }
  TextBuilder out(budget);
  for (std::int64_t i = 0; i < bounds.count; ++i) {
    const std::int64_t at = bounds.start + i * bounds.step;
    out.Append(*text, offset(at), offset(at + 1));
  }
  ADJUDGE_ASSIGN_OR_RETURN(TextPtr part, out.Finish());
  return Value::String(std::move(part));
}

Result<Value> SliceRange(const Range& range, const SliceBounds& bounds) {
  auto out = std::make_shared<Range>();
  std::int64_t from = 0;
  std::int64_t to = 0;
  if (__builtin_mul_overflow(bounds.start, range.step, &from) ||
      __builtin_add_overflow(range.start, from, &out->start) ||
      __builtin_mul_overflow(bounds.end, range.step, &to) ||
      __builtin_add_overflow(range.start, to, &out->stop) ||
      __builtin_mul_overflow(range.step, bounds.step, &out->step)) {
    return Refuse("a range of numbers that do not fit in 64 bits");
  }
  return Value::Of(Kind::kRange, std::move(out));
}

Value CharacterAt(const Text& text, std::int64_t index) {
  std::size_t offset = 0;
  if (IsAscii(text.bytes)) {
    offset = static_cast<std::size_t>(index);
  } else {
    for (; index > 0; --index) offset += DecodeAt(text.bytes, offset).bytes;
  }
  const std::size_t bytes = DecodeAt(text.bytes, offset).bytes;
  return Value::String(text.view().substr(offset, bytes), text.trust.At(offset));
}

// value[key] where value is indexed by position; absent where out of range.
Result<std::optional<Value>> AtPosition(const Value& value, std::int64_t index, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t length, Length(value, budget));
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::nullopt;
  if (value.is_text()) return CharacterAt(value.text(), index);
  if (value.is(Kind::kRange)) return value.range().at(index);
  return value.sequence().items[static_cast<std::size_t>(index)];
}

// An attribute proper, not an item; missing where there is none.
Result<Value> OwnAttribute(const Value& value, std::string_view name, Budget& budget) {
  if (value.is(Kind::kNamespace)) {
    const Value* found = value.Shared<Namespace>().Find(name);
    return found == nullptr ? Value() : *found;
  }
  if (value.is(Kind::kLoop)) {
    ADJUDGE_ASSIGN_OR_RETURN(std::optional<Value> found,
                             value.Shared<Loop>().Attribute(name, budget));
    if (found) return *std::move(found);
  }
  if (value.is(Kind::kMacro)) return value.macro().Attribute(name).value_or(Value());
  if (value.is(Kind::kRange)) {
    if (name == "start") return Value::Int(value.range().start);
    if (name == "stop") return Value::Int(value.range().stop);
    if (name == "step") return Value::Int(value.range().step);
  }
  if (value.is(Kind::kCycler) && name == "current") {
    const Cycler& cycler = value.Shared<Cycler>();
    return cycler.items[cycler.position];
  }
  if (!HasMethod(value.kind(), name)) return Value();
  auto method = std::make_shared<Method>();
  method->receiver = value;
  method->name = name;
  return Value::Of(Kind::kMethod, std::move(method));
}

// Attributes that exist and that the sandbox forbids.
bool IsUnsafe(const Value& value, std::string_view name, bool found) {
  if (name.starts_with("__") && name.ends_with("__")) return true;
  return (found && name.starts_with("_")) || IsMutator(value.kind(), name);
}

Value Unsafe(const Value& value, std::string_view name) {
  return MakeUndefined("access to attribute " + QuotedRepr(name) + " of '" +
                           std::string(TypeName(value)) + "' object is unsafe.",
                       true);
}

}  // namespace

Result<Value> Slice(const Value& value, const Value& start, const Value& stop, const Value& step,
                    Budget& budget) {
  if (value.is_undefined()) return UndefinedError(value);
  if (value.is_text()) return SliceText(value.text_ptr(), start, stop, step, budget);
  if (value.is(Kind::kDict)) return Raise("TypeError", "unhashable type: 'slice'");
  if (!value.is_sequence() && !value.is(Kind::kRange)) {
    return Raise("TypeError", Quoted(TypeName(value)) + " object is not subscriptable");
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t length, Length(value, budget));
  ADJUDGE_ASSIGN_OR_RETURN(const SliceBounds bounds, Bounds(start, stop, step, length));
  if (value.is(Kind::kRange)) return SliceRange(value.range(), bounds);
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(bounds.count));
  for (std::int64_t i = 0; i < bounds.count; ++i) {
    items.push_back(
        value.sequence().items[static_cast<std::size_t>(bounds.start + i * bounds.step)]);
  }
  return MakeList(std::move(items), budget, value.kind());
}

Result<Value> GetItem(const Value& value, const Value& key, Budget& budget) {
  if (value.is_undefined()) return UndefinedError(value);
  if (value.is(Kind::kDict)) {
    const Result<const Value*> found = value.dict().Find(key);
    if (found && *found != nullptr) return **found;
    if (!found && found.error().code == ErrorCode::kUnsupported) {
      return tl::unexpected<Error>(found.error());
    }
  } else if (key.is_int() && (value.is_text() || value.is_sequence() || value.is(Kind::kRange))) {
    ADJUDGE_ASSIGN_OR_RETURN(std::optional<Value> item, AtPosition(value, key.integer(), budget));
    if (item) return *std::move(item);
  }
  if (key.is_text()) {
    const std::string_view name = key.text().view();
    ADJUDGE_ASSIGN_OR_RETURN(Value found, OwnAttribute(value, name, budget));
    if (IsUnsafe(value, name, !found.is_missing())) return Unsafe(value, name);
    return found.is_missing() ? UndefinedAttribute(value, name) : std::move(found);
  }
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr repr, ToRepr(key, budget));
  return UndefinedElement(value, repr->bytes);
}

Result<Value> GetAttribute(const Value& value, std::string_view name, Budget& budget) {
  if (value.is_undefined()) return UndefinedError(value);
  ADJUDGE_ASSIGN_OR_RETURN(Value found, OwnAttribute(value, name, budget));
  if (IsUnsafe(value, name, !found.is_missing())) return Unsafe(value, name);
  if (!found.is_missing()) return found;
  if (value.is(Kind::kDict)) {
    const Value* item = value.dict().Find(name);
    if (item != nullptr) return *item;
  }
  return UndefinedAttribute(value, name);
}

}  // namespace adjudge::jinja
