// StopStrings: ends a text where one of some strings is complete, however the text is cut.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

struct StopStringLimits {
  std::size_t max_strings = 64;
  std::size_t max_bytes = 4096;  // of one string
};

// Reads a text in pieces and lets through what cannot belong to a stop string. The stop string that
// is complete first ends the text before its own first byte; of two that end at the same byte, the
// longer one. So the result does not depend on how the text was cut. Time per byte is constant. A
// value, one per text.
class StopStrings {
 public:
  // Errors name the string by its index: an empty one, one over max_bytes, too many, one that is
  // not UTF-8 (it could end the text inside a character).
  static Result<StopStrings> Make(const std::vector<std::string>& strings,
                                  const StopStringLimits& limits = {});

  // The text that may be sent now. REQUIRES: not stopped().
  std::string Push(std::string_view text);
  // The tail that was held back as a possible beginning of a stop string.
  std::string Finish();

  bool stopped() const { return stopped_by_.has_value(); }
  const std::optional<std::string>& stopped_by() const { return stopped_by_; }

 private:
  // Node of the automaton of Aho and Corasick: the longest end of the text that begins a string.
  struct Node {
    std::vector<std::pair<unsigned char, int>> children;  // few: searched in turn
    int depth = 0;
    int fallback = 0;  // the longest proper end of this node's string that begins a string
    int stop = -1;     // index of the longest string that ends here
  };

  StopStrings() = default;
  static int Child(const Node& node, unsigned char byte);
  int Next(int state, unsigned char byte) const;
  void LinkFallbacks();

  std::vector<std::string> strings_;
  std::vector<Node> nodes_;
  int state_ = 0;
  std::string held_;
  std::optional<std::string> stopped_by_;
};

}  // namespace adjudge
