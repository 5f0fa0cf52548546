#include "engine/model/output_head.h"

#include <algorithm>
#include <map>
#include <vector>

namespace adjudge {
namespace {

std::size_t At(int row, int width) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(width);
}

// Calls work(part) for parts of `rows` whose logits, `width` a row, take no more than kLogitsBytes.
template <typename F>
void InParts(std::span<const int> rows, std::size_t width, const F& work) {
  const std::size_t row_bytes = width * sizeof(float);
  const std::size_t at_once =
      std::max<std::size_t>(1, static_cast<std::size_t>(OutputHead::kLogitsBytes) / row_bytes);
  for (std::size_t begin = 0; begin < rows.size(); begin += at_once) {
    work(rows.subspan(begin, std::min(at_once, rows.size() - begin)));
  }
}

bool WantsWholeRow(const Wants& wants) { return wants.logits || wants.log_sum_exp; }

}  // namespace

OutputHead::OutputHead(const ModelConfig& config, const TransformerWeights& weights,
                       Backend& backend)
    : config_(config), weights_(weights), backend_(backend) {}

float* OutputHead::Reserve(std::unique_ptr<Buffer>& buffer, std::int64_t n) {
  if (buffer == nullptr || buffer->size() < n) {
    buffer.reset();
    buffer = backend_.NewBuffer(n);
  }
  return buffer->data();
}

void OutputHead::Run(const Batch& batch, std::span<const WantedRow> wanted, const float* x,
                     float* normed, ForwardOutput& output) {
  backend_.RmsNorm(x, weights_.final_norm, static_cast<float>(config_.norm_eps),
                   static_cast<int>(wanted.size()), normed);
  std::vector<int> whole;
  std::map<std::vector<TokenId>, std::vector<int>> by_ids;  // rows that share a list of ids
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const WantedRow& row = wanted[i];
    const Wants& wants = batch.entries()[static_cast<std::size_t>(row.entry)].wants;
    EntryOutput& entry = output.entries[static_cast<std::size_t>(row.entry)];
    if (wants.hidden) {
      std::copy_n(normed + At(static_cast<int>(i), config_.dim), config_.dim,
                  entry.hidden.begin() + static_cast<std::ptrdiff_t>(At(row.index, config_.dim)));
    }
    if (WantsWholeRow(wants)) {
      whole.push_back(static_cast<int>(i));
    } else if (!wants.logit_ids.empty()) {
      by_ids[wants.logit_ids].push_back(static_cast<int>(i));
    }
  }
  InParts(whole, static_cast<std::size_t>(config_.vocab_size),
          [&](std::span<const int> part) { WholeRows(batch, wanted, part, normed, output); });
  for (const auto& [ids, rows] : by_ids) {
    InParts(rows, ids.size(), [&, &list = ids](std::span<const int> part) {
      ChosenIds(wanted, part, list, normed, output);
    });
  }
}

void OutputHead::WholeRows(const Batch& batch, std::span<const WantedRow> wanted,
                           std::span<const int> rows, const float* normed, ForwardOutput& output) {
  const int n = static_cast<int>(rows.size());
  const int width = config_.vocab_size;
  float* x = Reserve(gathered_, std::int64_t{n} * config_.dim);
  float* logits = Reserve(logits_, std::int64_t{n} * width);
  backend_.GatherRows(normed, rows, config_.dim, x);
  backend_.MatMul(weights_.output(), x, n, {}, logits);
  if (config_.final_logit_softcap > 0) {
    backend_.SoftCap(logits, n, width, static_cast<float>(config_.final_logit_softcap));
  }
  std::vector<double> log_sums(rows.size());
  const bool any_log_sum = std::any_of(rows.begin(), rows.end(), [&](int i) {
    const WantedRow& row = wanted[static_cast<std::size_t>(i)];
    return batch.entries()[static_cast<std::size_t>(row.entry)].wants.log_sum_exp;
  });
  if (any_log_sum) backend_.LogSumExp(logits, n, width, log_sums.data());
  for (int i = 0; i < n; ++i) {
    const WantedRow& row = wanted[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])];
    const Wants& wants = batch.entries()[static_cast<std::size_t>(row.entry)].wants;
    EntryOutput& entry = output.entries[static_cast<std::size_t>(row.entry)];
    const float* from = logits + At(i, width);
    if (wants.logits) {
      std::copy_n(from, width,
                  entry.logits.begin() + static_cast<std::ptrdiff_t>(At(row.index, width)));
    }
    if (wants.log_sum_exp) {
      entry.log_sum_exp[static_cast<std::size_t>(row.index)] =
          log_sums[static_cast<std::size_t>(i)];
    }
    const std::size_t to = At(row.index, static_cast<int>(wants.logit_ids.size()));
    for (std::size_t j = 0; j < wants.logit_ids.size(); ++j) {
      entry.logit_ids[to + j] = from[wants.logit_ids[j]];
    }
  }
}

void OutputHead::ChosenIds(std::span<const WantedRow> wanted, std::span<const int> rows,
                           std::span<const TokenId> ids, const float* normed,
                           ForwardOutput& output) {
  const int n = static_cast<int>(rows.size());
  const int width = static_cast<int>(ids.size());
  float* x = Reserve(gathered_, std::int64_t{n} * config_.dim);
  float* logits = Reserve(logits_, std::int64_t{n} * width);
  backend_.GatherRows(normed, rows, config_.dim, x);
  backend_.MatMulRows(weights_.output(), ids, x, n, logits);
  if (config_.final_logit_softcap > 0) {
    backend_.SoftCap(logits, n, width, static_cast<float>(config_.final_logit_softcap));
  }
  for (int i = 0; i < n; ++i) {
    const WantedRow& row = wanted[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])];
    EntryOutput& entry = output.entries[static_cast<std::size_t>(row.entry)];
    std::copy_n(logits + At(i, width), width,
                entry.logit_ids.begin() + static_cast<std::ptrdiff_t>(At(row.index, width)));
  }
}

}  // namespace adjudge
