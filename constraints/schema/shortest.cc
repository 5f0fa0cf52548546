// Shortest texts: of what satisfies a formula, and of what ends a text that was begun.
#include <algorithm>
#include <limits>
#include <utility>

#include "constraints/schema/case_space.h"
#include "constraints/schema/schema_recognizer.h"
#include "engine/base/check.h"

namespace adjudge::schema {
namespace {

constexpr int kMaxKeysTried = 16;

void Better(std::optional<std::string>& best, std::optional<std::string> candidate) {
  if (candidate && (!best || candidate->size() < best->size())) best = std::move(candidate);
}

}  // namespace

std::optional<std::string> CaseSpace::Shortest(FormulaId formula) {
  if (const auto known = shortest_.find(formula); known != shortest_.end()) return known->second;
  if (Stopped() || !Spend(50)) return {};
  if (!shortening_.insert(formula).second) {
    cut_ = true;  // a value inside itself is never the shortest; what is around it is not final
    return {};
  }
  const bool outer_cut = cut_;
  cut_ = false;
  std::optional<std::string> best;
  for (int t = 0; t < kTypes; ++t) {
    const Type type = static_cast<Type>(t);
    const std::vector<CaseId>* ids = Cases(type, formula);
    if (ids == nullptr) continue;
    for (const CaseId id : std::vector<CaseId>(*ids)) {
      if (CaseSatisfiable(id) != Truth::kYes) continue;
      Better(best, ShortestOfCase(type, id));
    }
  }
  shortening_.erase(formula);
  if ((!cut_ || shortening_.empty()) && !Stopped() && questions_ == 0) shortest_[formula] = best;
  cut_ = !shortening_.empty() && (outer_cut || cut_);
  return best;
}

std::optional<std::string> CaseSpace::ShortestOfCase(Type type, CaseId id) {
  switch (type) {
    case Type::kNull:
      return "null";
    case Type::kFalse:
      return "false";
    case Type::kTrue:
      return "true";
    case Type::kNumber:
      return FinishNumber(number(id), forms_, "");
    case Type::kString: {
      const StringCase string = this->string(id);
      const auto start = string.Start(languages_);
      if (!start) return {};
      return QuoteJson(string.Shortest(languages_, *start));
    }
    case Type::kArray: {
      const ArrayCase array = this->array(id);
      ArrayState start;
      start.counts.resize(array.contains.size());
      const auto rest = ShortestArray(array, start, true);
      if (!rest) return {};
      return "[" + *rest + "]";
    }
    case Type::kObject: {
      const ObjectPlan* plan = Plan(id);
      if (plan == nullptr) return {};
      const auto rest =
          ShortestObject(*plan, std::vector<bool>(plan->slots.size()), 0, 0, {}, 0, true);
      if (!rest) return {};
      return "{" + *rest + "}";
    }
  }
  return {};
}

std::optional<std::string> CaseSpace::ShortestObject(const ObjectPlan& plan, std::vector<bool> used,
                                                     std::uint32_t met, std::uint32_t count,
                                                     std::vector<std::string> names,
                                                     std::int32_t from_order, bool first) {
  std::string rest;
  const auto append = [&](const std::string& name, const std::string& value) {
    if (!first) rest += ",";
    first = false;
    rest += QuoteJson(name) + ":" + value;
    ++count;
  };
  const auto taken = [&] {
    std::vector<std::uint32_t> n(plan.others.size(), 0);
    for (const std::string& name : names) {
      for (std::size_t c = 0; c < n.size(); ++c) {
        n[c] += languages_.Get(plan.others[c].language).Contains(name) ? 1 : 0;
      }
    }
    return n;
  };
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << plan.some.size()) - 1);
  const auto done = [&] {
    if (met != all || count < plan.least) return false;
    return std::all_of(plan.required.begin(), plan.required.end(),
                       [&](std::int32_t s) { return used[static_cast<std::size_t>(s)]; });
  };
  // Member by member: the cheapest one that helps and leaves the rest possible.
  while (!done()) {
    if (!Spend(50) || Stopped()) return {};
    std::string best_name, best_value;
    std::uint32_t best_met = met;
    std::int32_t best_slot = -1;
    double best_cost = std::numeric_limits<double>::max();
    const auto consider = [&](std::int32_t slot, const std::string& name, FormulaId value,
                              std::uint32_t some) {
      const std::uint32_t open = some & all & ~met;
      std::vector<std::uint32_t> sets{0};
      if (open != 0) sets = {open, open & (~open + 1), 0};
      for (const std::uint32_t claim : sets) {
        const bool required = slot >= 0 && plan.slots[static_cast<std::size_t>(slot)].required;
        if (claim == 0 && !required && !(met == all && count < plan.least)) continue;
        std::vector<FormulaId> parts{value};
        for (std::uint32_t j = 0; j < plan.some.size(); ++j) {
          if ((claim >> j & 1U) != 0) parts.push_back(plan.some[j]);
        }
        const FormulaId wanted = formulas_.And(std::move(parts));
        if (Satisfiable(wanted) != Truth::kYes) continue;
        std::vector<bool> next = used;
        if (slot >= 0) next[static_cast<std::size_t>(slot)] = true;
        std::vector<std::uint32_t> others = taken();
        if (slot < 0) {
          for (std::size_t c = 0; c < others.size(); ++c) {
            others[c] += languages_.Get(plan.others[c].language).Contains(name) ? 1 : 0;
          }
        }
        const std::int32_t order =
            ordered_ ? (slot >= 0 ? plan.slots[static_cast<std::size_t>(slot)].order + 1 : 1 << 30)
                     : from_order;
        if (Completable(plan, next, met | claim, count + 1, others, order) != Truth::kYes) continue;
        const auto text = Shortest(wanted);
        if (!text) continue;
        const double gain = 1.0 + __builtin_popcount(claim) + (required ? 1 : 0);
        const double cost = static_cast<double>(name.size() + text->size() + 4) / gain;
        if (cost >= best_cost) continue;
        best_cost = cost;
        best_name = name;
        best_value = *text;
        best_met = met | claim;
        best_slot = slot;
      }
    };
    for (const std::int32_t s : plan.by_order) {
      const auto at = static_cast<std::size_t>(s);
      const ObjectPlan::Slot& slot = plan.slots[at];
      if (used[at] || slot.order < from_order) continue;
      if (!slot.required && (slot.some & ~met) == 0 && count >= plan.least) continue;
      consider(s, slot.name, slot.value, slot.some);
      if (ordered_ && best_slot >= 0 && slot.required) break;
    }
    if (best_slot < 0 || !ordered_) {
      for (const ObjectPlan::Others& others : plan.others) {
        StringCase free;
        free.language = others.language;
        free.excluded = names;
        free.excluded.insert(free.excluded.end(), plan.names.begin(), plan.names.end());
        std::sort(free.excluded.begin(), free.excluded.end());
        const Language& language = languages_.Get(others.language);
        free.excluded.erase(std::remove_if(free.excluded.begin(), free.excluded.end(),
                                           [&](const auto& n) { return !language.Contains(n); }),
                            free.excluded.end());
        const auto start = free.Start(languages_);
        if (!start) continue;
        if ((others.some & ~met) == 0 && count >= plan.least) continue;
        consider(-1, free.Shortest(languages_, *start), others.value, others.some);
      }
    }
    if (best_cost == std::numeric_limits<double>::max()) return {};
    append(best_name, best_value);
    met = best_met;
    if (best_slot >= 0) {
      used[static_cast<std::size_t>(best_slot)] = true;
      if (ordered_) from_order = plan.slots[static_cast<std::size_t>(best_slot)].order + 1;
    } else {
      names.insert(std::lower_bound(names.begin(), names.end(), best_name), best_name);
      if (ordered_) from_order = 1 << 30;
    }
  }
  return rest;
}

