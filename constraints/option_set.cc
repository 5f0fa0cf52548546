#include "constraints/option_set.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "constraints/trie/byte_trie.h"
#include "constraints/trie/token_index.h"
#include "constraints/trie/token_walk.h"
#include "engine/base/check.h"

namespace adjudge {
namespace {

using Node = ByteTrie::Node;
using TokenList = std::vector<TokenId>;

std::string Place(std::size_t i) { return "options[" + std::to_string(i) + "]"; }

Status CheckLimits(const std::vector<std::string>& options, const OptionSetOptions& settings) {
  if (options.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "at least one option is needed, found none",
                "options");
  }
  if (options.size() > settings.max_options) {
    return Fail(ErrorCode::kLimit,
                std::to_string(options.size()) + " options, but max_options is " +
                    std::to_string(settings.max_options),
                "options");
  }
  std::size_t total = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i].empty()) {
      return Fail(ErrorCode::kInvalidArgument, "an option may not be empty", Place(i));
    }
    if (options[i].size() > settings.max_option_bytes) {
      return Fail(ErrorCode::kLimit,
                  std::to_string(options[i].size()) + " bytes, but max_option_bytes is " +
                      std::to_string(settings.max_option_bytes),
                  Place(i));
    }
    total += options[i].size() + (settings.allow_leading_space ? options[i].size() + 1 : 0);
    if (total > settings.max_total_bytes) {
      return Fail(ErrorCode::kLimit,
                  "the options up to this one have " + std::to_string(total) +
                      " bytes, but max_total_bytes is " + std::to_string(settings.max_total_bytes),
                  Place(i));
    }
  }
  return {};
}

// Every accepted text with its option's index, ascending; an error where two are equal.
Result<std::vector<std::pair<std::string, int>>> SortedTexts(
    const std::vector<std::string>& options, bool allow_leading_space) {
  std::vector<std::pair<std::string, int>> texts;
  for (std::size_t i = 0; i < options.size(); ++i) {
    texts.emplace_back(options[i], static_cast<int>(i));
    if (allow_leading_space) texts.emplace_back(" " + options[i], static_cast<int>(i));
  }
  std::sort(texts.begin(), texts.end());
  for (std::size_t i = 1; i < texts.size(); ++i) {
    if (texts[i].first != texts[i - 1].first) continue;
    const auto earlier = static_cast<std::size_t>(texts[i - 1].second);
    const auto later = static_cast<std::size_t>(texts[i].second);
    const bool equal = options[earlier] == options[later];
    return Fail(ErrorCode::kInvalidArgument,
                "equals " + Place(earlier) + (equal ? "" : " but for the leading space allowed"),
                Place(later));
  }
  return texts;
}

// Which nodes the vocabulary's tokens can leave towards an end, and which they can reach.
class Spelling {
 public:
  Spelling(const ByteTrie& trie, const TokenIndex& index) : trie_(trie), index_(index) {
    if (EveryByteIsAToken()) return;
    live_.assign(static_cast<std::size_t>(trie.n_nodes()), false);
    for (Node node = trie.n_nodes() - 1; node >= 0; --node) {
      bool live = trie.value(node) >= 0;
      if (!live) {
        ForEachToken(trie, index, node, [&](TokenId, Node target) {
          live = live_[static_cast<std::size_t>(target)];
          return !live;
        });
      }
      live_[static_cast<std::size_t>(node)] = live;
    }
  }

  // The index of an option that no tokens spell, or -1.
  int Unspellable() const {
    if (live_.empty()) return -1;
    std::vector<bool> reached(live_.size(), false);
    reached[0] = true;
    int lowest = -1;
    for (Node node = 0; node < trie_.n_nodes(); ++node) {
      if (reached[static_cast<std::size_t>(node)]) {
        ForEachToken(trie_, index_, node, [&](TokenId, Node target) {
          reached[static_cast<std::size_t>(target)] = true;
          return true;
        });
      } else if (const int value = trie_.value(node); value >= 0) {
        lowest = lowest < 0 ? value : std::min(lowest, value);
      }
    }
    return lowest;
  }

  // Empty when every node is live.
  std::vector<bool> TakeLive() { return std::move(live_); }

