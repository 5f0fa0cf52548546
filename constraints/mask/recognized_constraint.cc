#include "constraints/mask/recognized_constraint.h"

#include <algorithm>
#include <mutex>
#include <random>
#include <unordered_map>
#include <utility>

#include "constraints/mask/forced_tokens.h"
#include "constraints/mask/mask_table.h"
#include "engine/base/check.h"

namespace adjudge {
namespace {

using State = Recognizer::State;

constexpr std::size_t kMostForcedBytes = 16'384;
// Tokens left from which on a budget looks at every token's way to the end.
constexpr int kShortBudget = 256;

class RecognizedConstraint final : public CompiledConstraint {
 public:
  RecognizedConstraint(std::unique_ptr<Recognizer> recognizer,
                       std::shared_ptr<const VocabularyIndex> index, const ConstraintLimits& limits,
                       Tokenize tokenize, std::vector<std::string> notes)
      : recognizer_(std::move(recognizer)),
        index_(std::move(index)),
        limits_(limits),
        tokenize_(std::move(tokenize)),
        notes_(std::move(notes)),
        table_(*recognizer_, *index_, limits.mask_bytes) {}

  Status Begin() {
    recognizer_->Refuel(limits_.work);
    start_ = recognizer_->Start();
    ADJUDGE_RETURN_IF_ERROR(recognizer_->status());
    ADJUDGE_CHECK_MSG(start_ != Recognizer::kDead, "an empty language without an error");
    return {};
  }

  std::unique_ptr<Matcher> NewMatcher() const override;
  Result<std::unique_ptr<Matcher>> NewMatcher(int max_tokens) const override;
  Result<TextVerdict> Check(std::string_view text) const override;
  Result<Follow> After(std::string_view text) const override;
  Result<std::optional<std::string>> Shortest() const override;
  Result<std::string> Sample(std::uint64_t seed, std::size_t soft_bytes) const override;
  const std::vector<std::string>& notes() const override { return notes_; }
  std::size_t bytes() const override {
    const std::lock_guard lock(mutex_);
    return recognizer_->bytes() + table_.bytes() + facts_.size() * 40 + sizeof(*this);
  }

  // What follows is for matchers: each call locks and fuels.
  const VocabularyIndex& index() const { return *index_; }
  State start() const { return start_; }

  Status Fill(State state, TokenMask& mask) const {
    const std::lock_guard lock(mutex_);
    ADJUDGE_RETURN_IF_ERROR(Ready());
    return table_.Fill(state, mask);
  }
  Result<State> Step(State state, TokenId token) const {
    const std::lock_guard lock(mutex_);
    ADJUDGE_RETURN_IF_ERROR(Ready());
    const std::string_view text = index_->tokens().text(token);
    const State spelled = text.empty() ? Recognizer::kDead : Walk(*recognizer_, state, text);
    const State next = recognizer_->NextToken(state, token, spelled);
    ADJUDGE_RETURN_IF_ERROR(recognizer_->status());
    return next;
  }
  bool Accepts(State state) const {
    const std::lock_guard lock(mutex_);
    return FactsOf(state).accepts;
  }
  // Nothing can follow.
  bool Ends(State state) const {
    const std::lock_guard lock(mutex_);
    recognizer_->Refuel(limits_.work);
    return FactsOf(state).accepts && OnlyByte(state) == kNoByte &&
           recognizer_->Tokens(state) == nullptr;
  }
  std::string ForcedBytes(State state) const {
    const std::lock_guard lock(mutex_);
    recognizer_->Refuel(limits_.work);
    return Forced(state);
  }
  std::vector<TokenId> ForcedTokens(State state, const std::vector<TokenId>& before) const;
  // Tokens of a short way to the end, greedily cut; an error where none is known.
  Result<std::vector<TokenId>> WayOut(State state) const {
    const std::lock_guard lock(mutex_);
    recognizer_->Refuel(limits_.work);
    return Way(state);
  }
  Status FillWithin(State state, int left, TokenId planned, TokenMask& mask) const;
  Status status() const {
    const std::lock_guard lock(mutex_);
    return recognizer_->status();
  }

