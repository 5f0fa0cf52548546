#include "constraints/automaton/composed_recognizer.h"

#include <algorithm>

namespace adjudge {
namespace {

constexpr Recognizer::State kUnknown = ~Recognizer::State{0};

}  // namespace

ComposedRecognizer::ComposedRecognizer(std::vector<Part> parts)
    : parts_(std::move(parts)), states_(1), accepts_(1), rows_(1) {}

// After a part worked with our fuel, of which there was `before`.
bool ComposedRecognizer::Fuel(Recognizer& part, std::int64_t before) {
  const bool paid = Burn(before - part.fuel());
  if (!part.status()) SetError(part.status().error());
  return paid && status().has_value();
}

Recognizer::State ComposedRecognizer::Start() {
  if (start_ != kDead) return start_;
  std::vector<Place> places;
  for (std::uint32_t i = 0; i < parts_.size(); ++i) {
    Recognizer& part = *parts_[i].recognizer;
    const std::int64_t before = fuel();
    part.Refuel(before);
    const State start = part.Start();
    if (!Fuel(part, before)) return kDead;
    if (parts_[i].starts) places.emplace_back(i, start);
  }
  start_ = Close(std::move(places));
  return start_;
}

// With the parts that may begin where others accept; interned.
Recognizer::State ComposedRecognizer::Close(std::vector<Place> places) {
  bool accepts = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto [index, state] = places[i];
    const Part& part = parts_[index];
    if (!part.recognizer->Accepts(state)) continue;
    accepts = accepts || part.final;
    for (const std::uint32_t next : part.next) {
      const Place begin = {next, parts_[next].recognizer->Start()};
      if (std::find(places.begin(), places.end(), begin) == places.end()) places.push_back(begin);
    }
  }
  if (!Burn(4 + static_cast<std::int64_t>(places.size())) || places.empty()) return kDead;
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<std::uint32_t> key;
  for (const auto& [index, state] : places) key.insert(key.end(), {index, state});
  const auto [found, added] = ids_.try_emplace(std::move(key), 0);
  if (added) {
    found->second = static_cast<State>(states_.size());
    states_.push_back(std::move(places));
    accepts_.push_back(accepts);
    rows_.emplace_back();
  }
  return found->second;
}

Recognizer::State ComposedRecognizer::Next(State state, std::uint8_t byte) {
  if (rows_[state].empty()) rows_[state].assign(256, kUnknown);
  if (rows_[state][byte] != kUnknown) return rows_[state][byte];
  std::vector<Place> next;
  for (const auto& [index, inner] : states_[state]) {
    Recognizer& part = *parts_[index].recognizer;
    const std::int64_t before = fuel();
    part.Refuel(before);
    const State to = part.Next(inner, byte);
    if (!Fuel(part, before)) return kDead;
    if (to != kDead) next.emplace_back(index, to);
  }
  const State to = Close(std::move(next));
  if (status()) rows_[state][byte] = to;
  return to;
}

Recognizer::Run ComposedRecognizer::RunFrom(State state) {
  const std::vector<Place> places = states_[state];
  for (const auto& [index, inner] : places) {
    Recognizer& part = *parts_[index].recognizer;
    const std::int64_t before = fuel();
    part.Refuel(before);
    Run run = part.RunFrom(inner);
    if (!Fuel(part, before)) return {};
    if (run.room == kNoLimit) {
      // What one place says of all texts holds whatever the others say.
      const bool alone = places.size() == 1 && run.next != kDead;
      run.next = alone ? Close({{index, run.next}}) : kDead;
      return run;
    }
    if (places.size() == 1) {
      // Longer texts may live on in the parts that follow.
      run.ends = run.ends && parts_[index].next.empty();
      if (run.next != kDead) run.next = Close({{index, run.next}});
      return run;
    }
  }
  return {};
}

std::optional<std::string> ComposedRecognizer::ShortestEnd(State state) {
  if (shortest_.empty()) {
    // From each part's beginning to the end of all, until nothing gets shorter.
    shortest_.resize(parts_.size());
    std::vector<std::optional<std::string>> own(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      own[i] = parts_[i].recognizer->ShortestEnd(parts_[i].recognizer->Start());
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto improve = [&](const std::string& rest) {
          if (!own[i]) return;
          if (shortest_[i] && shortest_[i]->size() <= own[i]->size() + rest.size()) return;
          shortest_[i] = *own[i] + rest;
          changed = true;
        };
        if (parts_[i].final) improve("");
        for (const std::uint32_t next : parts_[i].next) {
          if (shortest_[next]) improve(std::string(*shortest_[next]));
        }
      }
    }
  }
  std::optional<std::string> best;
  for (const auto& [index, inner] : states_[state]) {
    Recognizer& part = *parts_[index].recognizer;
    part.Refuel(fuel());
    const auto end = part.ShortestEnd(inner);
    if (!end) continue;
    const auto improve = [&](const std::string& rest) {
      if (!best || best->size() > end->size() + rest.size()) best = *end + rest;
    };
    if (parts_[index].final) improve("");
    for (const std::uint32_t next : parts_[index].next) {
      if (shortest_[next]) improve(*shortest_[next]);
    }
  }
  return best;
}

std::size_t ComposedRecognizer::bytes() const {
  std::size_t sum = states_.size() * 120;
  for (const Part& part : parts_) sum += part.recognizer->bytes();
  for (const auto& row : rows_) sum += row.capacity() * sizeof(State);
  return sum;
}

}  // namespace adjudge
