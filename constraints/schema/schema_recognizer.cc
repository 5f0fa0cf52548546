#include "constraints/schema/schema_recognizer.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace adjudge::schema {
namespace {

constexpr std::uint8_t kMaxSpace = 8;
constexpr std::string_view kWords[] = {"null", "false", "true"};

bool IsSpace(std::uint8_t byte) {
  return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

template <typename T>
void Append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::uint64_t Pair(std::int32_t a, std::int32_t b) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32) |
         static_cast<std::uint32_t>(b);
}

}  // namespace

std::size_t SchemaRecognizer::FrameHash::operator()(const Frame& frame) const {
  std::uint64_t h = static_cast<std::uint32_t>(frame.below);
  const auto mix = [&](std::uint64_t x) {
    h = (h ^ x) * 0x9E3779B97F4A7C15U;
    h ^= h >> 29;
  };
  mix((static_cast<std::uint64_t>(frame.kind) << 8) | frame.space);
  mix(Pair(frame.a, frame.b));
  mix(Pair(frame.c, frame.d));
  return h;
}

SchemaRecognizer::SchemaRecognizer(std::unique_ptr<SchemaSet> set, FormulaId root,
                                   std::unique_ptr<CaseSpace> space,
                                   const JsonSchemaOptions& options)
    : set_(std::move(set)),
      space_(std::move(space)),
      root_(root),
      options_(options),
      forms_(options.plain_numbers ? NumberForms::kPlain : NumberForms::kAll) {
  options_.documents.clear();
  space_->set_spelling(options.declared_order, forms_);
  nodes_.push_back({Frame{}, 0, false});
  states_.emplace_back();  // kDead
}

bool SchemaRecognizer::Check() {
  if (space_->status()) return true;
  SetError(space_->status().error());
  return false;
}

Recognizer::State SchemaRecognizer::Start() {
  if (!space_->IsSatisfiable(root_)) {
    Check();
    return kDead;
  }
  return Intern({Push(0, Kind::kValue, root_)});
}

Recognizer::State SchemaRecognizer::Intern(Threads threads) {
  if (threads.empty()) return kDead;
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  std::string key(reinterpret_cast<const char*>(threads.data()), threads.size() * sizeof(StackId));
  const auto [at, fresh] =
      state_ids_.try_emplace(std::move(key), static_cast<State>(states_.size()));
  if (fresh) {
    bytes_ += 2 * threads.size() * sizeof(StackId) + 120;
    states_.push_back(std::move(threads));
  }
  return at->second;
}

SchemaRecognizer::StackId SchemaRecognizer::Push(StackId below, Kind kind, std::int32_t a,
                                                 std::int32_t b, std::int32_t c, std::int32_t d,
                                                 std::uint8_t space) {
  return Replace(Frame{below, kind, space, a, b, c, d});
}

SchemaRecognizer::StackId SchemaRecognizer::Replace(const Frame& frame) {
  const auto [at, fresh] = node_ids_.try_emplace(frame, static_cast<StackId>(nodes_.size()));
  if (fresh) {
    const Node& below = nodes_[static_cast<std::size_t>(frame.below)];
    const bool opens = frame.kind == Kind::kObject || frame.kind == Kind::kArray;
    const Node node{frame, below.depth + (opens ? 1 : 0),
                    below.records || frame.kind == Kind::kRecord};
    bytes_ += 2 * sizeof(Node) + 40;
    nodes_.push_back(node);
  }
  return at->second;
}

std::int32_t SchemaRecognizer::TextId(const std::string& text) {
  const auto [at, fresh] = text_ids_.try_emplace(text, static_cast<std::int32_t>(texts_.size()));
  if (fresh) {
    bytes_ += 2 * text.size() + 100;
    texts_.push_back(text);
  }
  return at->second;
}

std::int32_t SchemaRecognizer::Rope(std::int32_t before, std::uint8_t byte) {
  const auto [at, fresh] =
      rope_ids_.try_emplace(Pair(before, byte), static_cast<std::int32_t>(ropes_.size()));
  if (fresh) {
    bytes_ += 48;
    ropes_.emplace_back(before, static_cast<char>(byte));
  }
  return at->second;
}