 private:
  static constexpr int kUnknownByte = -3;
  static constexpr int kSeveral = -2;  // bytes may follow, or the text may end
  static constexpr int kNoByte = -1;
  struct Facts {
    bool known = false;
    bool accepts = false;
    int only_byte = kUnknownByte;
    int way_tokens = -1;
  };

  Status Ready() const {
    recognizer_->Refuel(limits_.work);
    if (recognizer_->bytes() <= limits_.state_bytes) return {};
    return Fail(ErrorCode::kLimit,
                "the constraint's states take more than state_bytes, " +
                    std::to_string(limits_.state_bytes),
                "constraint");
  }
  Facts& FactsOf(State state) const {
    Facts& facts = facts_[state];
    if (!facts.known) {
      facts.accepts = recognizer_->Accepts(state);
      facts.known = true;
    }
    return facts;
  }
  int OnlyByte(State state) const;
  std::string Forced(State state) const;
  Result<std::vector<TokenId>> Way(State state) const;
  TokenId Longest(std::string_view text) const;
  int WayTokens(State state) const;

  const std::unique_ptr<Recognizer> recognizer_;
  const std::shared_ptr<const VocabularyIndex> index_;
  const ConstraintLimits limits_;
  const Tokenize tokenize_;
  const std::vector<std::string> notes_;
  State start_ = Recognizer::kDead;
  mutable std::mutex mutex_;  // over all that follows and the recogniser
  mutable MaskTable table_;
  mutable std::unordered_map<State, Facts> facts_;
};

// The only byte that may follow, kNoByte for none, kSeveral for more.
int RecognizedConstraint::OnlyByte(State state) const {
  Facts& facts = FactsOf(state);
  if (facts.only_byte != kUnknownByte) return facts.only_byte;
  int only = kNoByte;
  for (int byte = 0; byte < 256 && only != kSeveral; ++byte) {
    if (recognizer_->Next(state, static_cast<std::uint8_t>(byte)) == Recognizer::kDead) continue;
    only = only == kNoByte ? byte : kSeveral;
  }
  if (recognizer_->status()) facts.only_byte = only;
  return only;
}

std::string RecognizedConstraint::Forced(State state) const {
  std::string bytes;
  while (bytes.size() < kMostForcedBytes) {
    if (FactsOf(state).accepts || recognizer_->Tokens(state) != nullptr) break;
    const int byte = OnlyByte(state);
    if (byte < 0 || !recognizer_->status()) break;
    bytes += static_cast<char>(byte);
    state = recognizer_->Next(state, static_cast<std::uint8_t>(byte));
  }
  return recognizer_->status() ? bytes : std::string();
}

std::vector<TokenId> RecognizedConstraint::ForcedTokens(State state,
                                                        const std::vector<TokenId>& before) const {
  const std::lock_guard lock(mutex_);
  recognizer_->Refuel(limits_.work);
  const std::string forced = Forced(state);
  if (forced.empty()) return {};
  if (tokenize_ != nullptr) {
    auto tokens = CanonicalForced(*recognizer_, *index_, tokenize_, before, state, forced);
    return recognizer_->status() ? tokens : std::vector<TokenId>();
  }
  // Only where a single token is allowed at all.
  std::vector<TokenId> tokens;
  TokenMask mask(index_->width());
  for (std::size_t at = 0; at < forced.size();) {
    if (!table_.Fill(state, mask) || mask.count() != 1) break;
    const TokenId id = mask.first();
    const std::string_view text = index_->tokens().text(id);
    if (text.empty()) break;
    tokens.push_back(id);
    state = Walk(*recognizer_, state, text);
    at += text.size();
  }
  return tokens;
}

TokenId RecognizedConstraint::Longest(std::string_view text) const {
  TokenId longest = kNoToken;
  TokenIndex::Range range = index_->tokens().all();
  for (const char c : text) {
    range = index_->tokens().Narrow(range, static_cast<unsigned char>(c));
    if (range.empty()) break;
    const auto [first, last] = index_->tokens().Ending(range);
    if (first != last) longest = index_->tokens().ids()[first];
  }
  return longest;
}

Result<std::vector<TokenId>> RecognizedConstraint::Way(State state) const {
  const auto end = recognizer_->ShortestEnd(state);
  ADJUDGE_RETURN_IF_ERROR(recognizer_->status());
  if (!end) {
    return Fail(ErrorCode::kUnsupported,
                "no shortest text is known for a constraint with token terminals", "max_tokens");
  }
  std::vector<TokenId> tokens;
  for (std::string_view rest = *end; !rest.empty();) {
    const TokenId id = Longest(rest);
    if (id == kNoToken) {
      return Fail(ErrorCode::kUnsupported,
                  "the vocabulary has no token for a byte of the shortest text", "max_tokens");
    }
    tokens.push_back(id);
    rest.remove_prefix(index_->tokens().text(id).size());
  }
  return tokens;
}

int RecognizedConstraint::WayTokens(State state) const {
  Facts& facts = FactsOf(state);
  if (facts.way_tokens < 0) {
    const auto way = Way(state);
    if (!way) return std::numeric_limits<int>::max();
    facts.way_tokens = static_cast<int>(way->size());
  }
  return facts.way_tokens;
}

// The mask less the tokens after which `left` - 1 more do not suffice. `planned` is the next token
// of a way that is known to fit.
Status RecognizedConstraint::FillWithin(State state, int left, TokenId planned,
                                        TokenMask& mask) const {
  const std::lock_guard lock(mutex_);
  ADJUDGE_RETURN_IF_ERROR(Ready());
  mask.clear_all();
  if (left > 0) {
    ADJUDGE_RETURN_IF_ERROR(table_.ForEach(state, [&](TokenId id, State to) {
      if (id == planned || WayTokens(to) < left) mask.set(id);
    }));
  }
  if (recognizer_->Accepts(state)) {
    for (const TokenId id : index_->tokens().stop_ids()) mask.set(id);
  }
  return recognizer_->status();
}

Result<TextVerdict> RecognizedConstraint::Check(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  State state = start_;
  for (std::size_t i = 0; i < text.size(); ++i) {
    ADJUDGE_RETURN_IF_ERROR(Ready());
    state = recognizer_->Next(state, static_cast<std::uint8_t>(text[i]));
    ADJUDGE_RETURN_IF_ERROR(recognizer_->status());
    if (state == Recognizer::kDead) return TextVerdict{Verdict::kRefused, i};
  }
  const bool accepts = recognizer_->Accepts(state);
  return TextVerdict{accepts ? Verdict::kAccepted : Verdict::kIncomplete, text.size()};
}

Result<CompiledConstraint::Follow> RecognizedConstraint::After(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  ADJUDGE_RETURN_IF_ERROR(Ready());
  const State state = Walk(*recognizer_, start_, text);
  ADJUDGE_RETURN_IF_ERROR(recognizer_->status());
  if (state == Recognizer::kDead) {
    return Fail(ErrorCode::kInvalidArgument, "the text is refused", "text");
  }
  Follow follow{.bytes = {}, .may_end = recognizer_->Accepts(state)};
  for (int byte = 0; byte < 256; ++byte) {
    if (recognizer_->Next(state, static_cast<std::uint8_t>(byte)) != Recognizer::kDead) {
      follow.bytes.push_back(static_cast<std::uint8_t>(byte));
    }
  }
  ADJUDGE_RETURN_IF_ERROR(recognizer_->status());
  return follow;
}

Result<std::optional<std::string>> RecognizedConstraint::Shortest() const {
  const std::lock_guard lock(mutex_);
  ADJUDGE_RETURN_IF_ERROR(Ready());
  auto end = recognizer_->ShortestEnd(start_);
  ADJUDGE_RETURN_IF_ERROR(recognizer_->status());
  return end;
}

Result<std::string> RecognizedConstraint::Sample(std::uint64_t seed, std::size_t soft_bytes) const {
  const std::lock_guard lock(mutex_);
  std::mt19937_64 random(seed);
  std::string text;
  State state = start_;
  while (text.size() < soft_bytes) {
    ADJUDGE_RETURN_IF_ERROR(Ready());
    std::vector<std::pair<std::uint8_t, State>> next;
    for (int byte = 0; byte < 256; ++byte) {
      const State to = recognizer_->Next(state, static_cast<std::uint8_t>(byte));
      if (to != Recognizer::kDead) next.emplace_back(static_cast<std::uint8_t>(byte), to);
    }
    ADJUDGE_RETURN_IF_ERROR(recognizer_->status());
    const std::size_t choices = next.size() + (recognizer_->Accepts(state) ? 1 : 0);
    if (choices == 0) break;
    const std::size_t choice = random() % choices;
    if (choice == next.size()) return text;
    text += static_cast<char>(next[choice].first);
    state = next[choice].second;
  }
  ADJUDGE_RETURN_IF_ERROR(Ready());
  const auto end = recognizer_->ShortestEnd(state);
  ADJUDGE_RETURN_IF_ERROR(recognizer_->status());
  if (!end) {
    return Fail(ErrorCode::kUnsupported, "texts that need token terminals cannot be sampled",
                "constraint");
  }
  return text + *end;
}

class ConstraintMatcher final : public Matcher {
 public:
  explicit ConstraintMatcher(std::shared_ptr<const RecognizedConstraint> constraint)
      : constraint_(std::move(constraint)), path_{constraint_->start()} {}

