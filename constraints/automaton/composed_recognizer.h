// ComposedRecognizer: recognisers joined by arrows, as places of an automaton are.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "constraints/automaton/key_hash.h"
#include "constraints/automaton/recognizer.h"

namespace adjudge {

// Begins in any of the starting parts; where a part accepts, the parts that follow it may begin. A
// text is accepted where a final part accepts. Union, sequence and free text with tags are such
// graphs. Parts have no token terminals. Exact liveness follows from the parts': each accepts
// something, and from each a final one can be reached.
class ComposedRecognizer final : public Recognizer {
 public:
  struct Part {
    std::unique_ptr<Recognizer> recognizer;
    std::vector<std::uint32_t> next;
    bool starts = false;
    bool final = false;
  };

  // REQUIRES: from every part a final one can be reached.
  explicit ComposedRecognizer(std::vector<Part> parts);

  State Start() override;
  State Next(State state, std::uint8_t byte) override;
  bool Accepts(State state) override { return accepts_[state]; }
  Run RunFrom(State state) override;
  std::optional<std::string> ShortestEnd(State state) override;
  std::size_t bytes() const override;

 private:
  using Place = std::pair<std::uint32_t, State>;  // a part, and its state

  State Close(std::vector<Place> places);
  bool Fuel(Recognizer& part, std::int64_t before);

  std::vector<Part> parts_;
  std::vector<std::optional<std::string>> shortest_;  // by part: to the end from its beginning
  std::vector<std::vector<Place>> states_;
  std::vector<bool> accepts_;
  std::vector<std::vector<State>> rows_;
  std::unordered_map<std::vector<std::uint32_t>, State, KeyHash> ids_;
  State start_ = kDead;
};

}  // namespace adjudge