std::string SchemaRecognizer::RopeText(std::int32_t rope) const {
  std::string text;
  for (; rope != 0; rope = ropes_[static_cast<std::size_t>(rope)].first) {
    text.push_back(ropes_[static_cast<std::size_t>(rope)].second);
  }
  std::reverse(text.begin(), text.end());
  return text;
}

SchemaRecognizer::StackId SchemaRecognizer::Recorded(StackId stack, std::uint8_t byte) {
  if (!nodes_[static_cast<std::size_t>(stack)].records) return stack;
  Frame frame = Top(stack);
  frame.below = Recorded(frame.below, byte);
  if (frame.kind == Kind::kRecord) frame.c = Rope(frame.c, byte);
  return Replace(frame);
}

Recognizer::State SchemaRecognizer::Next(State state, std::uint8_t byte) {
  const std::uint64_t key = (static_cast<std::uint64_t>(state) << 8) | byte;
  if (const auto known = next_.find(key); known != next_.end()) return known->second;
  if (!Check() || !Burn(30)) return kDead;
  space_->Refill();
  Threads out;
  const Threads threads = states_[state];
  for (const StackId stack : threads) Step(stack, byte, out);
  if (!Check()) return kDead;
  const State result = Intern(std::move(out));
  bytes_ += 40;
  next_.emplace(key, result);
  return result;
}

bool SchemaRecognizer::Accepts(State state) {
  for (const StackId stack : states_[state]) {
    if (stack == 0) return true;
    const Frame frame = Top(stack);
    if (frame.kind == Kind::kNumber && frame.below == 0 &&
        AcceptsNumber(space_->number(frame.a), forms_, texts_[static_cast<std::size_t>(frame.b)])) {
      return true;
    }
  }
  return false;
}

void SchemaRecognizer::Step(StackId stack, std::uint8_t byte, Threads& out) {
  const StackId before = stack;
  stack = Recorded(stack, byte);
  const Frame frame = Top(stack);
  switch (frame.kind) {
    case Kind::kEnd:
    case Kind::kRecord:
      return;
    case Kind::kValue:
      if (SpaceStep(stack, byte, out)) return;
      if (SpaceDone(frame, stack, false)) BeginValue(frame.a, frame.below, byte, out);
      return;
    case Kind::kWord:
      return StepWord(stack, byte, out);
    case Kind::kNumber:
      return StepNumberText(stack, before, byte, out);
    case Kind::kString:
    case Kind::kKey:
      return StepText(stack, byte, out);
    case Kind::kColon:
      return StepColon(stack, byte, out);
    case Kind::kObject:
      return StepObject(stack, byte, out);
    case Kind::kArray:
      return StepArray(stack, byte, out);
  }
}

std::optional<SchemaRecognizer::StackId> SchemaRecognizer::Return(StackId below) {
  const Frame frame = Top(below);
  if (frame.kind != Kind::kRecord) return below;
  const auto value = ParseJson(RopeText(frame.c), {1U << 30, 1U << 20, 1U << 30});
  ADJUDGE_CHECK(value.has_value());
  const ArrayCase array = space_->array(frame.a);
  const auto next = space_->AfterItem(array, arrays_[static_cast<std::size_t>(frame.b)], *value);
  // An item that leaves no equal one room is not offered; but one may equal an earlier one by luck.
  if (space_->Completable(array, next) != Truth::kYes) return {};
  return Push(frame.below, Kind::kArray, frame.a, InternArray(frame.a, next), kAfter);
}

void SchemaRecognizer::StepWord(StackId stack, std::uint8_t byte, Threads& out) {
  Frame frame = Top(stack);
  const std::string_view word = kWords[frame.a];
  if (static_cast<std::uint8_t>(word[static_cast<std::size_t>(frame.b)]) != byte) return;
  if (static_cast<std::size_t>(++frame.b) < word.size()) {
    out.push_back(Replace(frame));
  } else if (const auto done = Return(frame.below)) {
    out.push_back(*done);
  }
}