  // Plans the shortest way out, which must fit.
  Status Budget(int max_tokens) {
    ADJUDGE_ASSIGN_OR_RETURN(plan_, constraint_->WayOut(state()));
    if (static_cast<int>(plan_.size()) > max_tokens) {
      return Fail(ErrorCode::kLimit,
                  "the shortest text that the constraint accepts takes " +
                      std::to_string(plan_.size()) + " tokens, more than the " +
                      std::to_string(max_tokens) + " allowed",
                  "max_tokens");
    }
    max_tokens_ = max_tokens;
    short_budget_ = std::max(kShortBudget, 4 * static_cast<int>(plan_.size()));
    return {};
  }

  Status FillMask(TokenMask& mask) override {
    ADJUDGE_CHECK(mask.width() == constraint_->index().width());
    if (stopped()) {
      mask.clear_all();
      return {};
    }
    status_ = FillAllowed(mask);
    if (!status_) mask.clear_all();
    return status_;
  }

  bool Accept(TokenId token) override {
    status_ = {};
    if (stopped()) return false;
    if (constraint_->index().tokens().is_stop(token)) {
      if (!CanStop()) return false;
      path_.push_back(kStopped);
      tokens_.push_back(token);
      return true;
    }
    if (max_tokens_ >= 0 && left() <= short_budget_) {
      TokenMask mask(constraint_->index().width());
      if (token < 0 || token >= mask.width()) return false;
      status_ = FillMask(mask);
      if (!status_ || !mask.test(token)) return false;
    }
    const auto next = constraint_->Step(state(), token);
    if (!next) status_ = tl::unexpected<Error>(next.error());
    if (!next || *next == Recognizer::kDead) return false;
    path_.push_back(*next);
    tokens_.push_back(token);
    return true;
  }
  Status status() const override { return status_; }

