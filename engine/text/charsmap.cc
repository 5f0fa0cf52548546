#include "engine/text/charsmap.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace adjudge {
namespace {

constexpr std::size_t kMaxReplacementBytes = 256;

// One unit of the double array, as the library's trie lays it out.
struct Unit {
  std::uint32_t bits;
  bool has_leaf() const { return ((bits >> 8) & 1) != 0; }
  std::uint32_t value() const { return bits & 0x7FFFFFFF; }
  std::uint32_t label() const { return bits & 0x800000FF; }
  std::uint32_t offset() const { return (bits >> 10) << ((bits & (1U << 9)) >> 6); }
};

class Checker {
 public:
  Checker(std::vector<Unit> units, std::string_view strings)
      : units_(std::move(units)), strings_(strings), state_(units_.size(), kNew) {}

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

  std::vector<Unit> units_;
  std::string_view strings_;
  std::vector<State> state_;
};

}  // namespace

Status CheckCharsmap(std::string_view charsmap) {
  if (charsmap.empty()) return {};
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
  std::vector<Unit> units(trie_bytes / 4);
  std::memcpy(units.data(), charsmap.data() + 4, trie_bytes);
  return Checker(std::move(units), strings).Run();
}

}  // namespace adjudge
