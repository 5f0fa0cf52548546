// Training a head on labelled texts: states, weights, calibration.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model.h"
#include "engine/tokenizer.h"
#include "heads/classifier_metrics.h"
#include "heads/labelled_texts.h"
#include "heads/trained_head.h"

namespace adjudge {

// The model that states are read of.
struct Backbone {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string fingerprint;
  std::string name;
  std::string precision;
};

// Called now and then: what is being done, how far, of how much.
using TrainProgress = std::function<void(std::string_view what, std::int64_t done, std::int64_t n)>;

struct TrainOptions {
  LabelKind kind = LabelKind::kMultiClass;
  HeadForm form = HeadForm::kLinear;
  int rows = 32;  // of V in lowrank and hidden heads
  // Labels in order: needed for ordinal heads; the second of a binary one is true. Empty: those of
  // the texts, sorted.
  std::vector<std::string> labels;

  StateSpec spec;  // its layers are not looked at
  // Candidates; each is the layers of one head, ascending. Cross-validation chooses.
  std::vector<std::vector<int>> layers;
  // Tried by cross-validation. Empty: 0.1 to 0.001, or to save time 0.01, 0.003 and 0.001 for more
  // than 2,000 texts.
  std::vector<double> decays;
  int folds = 0;  // 0: 5, or 3 for more than 2,000 texts
  int neighbours = 5;
  bool balanced = false;  // each label counts the same, however many texts it has
  int max_iterations = 200;

  // The share of texts that no fit sees, for calibration and the head's metrics. 0: every text is
  // held out once, by the fold that did not train on it, and the head is then fitted to all.
  double hold_out = 0;
  CalibrationKind calibration = CalibrationKind::kTemperature;

  std::uint64_t seed = 0;
  int threads = 0;  // of the fit; 0 = cores that this process may use. No bit depends on it
  std::filesystem::path cache;  // a folder for states; empty: none are kept
  const std::atomic<bool>* cancel = nullptr;
  TrainProgress progress;

  std::size_t max_labels = 10'000;
  std::size_t max_state_bytes = std::size_t{8} << 30;
};

struct TrainCandidate {
  std::vector<int> layers;
  double decay = 0;
  double accuracy = 0;  // of held-out folds
  double nll = 0;
};

struct TrainedResult {
  TrainedHead head;
  std::vector<TrainCandidate> candidates;
  ClassifierMetrics held_out;    // before calibration
  ClassifierMetrics calibrated;  // by the calibration, on the items it was fitted to
  Usage usage;                   // of the states computed now
  Timings timings;
  int states_cached = 0;  // texts whose states were on disk
  double fit_ms = 0;
};

// The result depends on the model, the texts (not their order), the options and the seed alone: not
// on threads, on what was cached, or on how often it was stopped and begun again. Errors:
// kInvalidArgument for fewer than two labels, a label outside `labels`, layers that the model does
// not have; kLimit; kIo of the cache; kCancelled; what TextStates refuses, the place being "text N"
// counted from 0 in the order given.
Result<TrainedResult> TrainHead(const Backbone& backbone, std::span<const LabelledText> texts,
                                const TrainOptions& options);

struct StateCost {
  Usage usage;
  Timings timings;
  int cached = 0;
};

// States of many texts, from the cache folder (empty: none) where they are and computed otherwise,
// a part at a time, each part kept on disk before the next. [texts, width]
Result<std::vector<float>> CachedStates(const Backbone& backbone, const TextStates& states,
                                        std::span<const std::string_view> texts,
                                        const std::filesystem::path& cache,
                                        const std::atomic<bool>* cancel,
                                        const TrainProgress& progress, StateCost& cost);

// Uncalibrated scores of a head on texts, with the labels that hold: what test-head and calibrate
// look at. Errors: kInvalidArgument for a label that the head does not have, the place "text N".
struct ScoredTexts {
  ScoredItems items;
  StateCost cost;
};
Result<ScoredTexts> ScoreTexts(const Backbone& backbone, const TrainedHead& head,
                               std::span<const LabelledText> texts,
                               const std::filesystem::path& cache = {},
                               const std::atomic<bool>* cancel = nullptr,
                               const TrainProgress& progress = {});

}  // namespace adjudge