  void Rollback(int n) override {
    ADJUDGE_CHECK(n >= 0 && static_cast<std::size_t>(n) < path_.size());
    path_.resize(path_.size() - static_cast<std::size_t>(n));
    tokens_.resize(path_.size() - 1);
    status_ = {};
  }
  std::unique_ptr<Matcher> Fork() const override {
    return std::make_unique<ConstraintMatcher>(*this);
  }

  std::string ForcedBytes() override {
    return stopped() ? std::string() : constraint_->ForcedBytes(state());
  }
  std::vector<TokenId> ForcedTokens() override {
    if (stopped()) return {};
    // Within a short budget each token is weighed.
    if (max_tokens_ >= 0 && left() <= short_budget_) return {};
    constexpr std::size_t kBefore = 2;
    const std::size_t n = std::min(tokens_.size(), kBefore);
    return constraint_->ForcedTokens(
        state(), {tokens_.end() - static_cast<std::ptrdiff_t>(n), tokens_.end()});
  }

  bool CanStop() const override { return !stopped() && constraint_->Accepts(state()); }
  bool IsDone() const override { return stopped() || constraint_->Ends(state()); }

 private:
  static constexpr State kStopped = ~State{0};

  State state() const { return path_.back(); }
  bool stopped() const { return path_.back() == kStopped; }
  int left() const { return max_tokens_ - static_cast<int>(tokens_.size()); }