std::optional<std::string> CaseSpace::ShortestArray(const ArrayCase& array, ArrayState at,
                                                    bool first) {
  // Breadth first by items; the cheapest texts of each.
  std::string rest;
  for (int i = 0; i < 100'000 && !Ends(array, at); ++i) {
    if (!Spend(50) || Stopped()) return {};
    std::optional<std::string> best;
    ArrayState next;
    double best_cost = std::numeric_limits<double>::max();
    for (const ArrayStep& step : ArraySteps(array, at)) {
      const auto text = Shortest(step.value);
      if (!text) continue;
      ArrayState after = AfterItem(array, step.next, *ParseJson(*text));
      if (Completable(array, after) != Truth::kYes) continue;
      double gain = 1;
      for (std::size_t j = 0; j < after.counts.size(); ++j) gain += after.counts[j] - at.counts[j];
      gain += after.repeated && !at.repeated ? 1 : 0;
      const double cost = static_cast<double>(text->size() + 1) / gain;
      if (cost >= best_cost) continue;
      best_cost = cost;
      best = text;
      next = std::move(after);
    }
    if (!best) return {};
    rest += (first ? "" : ",") + *best;
    first = false;
    at = std::move(next);
  }
  return rest;
}

std::optional<std::string> SchemaRecognizer::ObjectRest(std::int32_t object, bool first,
                                                        bool member) {
  const ObjectState state = objects_[static_cast<std::size_t>(object)];
  const ObjectPlan& plan = *space_->Plan(state.plan);  // plans stay where they are
  if (!member || !ObjectEnds(object)) {
    auto rest = space_->ShortestObject(plan, state.used, state.met, state.count, state.extras,
                                       state.from_order, first);
    if (rest) *rest += "}";
    return rest;
  }
  // A comma stands: one member more than is needed.
  auto rest = KeyRest(object, KeyBegin(object));
  if (rest) rest->insert(0, first ? "\"" : ",\"");
  return rest;
}

