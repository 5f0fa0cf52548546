#include "engine/score.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include "engine/base/check.h"
#include "engine/base/token_mask.h"
#include "engine/log_softmax.h"

namespace adjudge {
namespace {

std::string Place(std::size_t i) { return "requests[" + std::to_string(i) + "]"; }

Status CheckRequest(const Model& model, const ScoreTokens& request, const std::string& place) {
  if (request.context_ids.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "the context has no tokens", place);
  }
  if (request.continuation_ids.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "the continuation has no tokens", place);
  }
  for (const auto* ids : {&request.context_ids, &request.continuation_ids}) {
    for (const TokenId id : *ids) {
      if (id >= 0 && id < model.config().vocab_size) continue;
      return Fail(ErrorCode::kInvalidArgument,
                  "token id " + std::to_string(id) + " is outside the vocabulary of " +
                      std::to_string(model.config().vocab_size),
                  place);
    }
  }
  // The last token is predicted, not run.
  const std::size_t needed = request.context_ids.size() + request.continuation_ids.size() - 1;
  const auto window = static_cast<std::size_t>(model.config().context_length);
  if (needed <= window) return {};
  return Fail(ErrorCode::kLimit,
              "a context of " + std::to_string(request.context_ids.size()) +
                  " tokens and a continuation of " +
                  std::to_string(request.continuation_ids.size()) + " need " +
                  std::to_string(needed) + " places, but the context window holds " +
                  std::to_string(window),
              place);
}

// Packs tokens of many sequences into passes, and gives each wanted row to the continuation tokens
// that it predicts.
class ScorePasses {
 public:
  ScorePasses(const Model& model, const Vocabulary& vocabulary,
              std::span<const ScoreTokens> requests, const ScoreOptions& options)
      : model_(model), requests_(requests), options_(options), producible_(vocabulary.width()) {
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      if (vocabulary.is_producible(id)) producible_.set(id);
    }
    constexpr int kLogitsBytes = 64 << 20;
    const int row_bytes = model.config().vocab_size * static_cast<int>(sizeof(float));
    max_rows_ = std::max(1, kLogitsBytes / row_bytes);
    output_.results.resize(requests.size());
    left_.resize(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      ScoreResult& result = output_.results[i];
      result.token_ids = requests[i].continuation_ids;
      result.token_logprobs.resize(result.token_ids.size());
      result.is_greedy = true;
      result.context_tokens = static_cast<int>(requests[i].context_ids.size());
      left_[i] = static_cast<int>(result.token_ids.size());
    }
  }

  Result<ScoreOutput> Run();

 private:
  // The row predicts token `index` of a request's continuation.
  struct Target {
    std::size_t request;
    std::size_t index;
  };
  struct Row {
    int row;  // of the entry's new tokens
    std::vector<Target> targets;
  };

  // Runs the context that the requests `group` share, then each one's continuation in a fork of it.
  Status RunGroup(std::span<const std::size_t> group);
  // Puts tokens at the end of a sequence, in this pass and as many more as it takes.
  Status Add(Sequence& sequence, std::span<const TokenId> tokens, std::vector<Row> rows);
  // As many of the tokens as fit this pass, 0 to 'tokens.size()'; the rows among them are dropped.
  Result<std::size_t> AddSome(Sequence& sequence, std::span<const TokenId> tokens,
                              std::vector<Row>& rows);
  Status Flush();
  Status Read(std::span<const float> logits, std::span<const Target> targets);

  const Model& model_;
  std::span<const ScoreTokens> requests_;
  const ScoreOptions& options_;
  TokenMask producible_;
  int max_rows_ = 1;
  std::shared_ptr<KvCache> cache_;
  std::optional<Sequence> context_;       // the last group's
  std::span<const TokenId> context_ids_;  // its tokens
  Batch batch_;
  std::vector<std::vector<Row>> batch_rows_;  // by entry
  int n_rows_ = 0;
  std::vector<int> left_;  // tokens of each request that have no logprob yet
  int done_ = 0;
  int computed_ = 0;
  ScoreOutput output_;
};

