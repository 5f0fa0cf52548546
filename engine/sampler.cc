#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>

#include "engine/counter_random.h"
#include "engine/log_softmax.h"
#include "engine/model/allowed_ids.h"

namespace adjudge {
namespace {

constexpr float kNoLogit = -std::numeric_limits<float>::infinity();

std::string Number(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  // 17 digits are exact but ugly; the shorter form where it says the same.
  std::ostringstream brief;
  brief << value;
  return std::strtod(brief.str().c_str(), nullptr) == value ? brief.str() : out.str();
}

Status CheckField(bool good, const char* field, const char* expected, double value) {
  if (good) return {};
  return Fail(ErrorCode::kInvalidArgument,
              std::string(field) + " must be " + expected + ", not " + Number(value), field);
}

Status CheckBias(const SamplerOptions& options) {
  std::vector<TokenId> ids;
  for (const auto& [id, bias] : options.logit_bias) {
    const std::string place = "logit_bias";
    if (id < 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  "logit_bias needs a token id, not " + std::to_string(id), place);
    }
    if (!std::isfinite(bias)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "logit_bias of id " + std::to_string(id) + " must be finite, not " + Number(bias),
                  place);
    }
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end()) {
    return Fail(ErrorCode::kInvalidArgument,
                "logit_bias names id " + std::to_string(*twice) + " twice", "logit_bias");
  }
  return {};
}

// Refuses the two values that make a softmax meaningless.
Status CheckLogits(std::span<const float> logits) {
  // The common case has no branch on a single value, so it runs at memory speed.
  bool good = true;
  for (const float x : logits) good &= x <= std::numeric_limits<float>::max();
  if (good) return {};
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] <= std::numeric_limits<float>::max()) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "logits must be numbers below infinity, but id " + std::to_string(i) + " has " +
                    (std::isnan(logits[i]) ? "NaN" : "+infinity"),
                "logits");
  }
  return {};
}

float ToFiniteFloat(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMax, kMax));
}

}  // namespace

Result<Sampler> Sampler::Make(const SamplerOptions& o) {
  const auto finite = [](double x) { return std::isfinite(x); };
  ADJUDGE_RETURN_IF_ERROR(CheckField(finite(o.temperature) && o.temperature >= 0, "temperature",
                                     "a finite number of at least 0", o.temperature));
  ADJUDGE_RETURN_IF_ERROR(CheckField(o.top_k >= 0, "top_k", "at least 0", o.top_k));
  ADJUDGE_RETURN_IF_ERROR(
      CheckField(o.top_p >= 0 && o.top_p <= 1, "top_p", "between 0 and 1", o.top_p));
  ADJUDGE_RETURN_IF_ERROR(
      CheckField(o.min_p >= 0 && o.min_p <= 1, "min_p", "between 0 and 1", o.min_p));
  ADJUDGE_RETURN_IF_ERROR(CheckField(finite(o.repetition_penalty) && o.repetition_penalty > 0,
                                     "repetition_penalty", "a finite number above 0",
                                     o.repetition_penalty));
  ADJUDGE_RETURN_IF_ERROR(
      CheckField(finite(o.presence_penalty), "presence_penalty", "finite", o.presence_penalty));
  ADJUDGE_RETURN_IF_ERROR(
      CheckField(finite(o.frequency_penalty), "frequency_penalty", "finite", o.frequency_penalty));
  ADJUDGE_RETURN_IF_ERROR(CheckBias(o));
  return Sampler(o);
}

