#include "heads/text_states.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/base/check.h"
#include "engine/batch.h"
#include "engine/kv_cache.h"

namespace adjudge {
namespace {

using Clock = std::chrono::steady_clock;

struct PoolingName {
  std::string_view name;
  Pooling pooling;
};
constexpr PoolingName kPoolings[] = {{"mean", Pooling::kMean},
                                     {"last", Pooling::kLast},
                                     {"max", Pooling::kMax},
                                     {"row", Pooling::kRow}};

Status CheckLayers(const std::vector<int>& layers, int n_layers) {
  if (layers.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected at least 1 layer, found 0", "layers");
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i] < 1 || layers[i] > n_layers) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected layers from 1 to " + std::to_string(n_layers) + ", found " +
                      std::to_string(layers[i]),
                  "layers");
    }
    if (i > 0 && layers[i] <= layers[i - 1]) {
      return Fail(ErrorCode::kInvalidArgument, "expected ascending layers", "layers");
    }
  }
  return {};
}

}  // namespace

Result<Pooling> ParsePooling(std::string_view name) {
  for (const PoolingName& known : kPoolings) {
    if (known.name == name) return known.pooling;
  }
  return Fail(ErrorCode::kInvalidArgument,
              "expected the pooling mean, last, max or row, found \"" + std::string(name) + "\"");
}

std::string_view ToString(Pooling pooling) {
  for (const PoolingName& known : kPoolings) {
    if (known.pooling == pooling) return known.name;
  }
  return "";
}

TextStates::TextStates(std::shared_ptr<const Model> model,
                       std::shared_ptr<const Tokenizer> tokenizer, StateSpec spec)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)), spec_(std::move(spec)) {}

Result<TextStates> TextStates::Make(std::shared_ptr<const Model> model,
                                    std::shared_ptr<const Tokenizer> tokenizer, StateSpec spec) {
  ADJUDGE_RETURN_IF_ERROR(CheckLayers(spec.layers, model->config().n_layers));
  TextStates states(std::move(model), std::move(tokenizer), std::move(spec));
  const Tokenizer& words = *states.tokenizer_;
  const auto encode = [&](const std::string& text, bool starts_text) {
    const std::vector<TextSpan> spans = {{.text = text, .trusted = false}};
    return text.empty() ? Result<std::vector<TokenId>>(std::vector<TokenId>())
                        : words.EncodeSpans(spans, {.starts_text = starts_text});
  };
  ADJUDGE_ASSIGN_OR_RETURN(states.prefix_, encode(states.spec_.prefix, true));
  if (words.wants_bos() && words.bos()) {
    states.prefix_.insert(states.prefix_.begin(), *words.bos());
  }
  ADJUDGE_ASSIGN_OR_RETURN(states.suffix_, encode(states.spec_.suffix, false));
  for (TokenId id = 0; id < words.vocabulary().size(); ++id) {
    states.longest_token_bytes_ =
        std::max(states.longest_token_bytes_, words.vocabulary().bytes(id).size());
  }
  return states;
}

Result<std::vector<TokenId>> TextStates::Encode(std::string_view text) const {
  const int window = model_->config().context_length;
  const std::size_t least_tokens = text.size() / longest_token_bytes_;
  // Cheaper than tokenising a hundred megabytes to learn the same.
  if (least_tokens > static_cast<std::size_t>(window)) {
    return Fail(ErrorCode::kLimit, "the text has " + std::to_string(text.size()) +
                                       " bytes, at least " + std::to_string(least_tokens) +
                                       " tokens; the model's window holds " +
                                       std::to_string(window));
  }
  const std::vector<TextSpan> spans = {{.text = std::string(text), .trusted = false}};
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                           tokenizer_->EncodeSpans(spans, {.starts_text = spec_.prefix.empty()}));
  if (ids.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected a text with at least one token, found none");
  }
  const int needed = static_cast<int>(prefix_.size() + ids.size() + suffix_.size());
  if (needed > window) {
    return Fail(ErrorCode::kLimit, "the text takes " + std::to_string(ids.size()) +
                                       " tokens and with what stands around it " +
                                       std::to_string(needed) + "; the model's window holds " +
                                       std::to_string(model_->config().context_length));
  }
  return ids;
}

Status TextStates::Check(std::string_view text) const {
  return Encode(text).map([](const std::vector<TokenId>&) {});
}

// `rows`: [layers, n_rows, dim]
void TextStates::Pool(std::span<const float> rows, std::size_t n_rows, float* out) const {
  const auto dim = static_cast<std::size_t>(model_->config().dim);
  for (std::size_t layer = 0; layer < spec_.layers.size(); ++layer) {
    const float* from = rows.data() + layer * n_rows * dim;
    for (std::size_t d = 0; d < dim; ++d) {
      double sum = 0;
      float largest = from[d];
      for (std::size_t row = 0; row < n_rows; ++row) {
        sum += from[row * dim + d];
        largest = std::max(largest, from[row * dim + d]);
      }
      *out++ = spec_.pooling == Pooling::kMax
                   ? largest
                   : static_cast<float>(sum / static_cast<double>(n_rows));
    }
  }
}