Result<ScoreOutput> ScorePasses::Run() {
  const auto start = std::chrono::steady_clock::now();
  ADJUDGE_ASSIGN_OR_RETURN(cache_, model_.NewCache());
  // Neighbours in this order share the longest beginnings, and equal contexts are neighbours.
  std::vector<std::size_t> order(requests_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return requests_[a].context_ids < requests_[b].context_ids;
  });
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() &&
           requests_[order[end]].context_ids == requests_[order[begin]].context_ids) {
      ++end;
    }
    ADJUDGE_RETURN_IF_ERROR(RunGroup(std::span(order).subspan(begin, end - begin)));
    begin = end;
  }
  ADJUDGE_RETURN_IF_ERROR(Flush());
  for (ScoreResult& result : output_.results) {
    result.logprob =
        std::accumulate(result.token_logprobs.begin(), result.token_logprobs.end(), 0.0);
  }
  Usage& usage = output_.usage;
  for (const ScoreTokens& request : requests_) {
    usage.prompt_tokens +=
        static_cast<int>(request.context_ids.size() + request.continuation_ids.size() - 1);
  }
  usage.cached_tokens = usage.prompt_tokens - computed_;
  output_.timings.prefill_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return std::move(output_);
}

Status ScorePasses::RunGroup(std::span<const std::size_t> group) {
  const std::span<const TokenId> ids = requests_[group.front()].context_ids;
  // The last token runs always: its row predicts every continuation's first token.
  std::size_t shared = 0;
  while (context_ && shared < std::min(context_ids_.size(), ids.size() - 1) &&
         context_ids_[shared] == ids[shared]) {
    ++shared;
  }
  Sequence context;
  if (shared > 0) {
    ADJUDGE_ASSIGN_OR_RETURN(context, context_->Fork(static_cast<int>(shared)));
  } else {
    context = cache_->NewSequence();
  }
  context_ = std::move(context);
  context_ids_ = ids;
  Row last = {static_cast<int>(ids.size() - shared) - 1, {}};
  for (const std::size_t request : group) last.targets.push_back({request, 0});
  std::vector<Row> rows;
  rows.push_back(std::move(last));
  ADJUDGE_RETURN_IF_ERROR(Add(*context_, ids.subspan(shared), std::move(rows)));
  for (const std::size_t request : group) {
    const std::span<const TokenId> all = requests_[request].continuation_ids;
    const std::span<const TokenId> run = all.first(all.size() - 1);
    if (run.empty()) continue;
    ADJUDGE_ASSIGN_OR_RETURN(Sequence fork, context_->Fork(static_cast<int>(ids.size())));
    rows.clear();
    for (std::size_t i = 0; i < run.size(); ++i) {
      rows.push_back({static_cast<int>(i), {{request, i + 1}}});
    }
    ADJUDGE_RETURN_IF_ERROR(Add(fork, run, std::move(rows)));
  }
  return {};
}

Status ScorePasses::Add(Sequence& sequence, std::span<const TokenId> tokens,
                        std::vector<Row> rows) {
  while (true) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::size_t n, AddSome(sequence, tokens, rows));
    tokens = tokens.subspan(n);
    if (tokens.empty()) return {};
    ADJUDGE_RETURN_IF_ERROR(Flush());  // a sequence may be in a pass once
  }
}

Result<std::size_t> ScorePasses::AddSome(Sequence& sequence, std::span<const TokenId> tokens,
                                         std::vector<Row>& rows) {
  std::size_t n = std::min(tokens.size(),
                           static_cast<std::size_t>(options_.max_pass_tokens - batch_.n_tokens()));
  std::size_t n_rows = 0;
  while (n_rows < rows.size() && static_cast<std::size_t>(rows[n_rows].row) < n) {
    if (n_rows_ + static_cast<int>(n_rows) == max_rows_) {
      n = static_cast<std::size_t>(rows[n_rows].row);
      break;
    }
    ++n_rows;
  }
  if (n == 0) return n;
  Wants wants;
  wants.logits = n_rows > 0;
  for (std::size_t i = 0; i < n_rows; ++i) wants.rows.push_back(rows[i].row);
  const auto added = batch_.Add(sequence, tokens.first(n), std::move(wants));
  if (!added) {
    // With the pass run and its forks gone the cache may have room.
    if (added.error().code == ErrorCode::kLimit && batch_.n_entries() > 0) return std::size_t{0};
    return tl::unexpected<Error>(added.error());
  }
  computed_ += static_cast<int>(n);
  n_rows_ += static_cast<int>(n_rows);
  const auto split = rows.begin() + static_cast<std::ptrdiff_t>(n_rows);
  batch_rows_.emplace_back(rows.begin(), split);
  rows.erase(rows.begin(), split);
  for (Row& row : rows) row.row -= static_cast<int>(n);
  return n;
}

