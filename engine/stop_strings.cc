#include "engine/stop_strings.h"

#include <queue>

#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace adjudge {

int StopStrings::Child(const Node& node, unsigned char byte) {
  for (const auto& [label, child] : node.children) {
    if (label == byte) return child;
  }
  return -1;
}

Result<StopStrings> StopStrings::Make(const std::vector<std::string>& strings,
                                      const StopStringLimits& limits) {
  if (strings.size() > limits.max_strings) {
    return Fail(ErrorCode::kLimit,
                std::to_string(strings.size()) + " stop strings, but max_strings is " +
                    std::to_string(limits.max_strings),
                "stop_strings");
  }
  StopStrings result;
  result.strings_ = strings;
  result.nodes_.emplace_back();
  for (std::size_t i = 0; i < strings.size(); ++i) {
    const std::string place = "stop_strings[" + std::to_string(i) + "]";
    if (strings[i].empty()) {
      return Fail(ErrorCode::kInvalidArgument, "a stop string may not be empty", place);
    }
    if (strings[i].size() > limits.max_bytes) {
      return Fail(ErrorCode::kLimit,
                  std::to_string(strings[i].size()) + " bytes, but max_bytes is " +
                      std::to_string(limits.max_bytes),
                  place);
    }
    if (const auto bad = FirstInvalidUtf8(strings[i])) {
      return Fail(ErrorCode::kMalformed,
                  "expected UTF-8, found bytes that are not, at byte " + std::to_string(*bad),
                  place);
    }
    int node = 0;
    for (const char c : strings[i]) {
      const auto byte = static_cast<unsigned char>(c);
      int child = Child(result.nodes_[static_cast<std::size_t>(node)], byte);
      if (child < 0) {
        child = static_cast<int>(result.nodes_.size());
        const int depth = result.nodes_[static_cast<std::size_t>(node)].depth + 1;
        result.nodes_[static_cast<std::size_t>(node)].children.emplace_back(byte, child);
        result.nodes_.push_back({.children = {}, .depth = depth});
      }
      node = child;
    }
    result.nodes_[static_cast<std::size_t>(node)].stop = static_cast<int>(i);
  }
  result.LinkFallbacks();
  return result;
}

int StopStrings::Next(int state, unsigned char byte) const {
  while (true) {
    const Node& node = nodes_[static_cast<std::size_t>(state)];
    if (const int child = Child(node, byte); child >= 0) return child;
    if (state == 0) return 0;
    state = node.fallback;
  }
}

void StopStrings::LinkFallbacks() {
  std::queue<int> open;
  open.push(0);
  while (!open.empty()) {
    const int parent = open.front();
    open.pop();
    for (const auto& [byte, child] : nodes_[static_cast<std::size_t>(parent)].children) {
      Node& node = nodes_[static_cast<std::size_t>(child)];
      if (parent != 0) {
        node.fallback = Next(nodes_[static_cast<std::size_t>(parent)].fallback, byte);
      }
      if (node.stop < 0) node.stop = nodes_[static_cast<std::size_t>(node.fallback)].stop;
      open.push(child);
    }
  }
}

std::string StopStrings::Push(std::string_view text) {
  ADJUDGE_CHECK(!stopped());
  if (strings_.empty()) return std::string(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    held_.push_back(text[i]);
    state_ = Next(state_, static_cast<unsigned char>(text[i]));
    const int stop = nodes_[static_cast<std::size_t>(state_)].stop;
    if (stop < 0) continue;
    stopped_by_ = strings_[static_cast<std::size_t>(stop)];
    held_.resize(held_.size() - stopped_by_->size());
    return std::exchange(held_, {});
  }
  const auto depth = static_cast<std::size_t>(nodes_[static_cast<std::size_t>(state_)].depth);
  std::string send = held_.substr(0, held_.size() - depth);
  held_.erase(0, send.size());
  return send;
}

std::string StopStrings::Finish() {
  state_ = 0;
  return std::exchange(held_, {});
}

}  // namespace adjudge
