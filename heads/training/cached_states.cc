#include <algorithm>
#include <optional>

#include "engine/fingerprint.h"
#include "heads/train_head.h"
#include "heads/training/state_cache.h"

namespace adjudge {
namespace {

constexpr std::size_t kPart = 256;  // texts computed between two writes

// Everything that a state depends on but the text. The order of adding is the file's name.
std::string CacheKey(const Backbone& backbone, const StateSpec& spec) {
  std::string text = "states 1";
  const auto add = [&](std::string_view part) {
    text += '\0' + std::to_string(part.size()) + ':';
    text += part;
  };
  add(backbone.fingerprint);
  // "cpu (avx2, 3 threads)": the number of threads changes no bit.
  const std::string_view backend = backbone.model->backend_name();
  add(backend.substr(0, backend.find(',')));
  add(backbone.precision);
  add(ToString(spec.pooling));
  add(spec.prefix);
  add(spec.suffix);
  for (const int layer : spec.layers) add(std::to_string(layer));
  return Fingerprint(text);
}

}  // namespace

Result<std::vector<float>> CachedStates(const Backbone& backbone, const TextStates& states,
                                        std::span<const std::string_view> texts,
                                        const std::filesystem::path& cache,
                                        const std::atomic<bool>* cancel,
                                        const TrainProgress& progress, StateCost& cost) {
  const auto width = static_cast<std::size_t>(states.width());
  std::vector<float> values(texts.size() * width);
  std::optional<StateCache> kept;
  if (!cache.empty()) {
    const std::string key = CacheKey(backbone, states.spec());
    ADJUDGE_ASSIGN_OR_RETURN(StateCache opened,
                             StateCache::Open(cache / (key + ".states"), key, states.width()));
    kept.emplace(std::move(opened));
  }
  std::vector<std::size_t> missing;
  std::vector<std::string> fingerprints;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    fingerprints.push_back(ItemFingerprint(texts[i]));
    const float* found = kept ? kept->Find(fingerprints.back()) : nullptr;
    if (found == nullptr) {
      missing.push_back(i);
    } else {
      std::copy_n(found, width, values.begin() + static_cast<std::ptrdiff_t>(i * width));
    }
  }
  cost.cached += static_cast<int>(texts.size() - missing.size());
  for (std::size_t at = 0; at < missing.size(); at += kPart) {
    if (progress) {
      progress("states", static_cast<std::int64_t>(at), static_cast<std::int64_t>(missing.size()));
    }
    const auto part = std::span(missing).subspan(at, std::min(kPart, missing.size() - at));
    std::vector<std::string_view> part_texts;
    std::vector<std::string> part_fingerprints;
    for (const std::size_t i : part) {
      part_texts.push_back(texts[i]);
      part_fingerprints.push_back(fingerprints[i]);
    }
    auto rows = states.Compute(part_texts, {.cancel = cancel});
    if (!rows) {
      // The place counts texts of the part.
      Error error = std::move(rows).error();
      constexpr std::string_view kText = "text ";
      if (error.place.starts_with(kText)) {
        const auto i = static_cast<std::size_t>(std::stoul(error.place.substr(kText.size())));
        error.place = "text " + std::to_string(part[i]);
      }
      return tl::unexpected<Error>(std::move(error));
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
      std::copy_n(rows->values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                  values.begin() + static_cast<std::ptrdiff_t>(part[i] * width));
    }
    cost.usage += rows->usage;
    cost.timings += rows->timings;
    if (kept) ADJUDGE_RETURN_IF_ERROR(kept->Append(part_fingerprints, rows->values));
  }
  return values;
}

}  // namespace adjudge
