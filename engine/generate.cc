#include "engine/generate.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "engine/base/check.h"
#include "engine/log_softmax.h"

namespace adjudge {
namespace {

using Clock = std::chrono::steady_clock;

double MsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Status Refuse(const char* field, const std::string& message) {
  return Fail(ErrorCode::kInvalidArgument, std::string(field) + " " + message, field);
}

Status CheckOptions(const Model& model, const Vocabulary& vocabulary,
                    std::span<const TokenId> prompt, const GenerateOptions& options) {
  const int window = model.config().context_length;
  if (prompt.empty()) return Refuse("prompt", "must have at least one token");
  if (prompt.size() > static_cast<std::size_t>(window)) {
    return Fail(ErrorCode::kLimit,
                "the prompt has " + std::to_string(prompt.size()) +
                    " tokens, but the context window holds " + std::to_string(window),
                "prompt");
  }
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i] >= 0 && prompt[i] < model.config().vocab_size) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "token id " + std::to_string(prompt[i]) + " is outside the vocabulary of " +
                    std::to_string(model.config().vocab_size),
                "prompt[" + std::to_string(i) + "]");
  }
  if (vocabulary.size() > model.config().vocab_size) {
    return Fail(ErrorCode::kInvalidArgument,
                "the tokenizer has " + std::to_string(vocabulary.size()) +
                    " tokens, but the model gives " + std::to_string(model.config().vocab_size) +
                    " logits",
                "tokenizer");
  }
  if (options.max_tokens < 0) {
    return Refuse("max_tokens", "must be at least 0, not " + std::to_string(options.max_tokens));
  }
  if (options.prefill_chunk < 0) {
    return Refuse("prefill_chunk",
                  "must be at least 0, not " + std::to_string(options.prefill_chunk));
  }
  if (options.n_alternatives < 0) {
    return Refuse("n_alternatives",
                  "must be at least 0, not " + std::to_string(options.n_alternatives));
  }
  for (const TokenId id : options.stop_ids) {
    if (vocabulary.contains(id)) continue;
    return Refuse("stop_ids", "names id " + std::to_string(id) + ", but there are " +
                                  std::to_string(vocabulary.size()) + " tokens");
  }
  return {};
}

// Tokens at the front of a sequence that stand where a prompt's tokens would.
std::vector<TokenId> PlainPrefix(const Sequence& sequence) {
  std::vector<TokenId> tokens = sequence.tokens();
  const std::vector<int> positions = sequence.positions();
  std::size_t n = 0;
  while (n < tokens.size() && positions[n] == static_cast<int>(n)) ++n;
  tokens.resize(n);
  return tokens;
}

// The text of one generation: tokens in, characters that may be sent out.
class TextSink {
 public:
  TextSink(const Tokenizer& tokenizer, StopStrings stops,
           const std::function<bool(std::string_view)>& on_text, GenerateResult& result)
      : vocabulary_(tokenizer.vocabulary()),
        decoder_(tokenizer),
        stops_(std::move(stops)),
        on_text_(on_text),
        result_(result) {}

  // The decoder learns from the prompt whether the text begins in the middle of one.
  void Skip(std::span<const TokenId> prompt) {
    for (const TokenId id : prompt) {
      if (vocabulary_.contains(id)) decoder_.Push(id);
    }
  }
  void Push(TokenId id) { Send(stops_.Push(decoder_.Push(id))); }
  // Sends what was held back.
  void Finish() {
    if (stopped() || refused_) return;
    Send(stops_.Push(decoder_.Finish()));
    if (!stopped() && !refused_) Send(stops_.Finish());
  }

  bool stopped() const { return stops_.stopped(); }
  bool refused() const { return refused_; }  // on_text said to cancel
  std::string stopped_by() const { return stops_.stopped_by().value_or(""); }

 private:
  void Send(const std::string& text) {
    if (text.empty()) return;
    result_.text += text;
    if (on_text_ && !on_text_(text)) refused_ = true;
  }

  const Vocabulary& vocabulary_;
  StreamDecoder decoder_;
  StopStrings stops_;
  const std::function<bool(std::string_view)>& on_text_;
  GenerateResult& result_;
  bool refused_ = false;
};