 private:
  bool EveryByteIsAToken() const {
    std::vector<bool> known(256, false);
    for (int byte = 0; byte < 256; ++byte) {
      const auto range = index_.Narrow(index_.all(), static_cast<unsigned char>(byte));
      const auto [first, last] = index_.Ending(range);
      known[static_cast<std::size_t>(byte)] = first != last;
    }
    for (Node node = 1; node < trie_.n_nodes(); ++node) {
      if (!known[trie_.byte(node)]) return false;
    }
    return true;
  }

  const ByteTrie& trie_;
  const TokenIndex& index_;
  std::vector<bool> live_;
};

// Lists of allowed tokens, one a node, made when first asked for and kept. Safe to share between
// threads: whoever publishes a list first wins.
class TokenLists {
 public:
  explicit TokenLists(int n_nodes) : lists_(static_cast<std::size_t>(n_nodes)) {}
  ~TokenLists() {
    for (auto& list : lists_) delete list.load(std::memory_order_relaxed);
  }
  TokenLists(const TokenLists&) = delete;
  TokenLists& operator=(const TokenLists&) = delete;

  const TokenList* Find(Node node) const {
    return lists_[static_cast<std::size_t>(node)].load(std::memory_order_acquire);
  }
  void Keep(Node node, const TokenList& list) {
    constexpr std::size_t kMostTokens = 4 << 20;
    if (kept_.fetch_add(list.size() + 8, std::memory_order_relaxed) > kMostTokens) return;
    auto copy = std::make_unique<const TokenList>(list);
    const TokenList* expected = nullptr;
    if (lists_[static_cast<std::size_t>(node)].compare_exchange_strong(expected, copy.get(),
                                                                       std::memory_order_acq_rel)) {
      (void)copy.release();  // lists_ owns it
    }
  }

 private:
  std::vector<std::atomic<const TokenList*>> lists_;
  std::atomic<std::size_t> kept_ = 0;
};

class CompiledOptionSet final : public OptionSet {
 public:
  CompiledOptionSet(std::shared_ptr<const TokenIndex> index, ByteTrie trie, std::vector<bool> live,
                    int n_options)
      : index_(std::move(index)),
        trie_(std::move(trie)),
        live_(std::move(live)),
        n_options_(n_options),
        lists_(trie_.n_nodes()) {}

  std::unique_ptr<Matcher> NewMatcher() const override;
  std::optional<int> Find(std::string_view text) const override {
    const Node node = trie_.Walk(ByteTrie::root(), text);
    if (node == ByteTrie::kNone || trie_.value(node) < 0) return std::nullopt;
    return trie_.value(node);
  }
  int size() const override { return n_options_; }

  const TokenIndex& index() const { return *index_; }
  const ByteTrie& trie() const { return trie_; }
  bool live(Node node) const { return live_.empty() || live_[static_cast<std::size_t>(node)]; }

  // Calls use(list) with the text tokens allowed at a node.
  template <typename Use>
  void WithTokens(Node node, Use use) const {
    if (const TokenList* kept = lists_.Find(node)) return use(*kept);
    TokenList list;
    ForEachToken(trie_, *index_, node, [&](TokenId id, Node target) {
      if (live(target)) list.push_back(id);
      return true;
    });
    lists_.Keep(node, list);
    use(list);
  }

 private:
  std::shared_ptr<const TokenIndex> index_;
  ByteTrie trie_;
  std::vector<bool> live_;  // by node; empty = all
  int n_options_;
  mutable TokenLists lists_;
};

class OptionMatcher final : public Matcher {
 public:
  explicit OptionMatcher(std::shared_ptr<const CompiledOptionSet> set) : set_(std::move(set)) {}

  Status FillMask(TokenMask& mask) override {
    ADJUDGE_CHECK(mask.width() == set_->index().width());
    mask.clear_all();
    if (stopped()) return {};
    set_->WithTokens(node(), [&](const TokenList& ids) {
      for (TokenId id : ids) mask.set(id);
    });
    if (!CanStop()) return {};
    for (TokenId id : set_->index().stop_ids()) mask.set(id);
    return {};
  }