void Sampler::Count(std::span<const TokenId> ids, int times) {
  const auto before = [](const Seen& a, const Seen& b) { return a.id < b.id; };
  const auto old_size = static_cast<std::ptrdiff_t>(seen_.size());
  for (const TokenId id : ids) {
    const auto end = seen_.begin() + old_size;
    const auto at = std::lower_bound(seen_.begin(), end, Seen{id, 0}, before);
    if (at != end && at->id == id) {
      at->times_in_text += times;
    } else {
      seen_.push_back({id, times});
    }
  }
  if (seen_.size() == static_cast<std::size_t>(old_size)) return;
  std::sort(seen_.begin() + old_size, seen_.end(), before);
  std::inplace_merge(seen_.begin(), seen_.begin() + old_size, seen_.end(), before);
  std::size_t out = 0;
  for (std::size_t i = 1; i < seen_.size(); ++i) {
    if (seen_[i].id == seen_[out].id) {
      seen_[out].times_in_text += seen_[i].times_in_text;
    } else {
      seen_[++out] = seen_[i];
    }
  }
  seen_.resize(out + 1);
}

void Sampler::ObservePrompt(std::span<const TokenId> ids) { Count(ids, 0); }
void Sampler::ObserveText(std::span<const TokenId> ids) { Count(ids, 1); }

bool Sampler::adjusts() const {
  const bool penalises = options_.repetition_penalty != 1.0 || options_.presence_penalty != 0.0 ||
                         options_.frequency_penalty != 0.0;
  return !options_.logit_bias.empty() || (penalises && !seen_.empty());
}

// Replaces `row` by a copy with bias and penalties.
Status Sampler::Adjust(std::span<const float>& row, Scratch& scratch) const {
  scratch.row.assign(row.begin(), row.end());
  for (const auto& [id, bias] : options_.logit_bias) {
    if (static_cast<std::size_t>(id) >= row.size()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "logit_bias names id " + std::to_string(id) + ", but there are " +
                      std::to_string(row.size()) + " logits",
                  "logit_bias");
    }
    float& logit = scratch.row[static_cast<std::size_t>(id)];
    if (logit != kNoLogit) logit = ToFiniteFloat(logit + bias);
  }
  for (const Seen& seen : seen_) {
    if (seen.id < 0 || static_cast<std::size_t>(seen.id) >= row.size()) continue;
    float& logit = scratch.row[static_cast<std::size_t>(seen.id)];
    if (logit == kNoLogit) continue;
    const double penalty = options_.repetition_penalty;
    double value = logit > 0 ? logit / penalty : logit * penalty;
    if (seen.times_in_text > 0) {
      value -= options_.presence_penalty + options_.frequency_penalty * seen.times_in_text;
    }
    logit = ToFiniteFloat(value);
  }
  row = scratch.row;
  return {};
}

// Keeps the top_k first of scratch.candidates by falling logit, then rising id; their order stays.
void Sampler::KeepTopK(Scratch& scratch) const {
  const auto k = static_cast<std::size_t>(options_.top_k);
  std::vector<Candidate>& candidates = scratch.candidates;
  if (k == 0 || k >= candidates.size()) return;
  const auto ahead = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  std::vector<Candidate>& best = scratch.ordered;
  constexpr std::size_t kHeapLimit = 1024;
  if (k <= kHeapLimit) {
    // A heap with the worst kept candidate in front: nearly all others fail one comparison.
    best.assign(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(k));
    std::make_heap(best.begin(), best.end(), ahead);
    for (std::size_t i = k; i < candidates.size(); ++i) {
      if (candidates[i].logit <= best.front().logit) continue;  // on a tie the lower id stays
      std::pop_heap(best.begin(), best.end(), ahead);
      best.back() = candidates[i];
      std::push_heap(best.begin(), best.end(), ahead);
    }
  } else {
    best = candidates;
    std::nth_element(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(k - 1), best.end(),
                     ahead);
    best.resize(k);
  }
  std::sort(best.begin(), best.end(),
            [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  candidates.swap(best);
}

// Keeps the first of scratch.kept, by falling weight then rising id, while the mass before them is
// below top_p; their order stays. Halves the range that holds the last one kept until it is found,
// so nothing is sorted.
void Sampler::KeepTopP(Scratch& scratch) const {
  std::vector<Weighted>& kept = scratch.kept;
  if (options_.top_p >= 1.0 || kept.size() <= 1) return;
  double total = 0;
  for (const Weighted& w : kept) total += w.weight;
  const double target = options_.top_p * total;
  // Everything this light together weighs no more than what may be left out.
  const double light = (total - target) / static_cast<double>(kept.size()) * (1 - 1e-9);
  std::vector<Weighted>& range = scratch.weighted;
  range.clear();
  for (const Weighted& w : kept) {
    if (w.weight > light) range.push_back(w);
  }
  const auto ahead = [](const Weighted& a, const Weighted& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
  };
  auto low = range.begin();
  auto high = range.end();
  double before = 0;
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, ahead);
    double mass = 0;
    for (auto it = low; it != middle; ++it) mass += it->weight;
    if (before + mass >= target) {
      high = middle;
    } else {
      before += mass;
      low = middle;
    }
  }
  const Weighted last = *low;
  std::erase_if(kept, [&](const Weighted& w) { return ahead(last, w); });
}