Status ScorePasses::Flush() {
  if (batch_.n_entries() == 0) return {};
  if (options_.cancel != nullptr && options_.cancel->load()) {
    return Fail(ErrorCode::kCancelled, "cancelled after " + std::to_string(done_) + " of " +
                                           std::to_string(requests_.size()) + " requests");
  }
  batch_.CancelWith(options_.cancel);
  ADJUDGE_ASSIGN_OR_RETURN(const ForwardOutput output, model_.Forward(batch_));
  ++output_.usage.forward_passes;
  for (std::size_t e = 0; e < batch_rows_.size(); ++e) {
    const std::vector<Row>& rows = batch_rows_[e];
    const std::span<const float> logits = output.entries[e].logits;
    const std::size_t width = rows.empty() ? 0 : logits.size() / rows.size();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      ADJUDGE_RETURN_IF_ERROR(Read(logits.subspan(r * width, width), rows[r].targets));
    }
  }
  batch_ = Batch();
  batch_rows_.clear();
  n_rows_ = 0;
  if (options_.on_progress) options_.on_progress(done_, static_cast<int>(requests_.size()));
  return {};
}

Status ScorePasses::Read(std::span<const float> logits, std::span<const Target> targets) {
  if (!targets.empty()) {
    const auto& [request, index] = targets.front();
    ADJUDGE_RETURN_IF_ERROR(
        CheckFinite(logits, Place(request) + "/token_logprobs/" + std::to_string(index)));
  }
  const double log_sum = LogSumExp(logits);
  const TokenId best = BestToken(logits, &producible_);
  for (const auto& [request, index] : targets) {
    ScoreResult& result = output_.results[request];
    const TokenId token = result.token_ids[index];
    const std::span<const float> logit = logits.subspan(static_cast<std::size_t>(token), 1);
    ADJUDGE_RETURN_IF_ERROR(
        CheckFinite(logit, Place(request) + "/token_logprobs/" + std::to_string(index)));
    result.token_logprobs[index] = logit.front() - log_sum;
    result.is_greedy = result.is_greedy && token == best;
    if (--left_[request] == 0) ++done_;
  }
  return {};
}

}  // namespace

Result<ScoreTokens> TokenizeScore(const Tokenizer& tokenizer, const ScoreRequest& request,
                                  const ScoreOptions& options) {
  const EncodeOptions encode = {.parse_special = options.parse_special, .lossy = options.lossy};
  ScoreTokens tokens;
  if (request.continuation.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "may not be empty", "continuation");
  }
  EncodeOptions with_bos = encode;
  with_bos.add_bos = tokenizer.wants_bos() && tokenizer.bos().has_value();
  ADJUDGE_ASSIGN_OR_RETURN(tokens.context_ids, tokenizer.Encode(request.context, with_bos));
  if (tokens.context_ids.empty()) {
    if (!tokenizer.eos()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "may not be empty: the model has neither a beginning nor an end of sequence to "
                  "stand for it",
                  "context");
    }
    tokens.context_ids.push_back(*tokenizer.eos());
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TokenId> own,
                           tokenizer.Encode(request.context, encode));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TokenId> whole,
                           tokenizer.Encode(request.context + request.continuation, encode));
  const bool joins = whole.size() > own.size() && std::equal(own.begin(), own.end(), whole.begin());
  if (joins) {
    tokens.continuation_ids.assign(whole.begin() + static_cast<std::ptrdiff_t>(own.size()),
                                   whole.end());
    return tokens;
  }
  EncodeOptions alone = encode;
  alone.starts_text = false;
  ADJUDGE_ASSIGN_OR_RETURN(tokens.continuation_ids, tokenizer.Encode(request.continuation, alone));
  if (tokens.continuation_ids.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "makes no tokens", "continuation");
  }
  return tokens;
}

Result<ScoreOutput> ScoreIds(const Model& model, const Vocabulary& vocabulary,
                             std::span<const ScoreTokens> requests, const ScoreOptions& options) {
  if (options.max_pass_tokens < 1) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "max_pass_tokens must be at least 1, not " + std::to_string(options.max_pass_tokens),
        "max_pass_tokens");
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ADJUDGE_RETURN_IF_ERROR(CheckRequest(model, requests[i], Place(i)));
  }
  return ScorePasses(model, vocabulary, requests, options).Run();
}

Result<ScoreOutput> Score(const Model& model, const Tokenizer& tokenizer,
                          std::span<const ScoreRequest> requests, const ScoreOptions& options) {
  std::vector<ScoreTokens> tokens;
  tokens.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto one = TokenizeScore(tokenizer, requests[i], options);
    if (!one) {
      Error error = std::move(one).error();
      error.message = ToString(error);
      error.place = Place(i);
      return tl::unexpected<Error>(std::move(error));
    }
    tokens.push_back(std::move(*one));
  }
  return ScoreIds(model, tokenizer.vocabulary(), tokens, options);
}

}  // namespace adjudge
