// SchemaRecognizer: objects, and the texts of keys and strings.
#include <algorithm>
#include <utility>

#include "constraints/schema/schema_recognizer.h"
#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace adjudge::schema {
namespace {

constexpr std::int32_t kOthersOnly = 1 << 30;  // from_order, once another name stands
constexpr int kMaxClaims = 8;
constexpr char32_t kLastControl = 0x1F;  // JSON strings hold none of these unescaped

template <typename T>
void Append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

int HexDigit(std::uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const int lower = byte | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::int32_t SchemaRecognizer::NewObject(CaseId id) {
  const ObjectPlan* plan = space_->Plan(id);
  if (plan == nullptr) return -1;
  ObjectState state;
  state.plan = id;
  state.used.resize(plan->slots.size());
  state.taken.resize(plan->others.size());
  return InternObject(std::move(state));
}

std::int32_t SchemaRecognizer::InternObject(ObjectState state) {
  std::string key;
  Append(key, state.plan);
  Append(key, state.met);
  Append(key, state.count);
  Append(key, state.from_order);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < state.used.size(); ++i) {
    word |= static_cast<std::uint64_t>(state.used[i]) << (i % 64);
    if (i % 64 == 63 || i + 1 == state.used.size()) {
      Append(key, word);
      word = 0;
    }
  }
  for (const std::uint32_t n : state.taken) Append(key, n);
  for (const std::string& name : state.extras) {
    Append(key, name.size());
    key += name;
  }
  const auto [at, fresh] =
      object_ids_.try_emplace(std::move(key), static_cast<std::int32_t>(objects_.size()));
  if (fresh) {
    bytes_ += 2 * at->first.size() + sizeof(ObjectState) + sizeof(ObjectInfo) + 100;
    objects_.push_back(std::move(state));
    object_infos_.emplace_back();
  }
  return at->second;
}

std::vector<SchemaRecognizer::Option> SchemaRecognizer::MakeOptions(const ObjectState& next,
                                                                    FormulaId value,
                                                                    std::uint32_t some) {
  const ObjectPlan& plan = *space_->Plan(next.plan);
  std::vector<Option> options;
  std::vector<std::uint32_t> claims;
  for (std::uint32_t j = 0; j < plan.some.size(); ++j) {
    if (((some & ~next.met) >> j & 1U) != 0) claims.push_back(j);
  }
  if (claims.size() > kMaxClaims) {
    space_->SetError({ErrorCode::kLimit, "more than 8 obligations may be met by one member", "/"});
    return options;
  }
  for (std::uint32_t chosen = 0; chosen < (1U << claims.size()); ++chosen) {
    ObjectState after = next;
    std::vector<FormulaId> parts{value};
    for (std::size_t k = 0; k < claims.size(); ++k) {
      if ((chosen >> k & 1U) == 0) continue;
      parts.push_back(plan.some[claims[k]]);
      after.met |= 1U << claims[k];
    }
    const FormulaId wanted = space_->formulas().And(std::move(parts));
    if (!space_->IsSatisfiable(wanted)) continue;
    if (space_->Completable(plan, after.used, after.met, after.count, after.taken,
                            after.from_order) != Truth::kYes) {
      continue;
    }
    options.push_back({wanted, InternObject(std::move(after))});
  }
  return options;
}

const std::vector<SchemaRecognizer::Option>& SchemaRecognizer::SlotOptions(std::int32_t object,
                                                                           std::int32_t slot) {
  const auto at = static_cast<std::size_t>(object);
  const auto known = object_infos_[at].slots.find(slot);
  if (known != object_infos_[at].slots.end()) return known->second;
  ObjectState next = objects_[at];
  const ObjectPlan& plan = *space_->Plan(next.plan);
  const auto i = static_cast<std::size_t>(slot);
  std::vector<Option> options;
  if (!next.used[i] && plan.slots[i].order >= next.from_order) {
    next.used[i] = true;
    if (plan.counts()) ++next.count;
    if (plan.most == kNoBound) next.count = std::min(next.count, plan.least);
    if (options_.declared_order) next.from_order = plan.slots[i].order + 1;
    options = MakeOptions(next, plan.slots[i].value, plan.slots[i].some);
  }
  bytes_ += 64 + options.size() * sizeof(Option);
  return object_infos_[at].slots[slot] = std::move(options);
}

const std::vector<SchemaRecognizer::Option>& SchemaRecognizer::OtherOptions(std::int32_t object,
                                                                            std::int32_t cls) {
  const auto at = static_cast<std::size_t>(object);
  const auto known = object_infos_[at].others.find(cls);
  if (known != object_infos_[at].others.end()) return known->second;
  ObjectState next = objects_[at];
  const ObjectPlan& plan = *space_->Plan(next.plan);
  const auto c = static_cast<std::size_t>(cls);
  const ObjectPlan::Others& others = plan.others[c];
  std::vector<Option> options;
  if (others.infinite || next.taken[c] < others.size) {
    if (!others.infinite) ++next.taken[c];
    if (plan.counts()) ++next.count;
    if (plan.most == kNoBound) next.count = std::min(next.count, plan.least);
    if (options_.declared_order) next.from_order = kOthersOnly;
    options = MakeOptions(next, others.value, others.some);
  }
  bytes_ += 64 + options.size() * sizeof(Option);
  return object_infos_[at].others[cls] = std::move(options);
}

bool SchemaRecognizer::CanGoOn(std::int32_t object) {
  const auto at = static_cast<std::size_t>(object);
  if (object_infos_[at].can_go_on < 0) {
    const bool can = KeyAlive(object, KeyBegin(object));
    object_infos_[at].can_go_on = can ? 1 : 0;
  }
  return object_infos_[at].can_go_on == 1;
}

bool SchemaRecognizer::ObjectEnds(std::int32_t object) {
  const auto at = static_cast<std::size_t>(object);
  if (object_infos_[at].ends < 0) {
    const ObjectState& state = objects_[at];
    const ObjectPlan& plan = *space_->Plan(state.plan);
    bool ends = state.count >= plan.least &&
                state.met == static_cast<std::uint32_t>((std::uint64_t{1} << plan.some.size()) - 1);
    for (const std::int32_t slot : plan.required) {
      ends = ends && state.used[static_cast<std::size_t>(slot)];
    }
    object_infos_[at].ends = ends ? 1 : 0;
  }
  return object_infos_[at].ends == 1;
}

void SchemaRecognizer::StepObject(StackId stack, std::uint8_t byte, Threads& out) {
  if (SpaceStep(stack, byte, out)) return;
  Frame frame = Top(stack);
  if (byte == '}') {
    if (frame.b == kComma || !SpaceDone(frame, stack, true) || !ObjectEnds(frame.a)) return;
    if (const auto done = Return(frame.below)) out.push_back(*done);
    return;
  }
  if (!SpaceDone(frame, stack, false)) return;
  if (frame.b == kAfter) {
    if (byte != ',' || !CanGoOn(frame.a)) return;
    frame.b = kComma;
    frame.space = 0;
    out.push_back(Replace(frame));
    return;
  }
  if (byte != '"' || !CanGoOn(frame.a)) return;
  out.push_back(Push(frame.below, Kind::kKey, frame.a, InternKey(KeyBegin(frame.a))));
}

// Keys.

SchemaRecognizer::KeyPosition SchemaRecognizer::KeyBegin(std::int32_t object) {
  const ObjectState& state = objects_[static_cast<std::size_t>(object)];
  const ObjectPlan& plan = *space_->Plan(state.plan);
  KeyPosition position;
  position.slots = {0, static_cast<std::int32_t>(plan.slots.size())};
  position.extras = {0, static_cast<std::int32_t>(state.extras.size())};
  position.classes.assign(plan.others.size(), 0);
  return position;
}

std::int32_t SchemaRecognizer::InternKey(KeyPosition position) {
  std::string key;
  Append(key, position.slots);
  Append(key, position.extras);
  Append(key, position.depth);
  for (const Language::State q : position.classes) Append(key, q);
  key += position.text;
  const auto [at, fresh] =
      key_ids_.try_emplace(std::move(key), static_cast<std::int32_t>(keys_.size()));
  if (fresh) {
    bytes_ += 2 * at->first.size() + sizeof(KeyPosition) + 100;
    keys_.push_back(std::move(position));
  }
  return at->second;
}

bool SchemaRecognizer::KeyAlive(std::int32_t object, const KeyPosition& position) {
  const auto at = static_cast<std::size_t>(object);
  const ObjectPlan& plan = *space_->Plan(objects_[at].plan);
  for (std::size_t c = 0; c < position.classes.size(); ++c) {
    const Language::State q = position.classes[c];
    if (q == Language::kNone || OtherOptions(object, static_cast<std::int32_t>(c)).empty())
      continue;
    // Names that are taken do not count.
    const Language& language = space_->languages().Get(plan.others[c].language);
    std::uint64_t taken = 0;
    for (std::int32_t i = position.slots.first; i < position.slots.last; ++i) {
      taken += language.Contains(plan.names[static_cast<std::size_t>(i)]) ? 1 : 0;
      if (taken > 4 && language.Count(q, 0, kNoBound, 1U << 20) == 1U << 20) return true;
    }
    const auto& extras = objects_[at].extras;
    for (std::int32_t i = position.extras.first; i < position.extras.last; ++i) {
      taken += language.Contains(extras[static_cast<std::size_t>(i)]) ? 1 : 0;
    }
    if (language.Count(q, 0, kNoBound, taken + 1) > taken) return true;
  }
  for (std::int32_t i = position.slots.first; i < position.slots.last; ++i) {
    if (!SlotOptions(object, i).empty()) return true;
  }
  return false;
}

std::int32_t SchemaRecognizer::KeyStep(std::int32_t object, std::int32_t id, std::uint8_t byte) {
  const KeyPosition& at = keys_[static_cast<std::size_t>(id)];
  const ObjectState& state = objects_[static_cast<std::size_t>(object)];
  const ObjectPlan& plan = *space_->Plan(state.plan);
  KeyPosition next;
  next.slots = NarrowRange(plan.names, at.slots, at.depth, byte);
  next.extras = NarrowRange(state.extras, at.extras, at.depth, byte);
  if (next.slots.empty()) next.slots = {};
  if (next.extras.empty()) next.extras = {};
  bool others = false;
  for (std::size_t c = 0; c < at.classes.size(); ++c) {
    const Language::State q = at.classes[c];
    const Language& language = space_->languages().Get(plan.others[c].language);
    next.classes.push_back(q == Language::kNone ? q : language.Next(q, byte));
    others = others || next.classes.back() != Language::kNone;
  }
  if (!others && next.slots.empty()) return -1;
  next.depth = at.depth + 1;
  if (others) next.text = at.text + static_cast<char>(byte);
  if (!KeyAlive(object, next)) return -1;
  return InternKey(std::move(next));
}

void SchemaRecognizer::EndText(StackId stack, Threads& out) {
  const Frame frame = Top(stack);
  if (frame.kind == Kind::kString) {
    if (!space_->string(frame.a).Accepts(space_->languages(),
                                         positions_[static_cast<std::size_t>(frame.b)])) {
      return;
    }
    if (const auto done = Return(frame.below)) out.push_back(*done);
    return;
  }
  const KeyPosition position = keys_[static_cast<std::size_t>(frame.b)];
  const ObjectPlan& plan = *space_->Plan(objects_[static_cast<std::size_t>(frame.a)].plan);
  const auto length = static_cast<std::size_t>(position.depth);
  const auto add = [&](FormulaId value, std::int32_t next) {
    const StackId object = Push(frame.below, Kind::kObject, next, kAfter);
    out.push_back(Push(object, Kind::kColon, value));
  };
  if (!position.slots.empty() &&
      plan.names[static_cast<std::size_t>(position.slots.first)].size() == length) {
    for (const Option& option : std::vector<Option>(SlotOptions(frame.a, position.slots.first))) {
      add(option.value, option.next);
    }
    return;
  }
  const auto& extras = objects_[static_cast<std::size_t>(frame.a)].extras;
  if (!position.extras.empty() &&
      extras[static_cast<std::size_t>(position.extras.first)].size() == length) {
    return;  // it stands already
  }
  for (std::size_t c = 0; c < position.classes.size(); ++c) {
    const Language::State q = position.classes[c];
    if (q == Language::kNone || !space_->languages().Get(plan.others[c].language).Accepts(q)) {
      continue;
    }
    for (const Option& option :
         std::vector<Option>(OtherOptions(frame.a, static_cast<std::int32_t>(c)))) {
      ObjectState next = objects_[static_cast<std::size_t>(option.next)];
      next.extras.insert(std::lower_bound(next.extras.begin(), next.extras.end(), position.text),
                         position.text);
      add(option.value, InternObject(std::move(next)));
    }
  }
}

// Decoded text.

std::int32_t SchemaRecognizer::StringPosition(const StringCase::Position& position) {
  std::string key;
  Append(key, position.state);
  Append(key, position.length);
  Append(key, position.depth);
  Append(key, position.range);
  const auto [at, fresh] =
      position_ids_.try_emplace(std::move(key), static_cast<std::int32_t>(positions_.size()));
  if (fresh) {
    bytes_ += 120;
    positions_.push_back(position);
  }
  return at->second;
}

std::int32_t SchemaRecognizer::TextStep(const Frame& frame, std::int32_t position,
                                        std::uint8_t byte) {
  if (frame.kind == Kind::kKey) return KeyStep(frame.a, position, byte);
  const auto next = space_->string(frame.a).Step(
      space_->languages(), positions_[static_cast<std::size_t>(position)], byte);
  return next ? StringPosition(*next) : -1;
}

std::int32_t SchemaRecognizer::TextSteps(const Frame& frame, std::int32_t position, char32_t code) {
  std::string bytes;
  AppendUtf8(code, bytes);
  for (const char c : bytes) {
    position = TextStep(frame, position, static_cast<std::uint8_t>(c));
    if (position < 0) break;
  }
  return position;
}

bool SchemaRecognizer::AnyCharacter(const Frame& frame, std::int32_t position, char32_t first,
                                    char32_t last) {
  // By the length of the UTF-8 form; within it, byte by byte.
  static constexpr struct {
    char32_t first, last;
    int more;
    std::uint8_t lead;
  } kForms[] = {{0x61, 0x7A, 0, 0},       {0, 0x7F, 0, 0},           {0x80, 0x7FF, 1, 0xC0},
                {0x800, 0xD7FF, 2, 0xE0}, {0xE000, 0xFFFF, 2, 0xE0}, {0x10000, 0x10FFFF, 3, 0xF0}};
  for (const auto& form : kForms) {
    const char32_t low = std::max(first, form.first);
    const char32_t high = std::min(last, form.last);
    if (low > high) continue;
    for (char32_t head = low >> (6 * form.more); head <= high >> (6 * form.more); ++head) {
      const std::int32_t next =
          TextStep(frame, position, static_cast<std::uint8_t>(form.lead | head));
      if (next >= 0 && AnyFrom(frame, next, form.more, head, low, high)) return true;
    }
  }
  return false;
}

bool SchemaRecognizer::AnyFrom(const Frame& frame, std::int32_t position, int left, char32_t prefix,
                               char32_t first, char32_t last) {
  if (left == 0) return true;
  const int shift = 6 * (left - 1);
  for (char32_t part = 0; part < 64; ++part) {
    const char32_t code = prefix << 6 | part;
    if (((code + 1) << shift) <= first || (code << shift) > last) continue;
    const std::int32_t next = TextStep(frame, position, static_cast<std::uint8_t>(0x80 | part));
    if (next >= 0 && AnyFrom(frame, next, left - 1, code, first, last)) return true;
  }
  return false;
}

bool SchemaRecognizer::AnyEscaped(const Frame& frame) {
  if (!options_.plain_strings) return AnyCharacter(frame, frame.b, 0, 0x10FFFF);
  return AnyCharacter(frame, frame.b, 0, kLastControl) || AnyCharacter(frame, frame.b, '"', '"') ||
         AnyCharacter(frame, frame.b, '\\', '\\');
}

std::optional<SchemaRecognizer::Frame> SchemaRecognizer::UnitStep(Frame frame, EscapeState escape,
                                                                  std::uint8_t byte) {
  const int digit = HexDigit(byte);
  if (digit < 0) return {};
  escape.value = escape.value * 16 + digit;
  const int shift = 4 * (4 - ++escape.digits);
  const auto low = static_cast<char32_t>(escape.value) << shift;
  auto high = ((static_cast<char32_t>(escape.value) + 1) << shift) - 1;
  if (options_.plain_strings) {
    if (low > kLastControl) return {};
    high = std::min<char32_t>(high, kLastControl);
  }
  const auto pairs = [](char32_t unit) { return 0x10000 + ((unit - 0xD800) << 10); };
  if (escape.phase == kLowUnit) {
    const char32_t first = std::max<char32_t>(low, 0xDC00);
    const char32_t last = std::min<char32_t>(high, 0xDFFF);
    if (first > last) return {};
    const char32_t base = pairs(static_cast<char32_t>(frame.d)) - 0xDC00;
    if (escape.digits == 4) {
      frame.b = TextSteps(frame, frame.b, base + first);
      frame.c = frame.d = 0;
      if (frame.b < 0) return {};
      return frame;
    }
    if (!AnyCharacter(frame, frame.b, base + first, base + last)) return {};
    frame.c = escape.Pack();
    return frame;
  }
  // A unit of its own, or the first of a pair.
  const char32_t pair_first = std::max<char32_t>(low, 0xD800);
  const char32_t pair_last = std::min<char32_t>(high, 0xDBFF);
  const bool pair = pair_first <= pair_last &&
                    AnyCharacter(frame, frame.b, pairs(pair_first), pairs(pair_last) + 0x3FF);
  if (escape.digits == 4) {
    if (pair_first <= pair_last) {
      if (!pair) return {};
      frame.d = escape.value;
      frame.c = EscapeState{kNeedBackslash, 0, 0}.Pack();
      return frame;
    }
    if (low >= 0xDC00 && low <= 0xDFFF) return {};
    frame.b = TextSteps(frame, frame.b, low);
    frame.c = 0;
    if (frame.b < 0) return {};
    return frame;
  }
  if (!pair && !AnyCharacter(frame, frame.b, low, high)) return {};
  frame.c = escape.Pack();
  return frame;
}

std::optional<SchemaRecognizer::Frame> SchemaRecognizer::EscapeStep(const Frame& from,
                                                                    std::uint8_t byte) {
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  Frame frame = from;
  EscapeState escape = EscapeState::Unpack(frame.c);
  switch (escape.phase) {
    case kPlain:
      if (byte < 0x20) return {};
      if (byte == '\\') {
        if (!AnyEscaped(frame)) return {};
        frame.c = EscapeState{kBackslash, 0, 0}.Pack();
        return frame;
      }
      frame.b = TextStep(frame, frame.b, byte);
      break;
    case kBackslash:
      if (byte == '/' && options_.plain_strings) return {};
      if (byte == 'u') {
        if (options_.plain_strings && !AnyCharacter(frame, frame.b, 0, kLastControl)) return {};
        frame.c = EscapeState{kUnit, 0, 0}.Pack();
        return frame;
      }
      if (const auto i = kNames.find(static_cast<char>(byte)); i != std::string_view::npos) {
        frame.b = TextStep(frame, frame.b, static_cast<std::uint8_t>(kValues[i]));
        frame.c = 0;
        break;
      }
      return {};
    case kNeedBackslash:
      if (byte != '\\') return {};
      frame.c = EscapeState{kNeedU, 0, 0}.Pack();
      return frame;
    case kNeedU:
      if (byte != 'u') return {};
      frame.c = EscapeState{kLowUnit, 0, 0}.Pack();
      return frame;
    case kUnit:
    case kLowUnit:
      return UnitStep(frame, escape, byte);
  }
  if (frame.b < 0) return {};
  return frame;
}

void SchemaRecognizer::StepText(StackId stack, std::uint8_t byte, Threads& out) {
  const Frame frame = Top(stack);
  if (byte == '"' && frame.c == 0) return EndText(stack, out);
  if (const auto next = EscapeStep(frame, byte)) out.push_back(Replace(*next));
}

// Hints.

bool SchemaRecognizer::Loops(LanguageId id, Language::State q, CharClass& chars) {
  const std::uint64_t key = (static_cast<std::uint64_t>(id) << 32) | static_cast<std::uint32_t>(q);
  const auto known = loops_.find(key);
  if (known == loops_.end()) {
    const Language& language = space_->languages().Get(id);
    CharClass loop;
    for (int b = 0x20; b < 0x80; ++b) {
      const auto byte = static_cast<std::uint8_t>(b);
      if (b != '"' && b != '\\' && language.Next(q, byte) == q) loop.add(byte);
    }
    // All characters beyond ASCII, if they run exactly as UTF-8 does and end in q.
    const Language& all = space_->languages().Get(LanguagePool::kAll);
    std::vector<std::pair<Language::State, Language::State>> work{{0, q}};
    loop.non_ascii = true;
    for (std::size_t i = 0; i < work.size() && loop.non_ascii; ++i) {
      const auto [u, p] = work[i];
      for (int b = 0x80; b < 0x100; ++b) {
        const auto byte = static_cast<std::uint8_t>(b);
        const auto v = all.Next(u, byte);
        if (v == Language::kNone) continue;
        const auto r = language.Next(p, byte);
        if (r == Language::kNone || (all.Accepts(v) && r != q)) loop.non_ascii = false;
        if (r == Language::kNone || all.Accepts(v)) continue;
        if (std::find(work.begin(), work.end(), std::make_pair(v, r)) == work.end()) {
          work.emplace_back(v, r);
        }
      }
    }
    chars = loop;
    loops_[key] = {!loop.empty(), loop};
    return !loop.empty();
  }
  chars = known->second.second;
  return known->second.first;
}

std::optional<Recognizer::Run> SchemaRecognizer::RunOfThread(StackId stack) {
  const Frame& frame = Top(stack);
  Run run;
  if (frame.c != 0) return {};
  if (frame.kind == Kind::kString) {
    const StringCase& string = space_->string(frame.a);
    const StringCase::Position& at = positions_[static_cast<std::size_t>(frame.b)];
    if (string.listed || !at.range.empty()) return {};
    if (!Loops(string.language, at.state, run.chars)) return {};
    run.room = kNoLimit;
    const Language& language = space_->languages().Get(string.language);
    if (string.most != kNoBound) {
      // Live as long as there is room: the loop's characters reach the least length, and every
      // state of the loop is the one that accepts.
      if (!language.Accepts(at.state)) return {};
      run.room = string.most - at.length;
    }
    return run;
  }
  if (frame.kind != Kind::kKey) return {};
  const KeyPosition& at = keys_[static_cast<std::size_t>(frame.b)];
  const ObjectPlan& plan = *space_->Plan(objects_[static_cast<std::size_t>(frame.a)].plan);
  for (std::size_t c = 0; c < at.classes.size(); ++c) {
    if (at.classes[c] == Language::kNone || !plan.others[c].infinite) continue;
    const LanguageId language = plan.others[c].language;
    if (!Loops(language, at.classes[c], run.chars)) continue;
    if (OtherOptions(frame.a, static_cast<std::int32_t>(c)).empty()) continue;
    run.room = kNoLimit;
    return run;
  }
  return {};
}

// Behind the quote that ends a string, a token without a second quote sees of an object only
// whether it may end or go on: any object that may do the same stands for it.
SchemaRecognizer::StackId SchemaRecognizer::TwinBelow(StackId stack) {
  if (stack == 0) return 0;
  Frame frame = Top(stack);
  if (frame.kind == Kind::kObject && frame.b == kAfter) {
    const bool ends = ObjectEnds(frame.a);
    const bool goes_on = CanGoOn(frame.a);
    std::int32_t& twin = twin_objects_[ends ? 1 : 0][goes_on ? 1 : 0];
    if (twin < 0) twin = frame.a;
    frame.a = twin;
  } else if (frame.kind != Kind::kArray) {
    return stack;
  }
  frame.below = TwinBelow(frame.below);
  return Replace(frame);
}

SchemaRecognizer::StackId SchemaRecognizer::TwinOf(StackId stack) {
  if (nodes_[static_cast<std::size_t>(stack)].records) return stack;
  Frame frame = Top(stack);
  if (frame.kind == Kind::kString) {
    frame.below = TwinBelow(frame.below);
  } else if (frame.kind == Kind::kKey) {
    // Names that stand already matter only to one that begins like them.
    KeyPosition position = keys_[static_cast<std::size_t>(frame.b)];
    if (position.extras.empty()) {
      ObjectState object = objects_[static_cast<std::size_t>(frame.a)];
      object.extras.clear();
      frame.a = InternObject(std::move(object));
    }
    if (position.extras.empty() && position.slots.empty()) {
      position.text.clear();
      position.depth = 0;
      frame.b = InternKey(std::move(position));
    }
    frame.below = TwinBelow(frame.below);
  } else if (frame.kind == Kind::kObject && frame.b != kAfter) {
    // A key that only begins can always become another one, if other names are endlessly many.
    const ObjectState& state = objects_[static_cast<std::size_t>(frame.a)];
    const ObjectPlan& plan = *space_->Plan(state.plan);
    for (const auto& others : plan.others) {
      if (!others.infinite || others.language != LanguagePool::kAll) return stack;
    }
    ObjectState object = state;
    object.extras.clear();
    frame.a = InternObject(std::move(object));
  } else {
    return stack;
  }
  return Replace(frame);
}

Recognizer::State SchemaRecognizer::MaskTwin(State state) {
  const auto known = twins_.find(state);
  if (known != twins_.end()) return known->second;
  Threads twins;
  for (const StackId stack : Threads(states_[state])) twins.push_back(TwinOf(stack));
  if (!Check()) return state;
  const State twin = Intern(std::move(twins));
  bytes_ += 40;
  return twins_[state] = twin;
}

Recognizer::Run SchemaRecognizer::RunFrom(State state) {
  const Threads& threads = states_[state];
  Run best;
  for (const StackId stack : threads) {
    const auto run = RunOfThread(stack);
    if (!run || (threads.size() > 1 && run->room != kNoLimit)) continue;
    const auto size = [](const CharClass& chars) {
      return __builtin_popcountll(chars.ascii[0]) + __builtin_popcountll(chars.ascii[1]) +
             (chars.non_ascii ? 1000 : 0);
    };
    if (size(run->chars) > size(best.chars)) best = *run;
  }
  if (best.chars.empty() || best.room == 0) return {};
  if (threads.size() == 1 && Top(threads[0]).kind == Kind::kString) {
    // Where the position does not change, neither does the state.
    const Frame& frame = Top(threads[0]);
    const StringCase& string = space_->string(frame.a);
    const StringCase::Position& at = positions_[static_cast<std::size_t>(frame.b)];
    const bool still = string.most == kNoBound && at.length >= string.least;
    if (still && !nodes_[static_cast<std::size_t>(threads[0])].records) best.next = state;
  }
  return best;
}

}  // namespace adjudge::schema