  Status FillAllowed(TokenMask& mask) {
    if (max_tokens_ < 0 || left() > short_budget_) {
      ADJUDGE_RETURN_IF_ERROR(constraint_->Fill(state(), mask));
    } else {
      ADJUDGE_ASSIGN_OR_RETURN(const TokenId planned, Planned());
      ADJUDGE_RETURN_IF_ERROR(constraint_->FillWithin(state(), left(), planned, mask));
    }
    if (mask.none() && !constraint_->Accepts(state())) {
      return Fail(ErrorCode::kUnsupported, "the vocabulary has no token that continues this text",
                  "constraint");
    }
    return {};
  }

  // The next token of a way out that fits: of the plan, as long as the text followed it, else of a
  // new one.
  Result<TokenId> Planned() {
    const std::size_t n = tokens_.size();
    const bool kept = n >= planned_from_ && n - planned_from_ <= plan_.size() &&
                      std::equal(tokens_.begin() + static_cast<std::ptrdiff_t>(planned_from_),
                                 tokens_.end(), plan_.begin());
    if (!kept || plan_path_ > n) {
      ADJUDGE_ASSIGN_OR_RETURN(plan_, constraint_->WayOut(state()));
      planned_from_ = n;
    }
    plan_path_ = n;
    const std::size_t at = n - planned_from_;
    return at < plan_.size() ? plan_[at] : kNoToken;
  }

  std::shared_ptr<const RecognizedConstraint> constraint_;
  std::vector<State> path_;      // after each accepted token
  std::vector<TokenId> tokens_;  // accepted
  Status status_;
  int max_tokens_ = -1;  // none
  int short_budget_ = 0;
  std::vector<TokenId> plan_;
  std::size_t planned_from_ = 0;
  std::size_t plan_path_ = 0;
};

std::unique_ptr<Matcher> RecognizedConstraint::NewMatcher() const {
  return std::make_unique<ConstraintMatcher>(
      std::static_pointer_cast<const RecognizedConstraint>(shared_from_this()));
}

Result<std::unique_ptr<Matcher>> RecognizedConstraint::NewMatcher(int max_tokens) const {
  auto matcher = std::make_unique<ConstraintMatcher>(
      std::static_pointer_cast<const RecognizedConstraint>(shared_from_this()));
  ADJUDGE_RETURN_IF_ERROR(matcher->Budget(max_tokens));
  return matcher;
}

}  // namespace

Result<std::shared_ptr<const CompiledConstraint>> MakeConstraint(
    std::unique_ptr<Recognizer> recognizer, std::shared_ptr<const VocabularyIndex> index,
    const ConstraintLimits& limits, Tokenize tokenize, std::vector<std::string> notes) {
  auto made = std::make_shared<RecognizedConstraint>(std::move(recognizer), std::move(index),
                                                     limits, std::move(tokenize), std::move(notes));
  ADJUDGE_RETURN_IF_ERROR(made->Begin());
  return made;
}

}  // namespace adjudge
