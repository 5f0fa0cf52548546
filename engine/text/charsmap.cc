#include "engine/text/charsmap.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace adjudge {
namespace {

constexpr std::size_t kMaxReplacementBytes = 256;

using Unit = Charsmap::Unit;

class Checker {
 public:
  Checker(const std::vector<Unit>& units, std::string_view strings)
      : units_(units), strings_(strings), state_(units_.size(), kNew) {}

  Status Run() {
    struct Frame {
      std::uint32_t node;
      std::uint32_t next_label;
    };
    std::vector<Frame> stack;
    ADJUDGE_RETURN_IF_ERROR(Enter(0));
    stack.push_back({0, 1});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next_label > 255) {
        state_[frame.node] = kDone;
        stack.pop_back();
        continue;
      }
      const std::uint32_t label = frame.next_label++;
      const std::uint32_t child = frame.node ^ units_[frame.node].offset() ^ label;
      if (units_[child].label() != label || state_[child] == kDone) continue;
      if (state_[child] == kOpen) return Bad("a trie that runs in a circle");
      ADJUDGE_RETURN_IF_ERROR(Enter(child));
      stack.push_back({child, 1});
    }
    return {};
  }

 private:
  enum State : char { kNew, kOpen, kDone };

  static tl::unexpected<Error> Bad(const char* found) {
    return Fail(ErrorCode::kMalformed,
                std::string("expected a precompiled normaliser, found ") + found,
                "precompiled_charsmap");
  }

  // Checks where the links of `node` lead, and its value.
  Status Enter(std::uint32_t node) {
    state_[node] = kOpen;
    const std::uint32_t base = node ^ units_[node].offset();
    if ((base | 0xFF) >= units_.size()) return Bad("a link out of the trie");
    if (!units_[node].has_leaf()) return {};
    const std::uint32_t value = units_[base].value();
    if (value >= strings_.size()) return Bad("a value past the strings");
    if (strings_.find('\0', value) - value > kMaxReplacementBytes) {
      return Bad("a replacement of more than 256 bytes");
    }
    return {};
  }

  const std::vector<Unit>& units_;
  std::string_view strings_;
  std::vector<State> state_;
};

}  // namespace

Result<Charsmap> Charsmap::Parse(std::string_view charsmap) {
  Charsmap map;
  if (charsmap.empty()) return map;
  const auto bad = [](const std::string& found) {
    return Fail(ErrorCode::kMalformed, "expected a precompiled normaliser, found " + found,
                "precompiled_charsmap");
  };
  std::uint32_t trie_bytes = 0;
  if (charsmap.size() < 4) return bad(std::to_string(charsmap.size()) + " bytes");
  std::memcpy(&trie_bytes, charsmap.data(), 4);
  if (trie_bytes >= charsmap.size() - 4 || trie_bytes < 1024 || trie_bytes % 1024 != 0) {
    return bad("a trie of " + std::to_string(trie_bytes) + " bytes in " +
               std::to_string(charsmap.size()));
  }
  const std::string_view strings = charsmap.substr(4 + trie_bytes);
  if (strings.back() != '\0') return bad("a last string without an end");
  map.strings_ = std::string(strings);
  map.units_.resize(trie_bytes / 4);
  std::memcpy(map.units_.data(), charsmap.data() + 4, trie_bytes);
  ADJUDGE_RETURN_IF_ERROR(Checker(map.units_, map.strings_).Run());
  return map;
}

Charsmap::Match Charsmap::Find(std::string_view text) const {
  Match best;
  if (units_.empty()) return best;
  std::uint32_t node = units_[0].offset();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto label = static_cast<unsigned char>(text[i]);
    node ^= label;
    const Unit unit = units_[node];
    if (label == 0 || unit.label() != label) break;
    node ^= unit.offset();
    if (unit.has_leaf()) {
      best = {i + 1, std::string_view(strings_.data() + units_[node].value())};
    }
  }
  return best;
}

}  // namespace adjudge