Status Sampler::Keep(std::span<const float> logits, const TokenMask* mask, Scratch& scratch) const {
  ADJUDGE_RETURN_IF_ERROR(CheckLogits(logits));
  std::span<const float> row = logits;
  if (adjusts()) ADJUDGE_RETURN_IF_ERROR(Adjust(row, scratch));
  const TokenId best = BestToken(row, mask);
  if (best == kNoToken) {
    return Fail(ErrorCode::kInvalidArgument,
                mask != nullptr && mask->none() ? "the mask allows no token"
                                                : "no allowed token has a logit above -infinity",
                "mask");
  }
  scratch.kept.clear();
  if (options_.temperature == 0.0 || options_.top_k == 1) {
    scratch.kept.push_back({1.0, best});
    return {};
  }
  scratch.candidates.clear();
  ForEachAllowed(row.size(), mask, [&](std::size_t id) {
    if (row[id] != kNoLogit) scratch.candidates.push_back({row[id], static_cast<TokenId>(id)});
  });
  KeepTopK(scratch);
  const double max = row[static_cast<std::size_t>(best)];
  for (const Candidate& c : scratch.candidates) {
    const double weight = std::exp((c.logit - max) / options_.temperature);
    if (weight > 0) scratch.kept.push_back({weight, c.id});
  }
  KeepTopP(scratch);
  if (options_.min_p > 0) {
    std::erase_if(scratch.kept, [&](const Weighted& w) { return w.weight < options_.min_p; });
  }
  return {};
}

Result<TokenId> Sampler::Sample(std::span<const float> logits, const TokenMask* mask) {
  ADJUDGE_RETURN_IF_ERROR(Keep(logits, mask, scratch_));
  const std::vector<Weighted>& kept = scratch_.kept;
  TokenId token = kept.back().id;
  if (kept.size() > 1) {
    double total = 0;
    for (const Weighted& w : kept) total += w.weight;
    const double point = UniformDraw(options_.seed, draws_) * total;
    double sum = 0;
    for (const Weighted& w : kept) {
      sum += w.weight;
      if (sum > point) {
        token = w.id;
        break;
      }
    }
  }
  ++draws_;
  ObserveText({&token, 1});
  return token;
}

Result<SampleDistribution> Sampler::Distribution(std::span<const float> logits,
                                                 const TokenMask* mask) const {
  Scratch scratch;
  ADJUDGE_RETURN_IF_ERROR(Keep(logits, mask, scratch));
  std::vector<Weighted>& kept = scratch.kept;
  std::sort(kept.begin(), kept.end(), [](const Weighted& a, const Weighted& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
  });
  double total = 0;
  for (const Weighted& w : kept) total += w.weight;
  SampleDistribution distribution;
  for (const Weighted& w : kept) {
    distribution.ids.push_back(w.id);
    distribution.probabilities.push_back(w.weight / total);
  }
  return distribution;
}

}  // namespace adjudge