std::optional<std::string> SchemaRecognizer::KeyRest(std::int32_t object,
                                                     const KeyPosition& position) {
  const ObjectPlan& plan = *space_->Plan(objects_[static_cast<std::size_t>(object)].plan);
  const auto depth = static_cast<std::size_t>(position.depth);
  std::optional<std::string> best;
  const auto member = [&](const std::string& name, const Option& option, std::int32_t next) {
    const auto value = space_->Shortest(option.value);
    const auto rest = value ? ObjectRest(next, false, false) : std::nullopt;
    // The quote that opens the text is not part of the rest.
    if (rest) Better(best, QuoteJson(name.substr(depth)).substr(1) + ":" + *value + *rest);
  };
  // Of very many keys those that are asked for, and a few others.
  const bool ends = ObjectEnds(object);
  int others = 0;
  for (std::int32_t i = position.slots.first; i < position.slots.last; ++i) {
    const ObjectPlan::Slot& slot = plan.slots[static_cast<std::size_t>(i)];
    if ((ends || !slot.required) && slot.some == 0 && others >= kMaxKeysTried && best) continue;
    for (const Option& option : std::vector<Option>(SlotOptions(object, i))) {
      member(plan.names[static_cast<std::size_t>(i)], option, option.next);
      ++others;
    }
  }
  for (std::size_t c = 0; c < position.classes.size(); ++c) {
    const auto options =
        std::vector<Option>(position.classes[c] == Language::kNone
                                ? std::vector<Option>()
                                : OtherOptions(object, static_cast<std::int32_t>(c)));
    if (options.empty()) continue;
    StringCase free;
    free.language = plan.others[c].language;
    const Language& language = space_->languages().Get(free.language);
    std::vector<std::string> names = objects_[static_cast<std::size_t>(object)].extras;
    names.insert(names.end(), plan.names.begin(), plan.names.end());
    for (const std::string& name : names) {
      if (language.Contains(name)) free.excluded.push_back(name);
    }
    std::sort(free.excluded.begin(), free.excluded.end());
    auto at = free.Start(space_->languages());
    for (const char byte : position.text) {
      if (at) at = free.Step(space_->languages(), *at, static_cast<std::uint8_t>(byte));
    }
    if (!at) continue;
    const std::string name = position.text + free.Shortest(space_->languages(), *at);
    for (const Option& option : options) {
      ObjectState next = objects_[static_cast<std::size_t>(option.next)];
      next.extras.insert(std::lower_bound(next.extras.begin(), next.extras.end(), name), name);
      member(name, option, InternObject(std::move(next)));
    }
  }
  return best;
}

std::optional<std::string> SchemaRecognizer::ArrayRest(CaseId id, CaseSpace::ArrayState at,
                                                       bool first, bool item) {
  const ArrayCase array = space_->array(id);
  std::optional<std::string> best;
  if (!item || !space_->Ends(array, at)) {
    best = space_->ShortestArray(array, at, first);
  } else {
    for (const auto& step : space_->ArraySteps(array, at)) {
      const auto value = space_->Shortest(step.value);
      if (!value) continue;
      const auto after = space_->AfterItem(array, step.next, *ParseJson(*value));
      const auto rest = space_->ShortestArray(array, after, false);
      if (rest) Better(best, (first ? "" : ",") + *value + *rest);
    }
  }
  if (best) *best += "]";
  return best;
}