void SchemaRecognizer::StepNumberText(StackId stack, StackId before, std::uint8_t byte,
                                      Threads& out) {
  Frame frame = Top(stack);
  const NumberCase& number = space_->number(frame.a);
  const std::string text = texts_[static_cast<std::size_t>(frame.b)];
  const bool part = (byte >= '0' && byte <= '9') || byte == '.' || byte == 'e' || byte == 'E' ||
                    byte == '+' || byte == '-';
  if (part) {
    const NumberStep step = StepNumber(number, forms_, text, static_cast<char>(byte));
    if (step.alive == NumberCase::Answer::kUndecided) {
      SetError({ErrorCode::kLimit, "what may follow in a number was not decided within the limits",
                "/"});
    }
    if (step.alive != NumberCase::Answer::kYes) return;
    frame.b = TextId(step.text);
    out.push_back(Replace(frame));
    return;
  }
  if (!AcceptsNumber(number, forms_, text)) return;
  // The byte belongs to what stands around the number.
  const auto done = Return(Top(before).below);
  if (done && *done != 0) Step(*done, byte, out);
}

void SchemaRecognizer::BeginValue(FormulaId value, StackId below, std::uint8_t byte, Threads& out) {
  const auto cases = [&](Type type) { return space_->LiveCases(type, value); };
  switch (byte) {
    case 'n':
      if (!cases(Type::kNull).empty()) out.push_back(Push(below, Kind::kWord, 0, 1));
      return;
    case 'f':
      if (!cases(Type::kFalse).empty()) out.push_back(Push(below, Kind::kWord, 1, 1));
      return;
    case 't':
      if (!cases(Type::kTrue).empty()) out.push_back(Push(below, Kind::kWord, 2, 1));
      return;
    case '"':
      for (const CaseId id : cases(Type::kString)) {
        const auto start = space_->string(id).Start(space_->languages());
        if (start) out.push_back(Push(below, Kind::kString, id, StringPosition(*start)));
      }
      return;
    case '[':
      for (const CaseId id : cases(Type::kArray)) {
        CaseSpace::ArrayState start;
        start.counts.resize(space_->array(id).contains.size());
        out.push_back(Push(below, Kind::kArray, id, InternArray(id, std::move(start)), kOpened));
      }
      return;
    case '{':
      for (const CaseId id : cases(Type::kObject)) {
        const std::int32_t object = NewObject(id);
        if (object >= 0) out.push_back(Push(below, Kind::kObject, object, kOpened));
      }
      return;
    default:
      break;
  }
  if (byte != '-' && (byte < '0' || byte > '9')) return;
  for (const CaseId id : cases(Type::kNumber)) {
    const NumberStep step = StepNumber(space_->number(id), forms_, "", static_cast<char>(byte));
    if (step.alive == NumberCase::Answer::kUndecided) {
      SetError({ErrorCode::kLimit, "what may follow in a number was not decided within the limits",
                "/"});
    }
    if (step.alive == NumberCase::Answer::kYes) {
      out.push_back(Push(below, Kind::kNumber, id, TextId(step.text)));
    }
  }
}

std::size_t SchemaRecognizer::bytes() const { return bytes_ + space_->bytes(); }

// White space.

std::string SchemaRecognizer::FixedSpace(const Frame& frame, std::int32_t depth,
                                         bool closing) const {
  const bool container = frame.kind == Kind::kObject || frame.kind == Kind::kArray;
  const std::int32_t phase = frame.kind == Kind::kArray ? frame.c : frame.b;
  if (options_.space == SchemaSpace::kCompact || frame.kind == Kind::kColon) return "";
  if (!container) return " ";  // behind a colon
  if (options_.space == SchemaSpace::kSpaced) return phase == kComma ? " " : "";
  const auto line = [&](std::int32_t levels) {
    return "\n" + std::string(static_cast<std::size_t>(levels * options_.indent), ' ');
  };
  if (phase == kAfter) return closing ? line(depth - 1) : "";
  return closing ? "" : line(depth);
}