  bool Accept(TokenId token) override {
    if (stopped()) return false;
    if (set_->index().is_stop(token)) {
      if (!CanStop()) return false;
      path_.push_back(kStopped);
      return true;
    }
    const std::string_view text = set_->index().text(token);
    if (text.empty()) return false;
    const Node target = set_->trie().Walk(node(), text);
    if (target == ByteTrie::kNone || !set_->live(target)) return false;
    path_.push_back(target);
    return true;
  }

  void Rollback(int n) override {
    ADJUDGE_CHECK(n >= 0 && static_cast<std::size_t>(n) < path_.size());
    path_.resize(path_.size() - static_cast<std::size_t>(n));
  }

  std::unique_ptr<Matcher> Fork() const override { return std::make_unique<OptionMatcher>(*this); }

  std::string ForcedBytes() override {
    std::string bytes;
    if (stopped()) return bytes;
    const ByteTrie& trie = set_->trie();
    for (Node at = node(); trie.value(at) < 0;) {
      at = trie.first_child(at);
      if (trie.next_sibling(at) != ByteTrie::kNone) break;
      bytes.push_back(static_cast<char>(trie.byte(at)));
    }
    return bytes;
  }

  std::vector<TokenId> ForcedTokens() override {
    std::vector<TokenId> tokens;
    if (stopped()) return tokens;
    const ByteTrie& trie = set_->trie();
    for (Node at = node(); at != ByteTrie::kNone && trie.value(at) < 0;) {
      Node next = ByteTrie::kNone;
      set_->WithTokens(at, [&](const TokenList& ids) {
        if (ids.size() != 1) return;
        tokens.push_back(ids[0]);
        next = trie.Walk(at, set_->index().text(ids[0]));
      });
      at = next;
    }
    return tokens;
  }

  bool CanStop() const override { return !stopped() && set_->trie().value(node()) >= 0; }

  bool IsDone() const override {
    if (stopped()) return true;
    if (!CanStop()) return false;
    bool done = true;
    set_->WithTokens(node(), [&](const TokenList& ids) { done = ids.empty(); });
    return done;
  }

 private:
  static constexpr Node kStopped = -2;

  bool stopped() const { return path_.back() == kStopped; }
  Node node() const { return path_.back(); }

  std::shared_ptr<const CompiledOptionSet> set_;
  std::vector<Node> path_ = {ByteTrie::root()};  // after each accepted token
};

std::unique_ptr<Matcher> CompiledOptionSet::NewMatcher() const {
  return std::make_unique<OptionMatcher>(
      std::static_pointer_cast<const CompiledOptionSet>(shared_from_this()));
}

}  // namespace

struct OptionSetCompiler::Impl {
  std::shared_ptr<const TokenIndex> index;
};

OptionSetCompiler::OptionSetCompiler(const Vocabulary& vocabulary)
    : impl_(std::make_shared<const Impl>(Impl{std::make_shared<const TokenIndex>(vocabulary)})) {}
OptionSetCompiler::~OptionSetCompiler() = default;
OptionSetCompiler::OptionSetCompiler(OptionSetCompiler&&) noexcept = default;
OptionSetCompiler& OptionSetCompiler::operator=(OptionSetCompiler&&) noexcept = default;

Result<std::shared_ptr<const OptionSet>> OptionSetCompiler::Compile(
    const std::vector<std::string>& options, const OptionSetOptions& settings) const {
  ADJUDGE_RETURN_IF_ERROR(CheckLimits(options, settings));
  ADJUDGE_ASSIGN_OR_RETURN(const auto texts, SortedTexts(options, settings.allow_leading_space));
  ByteTrie trie(texts);
  Spelling spelling(trie, *impl_->index);
  if (const int option = spelling.Unspellable(); option >= 0) {
    return Fail(ErrorCode::kUnsupported, "the vocabulary has no tokens that spell this option",
                Place(static_cast<std::size_t>(option)));
  }
  std::vector<bool> live = spelling.TakeLive();
  return std::make_shared<const CompiledOptionSet>(impl_->index, std::move(trie), std::move(live),
                                                   static_cast<int>(options.size()));
}

Result<std::shared_ptr<const OptionSet>> CompileOptionSet(const std::vector<std::string>& options,
                                                          const Vocabulary& vocabulary,
                                                          const OptionSetOptions& settings) {
  return OptionSetCompiler(vocabulary).Compile(options, settings);
}

}  // namespace adjudge
