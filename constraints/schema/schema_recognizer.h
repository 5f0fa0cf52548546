// SchemaRecognizer: reads JSON byte by byte and knows what a schema still lets follow.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "constraints/automaton/recognizer.h"
#include "constraints/json_schema.h"
#include "constraints/schema/case_space.h"

namespace adjudge::schema {

// A state is a set of threads: the ways in which the text so far can be read. A thread is a stack
// of frames, innermost value on top, shared by structure. Every thread has an accepted
// continuation.
class SchemaRecognizer : public Recognizer {
 public:
  SchemaRecognizer(std::unique_ptr<SchemaSet> set, FormulaId root, std::unique_ptr<CaseSpace> space,
                   const JsonSchemaOptions& options);

  State Start() override;
  State Next(State state, std::uint8_t byte) override;
  bool Accepts(State state) override;
  Run RunFrom(State state) override;
  State MaskTwin(State state) override;
  std::optional<std::string> ShortestEnd(State state) override;
  std::size_t bytes() const override;

 private:
  using StackId = std::int32_t;
  enum class Kind : std::uint8_t {
    kEnd,     // the text is complete
    kValue,   // a: formula of the value to come
    kWord,    // a: 0 null, 1 false, 2 true; b: bytes read
    kNumber,  // a: case; b: text so far
    kString,  // a: case; b: position; c, d: escape
    kKey,     // a: object state; b: position; c, d: escape
    kColon,   // a: formula of the value to come behind it
    kObject,  // a: object state; b: phase
    kArray,   // a: case; b: array state; c: phase
    kRecord,  // a: case; b: array state behind the item; c: the item's text so far
  };
  enum Phase : std::int32_t { kOpened, kAfter, kComma };

  struct Frame {
    StackId below = 0;
    Kind kind = Kind::kEnd;
    std::uint8_t space = 0;  // bytes of white space read at this place
    std::int32_t a = 0, b = 0, c = 0, d = 0;
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct FrameHash {
    std::size_t operator()(const Frame& frame) const;
  };
  struct Node {
    Frame frame;
    std::int32_t depth;  // objects and arrays open
    bool records;        // a kRecord lies in it
  };

  struct ObjectState {
    CaseId plan = 0;
    std::vector<bool> used;
    std::uint32_t met = 0;
    std::uint32_t count = 0;
    std::int32_t from_order = 0;
    std::vector<std::string> extras;   // other names that stand already, ascending
    std::vector<std::uint32_t> taken;  // of each class of others
  };
  struct Option {
    FormulaId value;
    std::int32_t next;  // object state; for other names without the name itself
  };
  struct ObjectInfo {
    std::unordered_map<std::int32_t, std::vector<Option>> slots;
    std::unordered_map<std::int32_t, std::vector<Option>> others;
    signed char can_go_on = -1;
    signed char ends = -1;
  };
  struct KeyPosition {
    TextRange slots;
    TextRange extras;
    std::int32_t depth = 0;
    std::vector<Language::State> classes;
    std::string text;  // where other names are possible
  };
  // What is read of an escape: c of a frame; d is the high surrogate.
  enum Escape : std::int32_t { kPlain, kBackslash, kUnit, kNeedBackslash, kNeedU, kLowUnit };
  struct EscapeState {
    Escape phase = kPlain;
    std::int32_t digits = 0;
    std::int32_t value = 0;
    std::int32_t Pack() const { return phase | digits << 4 | value << 8; }
    static EscapeState Unpack(std::int32_t packed) {
      return {static_cast<Escape>(packed & 15), packed >> 4 & 15, packed >> 8};
    }
  };
  using Threads = std::vector<StackId>;

  const Frame& Top(StackId stack) const { return nodes_[static_cast<std::size_t>(stack)].frame; }
  StackId Push(StackId below, Kind kind, std::int32_t a, std::int32_t b = 0, std::int32_t c = 0,
               std::int32_t d = 0, std::uint8_t space = 0);
  StackId Replace(const Frame& frame);
  // The same stack with `byte` added to everything that is being recorded.
  StackId Recorded(StackId stack, std::uint8_t byte);
  State Intern(Threads threads);

  void Step(StackId stack, std::uint8_t byte, Threads& out);
  void StepWord(StackId stack, std::uint8_t byte, Threads& out);
  void StepNumberText(StackId stack, StackId before, std::uint8_t byte, Threads& out);
  void StepText(StackId stack, std::uint8_t byte, Threads& out);
  void StepColon(StackId stack, std::uint8_t byte, Threads& out);
  void StepObject(StackId stack, std::uint8_t byte, Threads& out);
  void StepArray(StackId stack, std::uint8_t byte, Threads& out);
  void BeginValue(FormulaId value, StackId below, std::uint8_t byte, Threads& out);
  void BeginItem(const Frame& array, StackId below, std::uint8_t byte, Threads& out);
  // The value on top of `below` is complete.
  std::optional<StackId> Return(StackId below);