bool SchemaRecognizer::SpaceStep(StackId stack, std::uint8_t byte, Threads& out) {
  if (!IsSpace(byte)) return false;
  Frame frame = Top(stack);
  if (frame.kind == Kind::kValue && frame.below == 0) return true;  // none around the text
  const std::size_t read = frame.space++;
  if (options_.space == SchemaSpace::kFree) {
    if (read < kMaxSpace) out.push_back(Replace(frame));
    return true;
  }
  const std::int32_t depth = nodes_[static_cast<std::size_t>(stack)].depth;
  for (const bool closing : {false, true}) {
    const std::string fixed = FixedSpace(frame, depth, closing);
    if (read >= fixed.size() || static_cast<std::uint8_t>(fixed[read]) != byte) continue;
    bool alive = true;
    if (frame.kind == Kind::kObject) {
      alive = closing ? ObjectEnds(frame.a) : CanGoOn(frame.a);
    } else if (frame.kind == Kind::kArray) {
      const auto& at = arrays_[static_cast<std::size_t>(frame.b)];
      alive =
          closing ? space_->Ends(space_->array(frame.a), at) : !ItemSteps(frame.a, frame.b).empty();
    }
    if (alive) out.push_back(Replace(frame));
    return true;
  }
  return true;
}

bool SchemaRecognizer::SpaceDone(const Frame& frame, StackId stack, bool closing) const {
  if (options_.space == SchemaSpace::kFree) return true;
  if (frame.kind == Kind::kValue && frame.below == 0) return true;
  return frame.space ==
         FixedSpace(frame, nodes_[static_cast<std::size_t>(stack)].depth, closing).size();
}

void SchemaRecognizer::StepColon(StackId stack, std::uint8_t byte, Threads& out) {
  if (SpaceStep(stack, byte, out) || byte != ':') return;
  const Frame frame = Top(stack);
  out.push_back(Push(frame.below, Kind::kValue, frame.a));
}

// Arrays.

std::int32_t SchemaRecognizer::InternArray(CaseId array, CaseSpace::ArrayState state) {
  std::string key;
  Append(key, array);
  Append(key, state.index);
  Append(key, state.size);
  Append(key, state.repeated);
  for (const std::uint32_t count : state.counts) Append(key, count);
  for (const std::string& text : state.seen) {
    Append(key, text.size());
    key += text;
  }
  const auto [at, fresh] =
      array_ids_.try_emplace(std::move(key), static_cast<std::int32_t>(arrays_.size()));
  if (fresh) {
    bytes_ += 2 * at->first.size() + 160;
    arrays_.push_back(std::move(state));
  }
  return at->second;
}

const std::vector<CaseSpace::ArrayStep>& SchemaRecognizer::ItemSteps(CaseId array,
                                                                     std::int32_t state) {
  const std::uint64_t key = Pair(array, state);
  const auto known = item_steps_.find(key);
  if (known != item_steps_.end()) return known->second;
  const ArrayCase copy = space_->array(array);
  const CaseSpace::ArrayState at = arrays_[static_cast<std::size_t>(state)];
  return item_steps_[key] = space_->ArraySteps(copy, at);
}

void SchemaRecognizer::BeginItem(const Frame& array, StackId below, std::uint8_t byte,
                                 Threads& out) {
  const bool remembers = CaseSpace::Remembers(space_->array(array.a));
  for (const auto& step : std::vector<CaseSpace::ArrayStep>(ItemSteps(array.a, array.b))) {
    const std::int32_t next = InternArray(array.a, step.next);
    const bool record = remembers && !step.next.repeated;
    const StackId on = record ? Push(below, Kind::kRecord, array.a, next, Rope(0, byte))
                              : Push(below, Kind::kArray, array.a, next, kAfter);
    BeginValue(step.value, on, byte, out);
  }
}

void SchemaRecognizer::StepArray(StackId stack, std::uint8_t byte, Threads& out) {
  if (SpaceStep(stack, byte, out)) return;
  Frame frame = Top(stack);
  if (byte == ']') {
    if (frame.c == kComma || !SpaceDone(frame, stack, true)) return;
    if (!space_->Ends(space_->array(frame.a), arrays_[static_cast<std::size_t>(frame.b)])) return;
    if (const auto done = Return(frame.below)) out.push_back(*done);
    return;
  }
  if (!SpaceDone(frame, stack, false)) return;
  if (frame.c == kAfter) {
    if (byte != ',' || ItemSteps(frame.a, frame.b).empty()) return;
    frame.c = kComma;
    frame.space = 0;
    out.push_back(Replace(frame));
    return;
  }
  BeginItem(frame, frame.below, byte, out);
}

}  // namespace adjudge::schema