std::optional<std::string> SchemaRecognizer::TopRest(const Frame& top, const std::string& above) {
  switch (top.kind) {
    case Kind::kEnd:
      return "";
    case Kind::kValue:
      return space_->Shortest(top.a);
    case Kind::kColon: {
      auto value = space_->Shortest(top.a);
      if (value) value->insert(0, ":");
      return value;
    }
    case Kind::kWord: {
      static constexpr std::string_view kWords[] = {"null", "false", "true"};
      return std::string(kWords[top.a].substr(static_cast<std::size_t>(top.b)));
    }
    case Kind::kNumber:
      return FinishNumber(space_->number(top.a), forms_, texts_[static_cast<std::size_t>(top.b)]);
    case Kind::kString:
    case Kind::kKey: {
      // An escape that was begun is ended first, by whatever goes on.
      Frame frame = top;
      std::string text;
      while (frame.c != 0) {
        std::optional<Frame> next;
        for (const char byte : std::string_view("nu\\0123456789abcdef\"/")) {
          next = EscapeStep(frame, static_cast<std::uint8_t>(byte));
          if (!next) continue;
          text.push_back(byte);
          break;
        }
        if (!next) return {};
        frame = *next;
      }
      if (frame.kind == Kind::kKey) {
        auto rest = KeyRest(frame.a, KeyPosition(keys_[static_cast<std::size_t>(frame.b)]));
        if (rest) rest->insert(0, text);
        return rest;
      }
      const StringCase& string = space_->string(frame.a);
      const auto rest =
          string.Shortest(space_->languages(), positions_[static_cast<std::size_t>(frame.b)]);
      return text + QuoteJson(rest).substr(1);
    }
    case Kind::kObject:
    case Kind::kArray: {
      // A comma asks for another one, and so does a line begun in an empty container.
      const std::int32_t phase = top.kind == Kind::kArray ? top.c : top.b;
      const bool more = phase == kComma || (phase == kOpened && top.space > 0 &&
                                            options_.space == SchemaSpace::kIndent);
      if (top.kind == Kind::kObject) return ObjectRest(top.a, phase != kAfter, more);
      return ArrayRest(top.a, arrays_[static_cast<std::size_t>(top.b)], phase != kAfter, more);
    }
    case Kind::kRecord: {
      const auto value = ParseJson(RopeText(top.c) + above);
      if (!value) return {};
      const ArrayCase array = space_->array(top.a);
      return ArrayRest(top.a,
                       space_->AfterItem(array, arrays_[static_cast<std::size_t>(top.b)], *value),
                       false, false);
    }
  }
  return {};
}

std::optional<std::string> SchemaRecognizer::ShortestRest(StackId stack) {
  std::string text;
  for (; stack != 0;) {
    const Frame frame = Top(stack);
    const auto rest = TopRest(frame, text);
    if (!rest) return {};
    text += *rest;
    stack = frame.below;
  }
  return text;
}

std::optional<std::string> SchemaRecognizer::Spaced(State state, const std::string& compact) {
  std::string text;
  for (const char c : compact) {
    const auto byte = static_cast<std::uint8_t>(c);
    State next = Next(state, byte);
    while (next == kDead) {
      char space = 0;
      for (const char candidate : {' ', '\n'}) {
        next = Next(state, static_cast<std::uint8_t>(candidate));
        if (next == kDead) continue;
        space = candidate;
        break;
      }
      if (space == 0) return {};
      text.push_back(space);
      state = next;
      next = Next(state, byte);
    }
    text.push_back(c);
    state = next;
  }
  // A fixed line may have to come before the end, never after it.
  if (!Accepts(state)) return {};
  return text;
}

std::optional<std::string> SchemaRecognizer::ShortestEnd(State state) {
  if (!Check() || !Burn(100)) return {};
  space_->Refill();
  std::optional<std::string> best;
  for (const StackId stack : Threads(states_[state])) Better(best, ShortestRest(stack));
  if (!Check() || !best) return {};
  return options_.space == SchemaSpace::kFree ? best : Spaced(state, *best);
}

}  // namespace adjudge::schema