class Generation {
 public:
  Generation(const Model& model, const Tokenizer& tokenizer, Sequence& sequence,
             const GenerateOptions& options, Sampler sampler, StopStrings stops)
      : model_(model),
        vocabulary_(tokenizer.vocabulary()),
        sequence_(sequence),
        options_(options),
        sampler_(std::move(sampler)),
        text_(tokenizer, std::move(stops), options.on_text, result_),
        records_(options.record_steps || options.on_step || options.n_alternatives > 0) {
    producible_ = TokenMask(vocabulary_.width());
    allowed_ = TokenMask(vocabulary_.width());
    for (TokenId id = 0; id < vocabulary_.size(); ++id) {
      if (!vocabulary_.is_producible(id)) continue;
      producible_.set(id);
      if (!options_.ignore_stop_ids || !IsStop(id)) allowed_.set(id);
    }
  }

  Result<GenerateResult> Run(std::span<const TokenId> prompt);

 private:
  // A forced token whose logprob needs the row of the token before it, pending_[row].
  struct Awaiting {
    std::size_t row;
    GenerateStep step;
  };

  bool IsStop(TokenId id) const {
    return vocabulary_.is_stop(id) || std::find(options_.stop_ids.begin(), options_.stop_ids.end(),
                                                id) != options_.stop_ids.end();
  }
  int made() const { return static_cast<int>(result_.token_ids.size()); }
  bool finished() const { return finish_.has_value(); }

  // One pass's share of pending_, and the rows wanted of it: n_awaited before forced steps that are
  // recorded, and the last one where it is wanted and not among them.
  struct Chunk {
    std::size_t n_tokens = 0;
    std::vector<int> rows;
    std::size_t n_awaited = 0;
  };

  Status TakeForced();
  Status Compute(std::size_t n_tokens, bool wants_last);
  Chunk NextChunk(std::size_t n_tokens, bool wants_last) const;
  Result<EntryOutput> Pass(const Chunk& chunk);
  Status MustAccept(TokenId token);
  Status SampleOne();
  Result<const TokenMask*> StepMask();
  void AddToken(TokenId token, bool forced);
  void Record(GenerateStep step, std::span<const float> logits);
  Status Conclude();

  const Model& model_;
  const Vocabulary& vocabulary_;
  Sequence& sequence_;
  const GenerateOptions& options_;
  GenerateResult result_;
  Sampler sampler_;
  TextSink text_;
  const bool records_;

  TokenMask producible_;          // what may ever be sampled
  TokenMask allowed_;             // that, less the ids that options exclude
  TokenMask mask_;                // scratch of a step under a matcher
  std::vector<TokenId> pending_;  // not yet run
  std::vector<Awaiting> awaiting_;
  std::vector<float> logits_;  // after the last token run. [vocab_size]
  int room_ = 0;               // tokens that may still be made; the last is not run
  int prompt_left_ = 0;        // tokens of the prompt that were not run
  bool decoding_ = false;      // the first logits are there
  Clock::time_point start_ = Clock::now();
  Clock::time_point step_start_ = Clock::now();
  std::optional<FinishReason> finish_;
};

Result<GenerateResult> Generation::Run(std::span<const TokenId> prompt) {
  const int reused = ReusablePrefix(PlainPrefix(sequence_), prompt);
  ADJUDGE_RETURN_IF_ERROR(sequence_.Truncate(reused));
  result_.usage.prompt_tokens = static_cast<int>(prompt.size());
  result_.usage.cached_tokens = reused;
  pending_.assign(prompt.begin() + reused, prompt.end());
  prompt_left_ = static_cast<int>(pending_.size());
  room_ = model_.config().context_length + 1 - static_cast<int>(prompt.size());
  sampler_.ObservePrompt(prompt);
  text_.Skip(prompt);
  if (options_.max_tokens == 0) {
    ADJUDGE_RETURN_IF_ERROR(Compute(pending_.size(), false));
    if (!finished()) finish_ = FinishReason::kLength;
  } else if (options_.matcher != nullptr && options_.matcher->IsDone()) {
    finish_ = FinishReason::kConstraint;
  }
  while (!finished()) {
    ADJUDGE_RETURN_IF_ERROR(TakeForced());
    if (!finished()) ADJUDGE_RETURN_IF_ERROR(Compute(pending_.size(), true));
    if (!finished()) ADJUDGE_RETURN_IF_ERROR(SampleOne());
  }
  ADJUDGE_RETURN_IF_ERROR(Conclude());
  return std::move(result_);
}

// Accept, where the matcher itself said that the token is allowed: only a limit may refuse it.
Status Generation::MustAccept(TokenId token) {
  if (options_.matcher->Accept(token)) return {};
  ADJUDGE_RETURN_IF_ERROR(options_.matcher->status());
  ADJUDGE_CHECK_MSG(false, "a matcher refused a token that it allowed");
  return {};
}