  // White space. What may stand at a frame's place is free, or a fixed text.
  bool SpaceStep(StackId stack, std::uint8_t byte, Threads& out);
  bool SpaceDone(const Frame& frame, StackId stack, bool closing) const;
  std::string FixedSpace(const Frame& frame, std::int32_t depth, bool closing) const;

  // Texts of strings and keys, over decoded bytes. -1: nothing goes on so.
  std::int32_t TextStep(const Frame& frame, std::int32_t position, std::uint8_t byte);
  std::int32_t TextSteps(const Frame& frame, std::int32_t position, char32_t code);
  // Some character that may be written as an escape leads on.
  bool AnyEscaped(const Frame& frame);
  bool AnyCharacter(const Frame& frame, std::int32_t position, char32_t first, char32_t last);
  bool AnyFrom(const Frame& frame, std::int32_t position, int left, char32_t prefix, char32_t first,
               char32_t last);
  void EndText(StackId stack, Threads& out);
  std::optional<Frame> EscapeStep(const Frame& frame, std::uint8_t byte);
  std::optional<Frame> UnitStep(Frame frame, EscapeState escape, std::uint8_t byte);
  std::int32_t StringPosition(const StringCase::Position& position);
  KeyPosition KeyBegin(std::int32_t object);
  std::int32_t KeyStep(std::int32_t object, std::int32_t position, std::uint8_t byte);
  bool KeyAlive(std::int32_t object, const KeyPosition& position);
  std::int32_t InternKey(KeyPosition position);

  std::int32_t NewObject(CaseId plan);
  std::int32_t InternObject(ObjectState state);
  const std::vector<Option>& SlotOptions(std::int32_t object, std::int32_t slot);
  const std::vector<Option>& OtherOptions(std::int32_t object, std::int32_t cls);
  std::vector<Option> MakeOptions(const ObjectState& next, FormulaId value, std::uint32_t some);
  bool CanGoOn(std::int32_t object);
  bool ObjectEnds(std::int32_t object);

  std::int32_t InternArray(CaseId array, CaseSpace::ArrayState state);
  const std::vector<CaseSpace::ArrayStep>& ItemSteps(CaseId array, std::int32_t state);

  StackId TwinOf(StackId stack);
  StackId TwinBelow(StackId stack);
  std::optional<Run> RunOfThread(StackId stack);
  bool Loops(LanguageId language, Language::State q, CharClass& chars);
  // Compact texts, brackets included; `first`: no comma is due; `member`: another one must come.
  std::optional<std::string> ShortestRest(StackId stack);
  std::optional<std::string> TopRest(const Frame& top, const std::string& above);
  std::optional<std::string> ObjectRest(std::int32_t object, bool first, bool member);
  std::optional<std::string> KeyRest(std::int32_t object, const KeyPosition& position);
  std::optional<std::string> ArrayRest(CaseId id, CaseSpace::ArrayState at, bool first, bool item);
  // With the white space that the options ask for.
  std::optional<std::string> Spaced(State state, const std::string& compact);
  bool Check();  // takes over an error of the space

  std::unique_ptr<SchemaSet> set_;
  std::unique_ptr<CaseSpace> space_;
  FormulaId root_;
  JsonSchemaOptions options_;
  NumberForms forms_;

  std::vector<Node> nodes_;
  std::unordered_map<Frame, StackId, FrameHash> node_ids_;
  std::vector<Threads> states_;
  std::unordered_map<std::string, State> state_ids_;
  std::unordered_map<std::uint64_t, State> next_;
  std::unordered_map<State, State> twins_;
  std::int32_t twin_objects_[2][2] = {{-1, -1}, {-1, -1}};  // by: may end, may go on

  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int32_t> text_ids_;
  std::int32_t TextId(const std::string& text);
  // Recorded texts, byte by byte: (the text before, byte). 0 is the empty one.
  std::vector<std::pair<std::int32_t, char>> ropes_ = {{0, 0}};
  std::unordered_map<std::uint64_t, std::int32_t> rope_ids_;
  std::int32_t Rope(std::int32_t before, std::uint8_t byte);
  std::string RopeText(std::int32_t rope) const;
  std::vector<StringCase::Position> positions_;
  std::unordered_map<std::string, std::int32_t> position_ids_;
  std::vector<KeyPosition> keys_;
  std::unordered_map<std::string, std::int32_t> key_ids_;
  std::vector<ObjectState> objects_;
  std::vector<ObjectInfo> object_infos_;
  std::unordered_map<std::string, std::int32_t> object_ids_;
  std::vector<CaseSpace::ArrayState> arrays_;
  std::unordered_map<std::string, std::int32_t> array_ids_;
  std::unordered_map<std::uint64_t, std::vector<CaseSpace::ArrayStep>> item_steps_;
  std::unordered_map<std::uint64_t, std::pair<bool, CharClass>> loops_;
  std::size_t bytes_ = 0;
};

}  // namespace adjudge::schema