namespace {

// Rows of the entry's tokens that the pooling looks at.
std::vector<int> PooledRows(Pooling pooling, std::size_t n_text, std::size_t n_all) {
  if (pooling == Pooling::kLast) return {static_cast<int>(n_all) - 1};
  std::vector<int> rows(pooling == Pooling::kRow ? n_all : n_text);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

// The passes of one Compute.
class TextStates::Passes {
 public:
  Passes(const TextStates& states, std::span<const std::string_view> texts,
         const StateOptions& options, StateRows& out)
      : states_(states), texts_(texts), options_(options), out_(out) {
    for (const int layer : states.spec_.layers) hidden_layers_.push_back(layer - 1);
  }

  Status Run() {
    ADJUDGE_ASSIGN_OR_RETURN(cache_, states_.model_->NewCache());
    shared_ = cache_->NewSequence();
    shared_done_ = states_.prefix_.empty();
    while (next_ < texts_.size()) ADJUDGE_RETURN_IF_ERROR(RunPass());
    return {};
  }

 private:
  Status RunPass() {
    std::vector<Sequence> rows;  // before the batch, which takes back what is theirs
    Batch batch;
    batch.StopAfterLayers(states_.spec_.layers.back());
    batch.CancelWith(options_.cancel);
    if (!shared_done_) {
      ADJUDGE_RETURN_IF_ERROR(batch.Add(shared_, states_.prefix_));
      out_.usage.prompt_tokens += static_cast<int>(states_.prefix_.size());
    }
    const std::size_t first = next_;
    const auto first_entry = static_cast<std::size_t>(batch.n_entries());
    bool full = false;
    while (next_ < texts_.size() && !full) {
      Result<bool> added = AddText(batch, rows, next_ == first);
      if (!added) {
        added.error().place = "text " + std::to_string(next_);
        return tl::unexpected<Error>(std::move(added).error());
      }
      full = !*added;
    }
    ADJUDGE_ASSIGN_OR_RETURN(const ForwardOutput output, states_.model_->Forward(batch));
    ++out_.usage.forward_passes;
    shared_done_ = true;
    for (std::size_t i = first; i < next_; ++i) {
      ADJUDGE_RETURN_IF_ERROR(Keep(i, output.entries[i - first + first_entry]));
    }
    return {};
  }

  // False when the pass or the cache has no room for text `next_` beside the others.
  Result<bool> AddText(Batch& batch, std::vector<Sequence>& rows, bool is_first) {
    if (waiting_.empty()) {
      ADJUDGE_ASSIGN_OR_RETURN(waiting_, states_.Encode(texts_[next_]));
      n_text_ = waiting_.size();
      waiting_.insert(waiting_.end(), states_.suffix_.begin(), states_.suffix_.end());
    }
    const int n = static_cast<int>(waiting_.size());
    if (!is_first && batch.n_tokens() + n > options_.max_pass_tokens) return false;
    Wants wants{.rows = PooledRows(states_.spec_.pooling, n_text_, waiting_.size()),
                .hidden_layers = hidden_layers_};
    ADJUDGE_ASSIGN_OR_RETURN(Sequence row, shared_.Fork(shared_.length()));
    rows.push_back(std::move(row));
    auto added = batch.Add(rows.back(), waiting_, std::move(wants));
    if (!added && added.error().code == ErrorCode::kLimit && !is_first) return false;
    ADJUDGE_RETURN_IF_ERROR(added);
    out_.usage.prompt_tokens += n;
    out_.tokens.push_back(n);
    waiting_.clear();
    ++next_;
    return true;
  }

  Status Keep(std::size_t i, const EntryOutput& entry) {
    const auto width = static_cast<std::size_t>(states_.width());
    float* to = out_.values.data() + i * width;
    states_.Pool(entry.hidden_layers, static_cast<std::size_t>(entry.n_rows), to);
    if (std::all_of(to, to + width, [](float x) { return std::isfinite(x); })) return {};
    return Fail(ErrorCode::kNotFinite, "the model gave a hidden state that is not finite",
                "text " + std::to_string(i));
  }

  const TextStates& states_;
  std::span<const std::string_view> texts_;
  const StateOptions& options_;
  StateRows& out_;
  std::vector<int> hidden_layers_;
  std::shared_ptr<KvCache> cache_;
  Sequence shared_;
  bool shared_done_ = false;
  std::size_t next_ = 0;
  std::vector<TokenId> waiting_;  // of text `next_`, with the suffix; empty before it is encoded
  std::size_t n_text_ = 0;
};

Result<StateRows> TextStates::Compute(std::span<const std::string_view> texts,
                                      const StateOptions& options) const {
  const auto start = Clock::now();
  StateRows out;
  out.values.resize(texts.size() * static_cast<std::size_t>(width()));
  ADJUDGE_RETURN_IF_ERROR(Passes(*this, texts, options, out).Run());
  out.timings.prefill_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return out;
}

}  // namespace adjudge