Status Generation::TakeForced() {
  if (options_.matcher == nullptr) return {};
  for (const TokenId token : options_.matcher->ForcedTokens()) {
    ADJUDGE_RETURN_IF_ERROR(MustAccept(token));
    if (records_) awaiting_.push_back({pending_.size() - 1, {.token = token, .forced = true}});
    ++result_.usage.forced_tokens;
    sampler_.ObserveText({&token, 1});
    pending_.push_back(token);
    AddToken(token, true);
    if (finished()) break;
  }
  return {};
}

// Appends a token to the text and finds out whether it ends it.
void Generation::AddToken(TokenId token, bool forced) {
  result_.token_ids.push_back(token);
  --room_;
  if (!forced && IsStop(token)) {
    finish_ = FinishReason::kStop;
    return;
  }
  text_.Push(token);
  if (text_.stopped()) {
    finish_ = FinishReason::kStop;
  } else if (text_.refused()) {
    finish_ = FinishReason::kCancelled;
  } else if (options_.matcher != nullptr && options_.matcher->IsDone()) {
    finish_ = FinishReason::kConstraint;
  } else if (made() >= options_.max_tokens) {
    finish_ = FinishReason::kLength;
  } else if (room_ <= 0) {
    finish_ = FinishReason::kContext;
  }
}

// Runs the first n pending tokens, in chunks, records the forced steps among them, and leaves the
// last token's logits in logits_ where they are wanted. May finish the text: cancelled, or no room
// in the cache.
Status Generation::Compute(std::size_t n_tokens, bool wants_last) {
  while (n_tokens > 0 && !finished()) {
    const Chunk chunk = NextChunk(n_tokens, wants_last);
    if (options_.cancel != nullptr && options_.cancel->load()) {
      finish_ = FinishReason::kCancelled;
      return {};
    }
    auto output = Pass(chunk);
    if (!output && output.error().code == ErrorCode::kCancelled) {
      finish_ = FinishReason::kCancelled;
      return {};
    }
    if (!output && output.error().code == ErrorCode::kLimit && made() > 0) {
      finish_ = FinishReason::kContext;
      return {};
    }
    if (!output) return tl::unexpected<Error>(std::move(output).error());
    ADJUDGE_RETURN_IF_ERROR(CheckFinite(output->logits, "token " + std::to_string(made())));
    n_tokens -= chunk.n_tokens;
    const std::size_t width = chunk.rows.empty() ? 0 : output->logits.size() / chunk.rows.size();
    for (std::size_t i = 0; i < chunk.n_awaited; ++i) {
      Record(std::move(awaiting_[i].step), std::span(output->logits).subspan(i * width, width));
    }
    awaiting_.erase(awaiting_.begin(),
                    awaiting_.begin() + static_cast<std::ptrdiff_t>(chunk.n_awaited));
    for (Awaiting& awaiting : awaiting_) awaiting.row -= chunk.n_tokens;
    if (n_tokens > 0 || !wants_last) continue;
    logits_ = std::move(output->logits);
    logits_.erase(logits_.begin(), logits_.end() - static_cast<std::ptrdiff_t>(width));
    if (!decoding_) result_.timings.prefill_ms = MsSince(start_);
    decoding_ = true;
  }
  return {};
}

Generation::Chunk Generation::NextChunk(std::size_t n_tokens, bool wants_last) const {
  constexpr std::size_t kMostAwaited = 32;  // rows of logits are wide
  Chunk chunk;
  const auto most = static_cast<std::size_t>(options_.prefill_chunk);
  chunk.n_tokens = most == 0 ? n_tokens : std::min(n_tokens, most);
  for (const Awaiting& awaiting : awaiting_) {
    if (awaiting.row >= chunk.n_tokens) break;
    chunk.rows.push_back(static_cast<int>(awaiting.row));
    if (chunk.rows.size() == kMostAwaited) chunk.n_tokens = awaiting.row + 1;
  }
  chunk.n_awaited = chunk.rows.size();
  const int last = static_cast<int>(chunk.n_tokens) - 1;
  const bool has_last = !chunk.rows.empty() && chunk.rows.back() == last;
  if (wants_last && chunk.n_tokens == n_tokens && !has_last) chunk.rows.push_back(last);
  return chunk;
}

