// TrainedHead: a head and all that belongs to it, as one file.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model.h"
#include "engine/tokenizer.h"
#include "heads/calibration.h"
#include "heads/decision_head.h"
#include "heads/head_model.h"
#include "heads/text_states.h"

namespace adjudge {

struct TrainedHeadLimits {
  int max_labels = 100'000;
  std::size_t max_bytes = std::size_t{1} << 30;
};

// A value. The file is safetensors: HeadModel's tensors, and under "__metadata__" the key
// "adjudge_head" with everything else as JSON.
struct TrainedHead {
  HeadModel model;
  std::vector<std::string> labels;  // in the order of the scores
  StateSpec spec;

  // What it was trained on: the model's fingerprint (engine/fingerprint.h), name and shape, and the
  // arithmetic that computed its states.
  std::string backbone;
  std::string backbone_name;
  int backbone_layers = 0;
  int backbone_dim = 0;
  std::string precision;

  Calibration calibration;
  std::string training_data;                 // fingerprint of all texts with their labels
  std::set<std::string> training_items;      // ItemFingerprint of each text, first 16 digits
  std::map<std::string, double> metrics;     // "accuracy", "nll", ... of held-out texts
  std::map<std::string, std::string> notes;  // "weight_decay", "held_out", "seed", ...

  // Errors, the place beginning with the path: kMalformed, kNotFound and kLimit with the key or the
  // tensor's name, kNotFinite for NaN and infinity.
  static Result<TrainedHead> Read(const std::filesystem::path& path,
                                  const TrainedHeadLimits& limits = {});
  static Result<TrainedHead> Parse(std::string bytes, const TrainedHeadLimits& limits = {});
  std::string Bytes() const;
  // There whole or not at all.
  Status Write(const std::filesystem::path& path) const;
  // Names the head: of its tensors, labels and spec, not of its calibration.
  std::string Fingerprint() const;

  // kUnsupported with both names where `fingerprint` is another model's than the backbone's.
  Status CheckBackbone(std::string_view fingerprint, std::string_view name) const;
  // The text was trained on.
  bool TrainedOn(std::string_view text) const;

  // Uncalibrated scores through the head's calibration.
  std::vector<double> Probabilities(std::span<const float> state) const {
    return calibration.Probabilities(model.Scores(state));
  }
};

// The file's header has the key of a trained head, whatever is wrong with the rest.
bool IsTrainedHead(const std::filesystem::path& path);

// Answers questions with a trained head: one pass over the state through the layers that the head
// reads, whatever the number of questions. A choice's options must be the head's labels, in any
// order; an ordinal head answers scores whose levels are its labels, a binary head nouls (its
// second label is true). Instructions do not reach the model. `fingerprint` is the model's. Errors
// as CheckBackbone and TextStates::Make.
Result<std::unique_ptr<DecisionHead>> MakeTrainedDecisionHead(
    std::shared_ptr<const TrainedHead> head, std::shared_ptr<const Model> model,
    std::shared_ptr<const Tokenizer> tokenizer, std::string_view fingerprint,
    const QuestionLimits& limits = {});

// The question that a head answers about a text: a choice between its labels, a score of them, a
// noul, or of a multi-label head a multi-select.
Question QuestionOf(const TrainedHead& head, std::string id);

// A calibration as a file of its own, bound to one head.
struct CalibrationFile {
  std::string head;  // TrainedHead::Fingerprint
  Calibration calibration;
  int n = 0;          // items it was fitted to
  std::string items;  // fingerprint of them

  std::string ToJson() const;
};
// Errors: kUnsupported for a calibration of another head, with both fingerprints; what
// Calibration::FromJson refuses.
Result<CalibrationFile> ReadCalibrationFile(std::string_view json, const TrainedHead& head);

}  // namespace adjudge