// Runs a chunk off the front of pending_.
Result<EntryOutput> Generation::Pass(const Chunk& chunk) {
  Batch batch;
  batch.CancelWith(options_.cancel);
  const auto added = batch.Add(sequence_, std::span(pending_).first(chunk.n_tokens),
                               {.rows = chunk.rows, .logits = !chunk.rows.empty()});
  if (!added) return tl::unexpected<Error>(added.error());
  auto output = model_.Forward(batch);
  if (!output) return tl::unexpected<Error>(std::move(output).error());
  ++result_.usage.forward_passes;
  const auto n = static_cast<std::ptrdiff_t>(chunk.n_tokens);
  pending_.erase(pending_.begin(), pending_.begin() + n);
  if (prompt_left_ > 0) {
    prompt_left_ = std::max(0, prompt_left_ - static_cast<int>(n));
    if (options_.on_prefill) {
      options_.on_prefill(result_.usage.prompt_tokens - prompt_left_, result_.usage.prompt_tokens);
    }
  }
  return std::move(output->entries.front());
}

// The ids that may be sampled now. Null where the constraint allows none because it may only end.
Result<const TokenMask*> Generation::StepMask() {
  if (options_.matcher == nullptr) return &allowed_;
  const auto start = Clock::now();
  if (mask_.width() != allowed_.width()) mask_ = TokenMask(allowed_.width());
  ADJUDGE_RETURN_IF_ERROR(options_.matcher->FillMask(mask_));
  const bool can_stop = options_.matcher->CanStop();
  for (const TokenId id : options_.stop_ids) can_stop ? mask_.set(id) : mask_.clear(id);
  for (std::size_t w = 0; w < mask_.words().size(); ++w) mask_.words()[w] &= allowed_.words()[w];
  result_.timings.mask_ms += MsSince(start);
  if (!mask_.none()) return &mask_;
  if (can_stop) return nullptr;
  return Fail(ErrorCode::kInvalidArgument, "the constraint allows no token after this text",
              "token " + std::to_string(made()));
}

Status Generation::SampleOne() {
  ADJUDGE_ASSIGN_OR_RETURN(const TokenMask* const mask, StepMask());
  if (mask == nullptr) {
    finish_ = FinishReason::kConstraint;
    return {};
  }
  ADJUDGE_ASSIGN_OR_RETURN(const TokenId token, sampler_.Sample(logits_, mask));
  ++result_.usage.generated_tokens;
  const bool extra_stop = IsStop(token) && !vocabulary_.is_stop(token);
  if (options_.matcher != nullptr && !extra_stop) {
    ADJUDGE_RETURN_IF_ERROR(MustAccept(token));
  }
  if (records_) Record({.token = token, .ms = MsSince(step_start_)}, logits_);
  step_start_ = Clock::now();
  pending_.push_back(token);
  AddToken(token, false);
  return {};
}

void Generation::Record(GenerateStep step, std::span<const float> logits) {
  step.logprob = LogProb(logits, step.token);
  if (options_.n_alternatives > 0) {
    step.alternatives = BestLogProbs(logits, options_.n_alternatives, &producible_);
  }
  if (options_.on_step) options_.on_step(step);
  if (options_.record_steps) result_.steps.push_back(std::move(step));
}

Status Generation::Conclude() {
  const FinishReason reason = *finish_;
  if (!awaiting_.empty() && reason != FinishReason::kCancelled) {
    finish_.reset();
    ADJUDGE_RETURN_IF_ERROR(Compute(pending_.size() - 1, false));
  }
  text_.Finish();
  result_.finish_reason = text_.stopped() ? FinishReason::kStop : reason;
  result_.stop_string = text_.stopped_by();
  const double total = MsSince(start_);
  if (!decoding_) result_.timings.prefill_ms = total;
  result_.timings.decode_ms = total - result_.timings.prefill_ms;
  return {};
}

}  // namespace

std::string_view ToString(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kContext:
      return "context";
    case FinishReason::kConstraint:
      return "constraint";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

Result<GenerateResult> Generate(const Model& model, const Tokenizer& tokenizer, Sequence& sequence,
                                std::span<const TokenId> prompt, const GenerateOptions& options) {
  ADJUDGE_RETURN_IF_ERROR(CheckOptions(model, tokenizer.vocabulary(), prompt, options));
  ADJUDGE_ASSIGN_OR_RETURN(Sampler sampler, Sampler::Make(options.sampler));
  ADJUDGE_ASSIGN_OR_RETURN(StopStrings stops,
                           StopStrings::Make(options.stop_strings, options.stop_limits));
  Generation generation(model, tokenizer, sequence, options, std::move(sampler), std::move(stops));
  return generation.Run(prompt);
}

int ReusablePrefix(std::span<const TokenId> cached, std::span<const TokenId> wanted) {
  const std::size_t most = std::min(cached.size(), wanted.empty() ? 0 : wanted.size() - 1);
  std::size_t n = 0;
  while (n < most && cached[n] == wanted[n]) ++n;
  return static_cast<int>(n);
}

}  // namespace adjudge
