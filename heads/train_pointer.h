// Training a pointer head on questions with their answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "heads/classifier_metrics.h"
#include "heads/labelled_texts.h"
#include "heads/pointer_head.h"
#include "heads/train_head.h"

namespace adjudge {

struct PointerExample {
  Entry state;
  Question question;
  int answer = 0;  // index of the right option
};

// JSON lines of System One requests that also have "answers": {id: the option's name, the level's
// index, or true or false}; one example a question. Errors: "line N, /answers/id: ...".
Result<std::vector<PointerExample>> ParsePointerExamples(std::string_view text,
                                                         std::size_t max_bytes = std::size_t{1}
                                                                                 << 30);
// Texts with one label each: a choice between all labels (sorted), with these instructions.
Result<std::vector<PointerExample>> ToPointerExamples(std::span<const LabelledText> texts,
                                                      const std::string& instructions);
// By the file's content: lines with "questions" are requests, everything else labelled texts.
Result<std::vector<PointerExample>> ReadPointerExamples(const std::filesystem::path& path,
                                                        const LabelledTextsOptions& options,
                                                        const std::string& instructions);

struct PointerTrainOptions {
  int head_dim = 64;
  bool isolated = true;
  double decay = 1e-3;
  int max_iterations = 150;
  // Share of the states that the fit does not see; the temperature is theirs where they have 20
  // examples or more, else it stays 1.
  double hold_out = 0.1;
  std::uint64_t seed = 0;
  int threads = 0;  // no bit depends on it
  const std::atomic<bool>* cancel = nullptr;
  TrainProgress progress;
  std::size_t max_row_bytes = std::size_t{8} << 30;  // of hidden states held in memory
};

struct PointerTrained {
  PointerHead head;
  ClassifierMetrics held_out;    // before its temperature
  ClassifierMetrics calibrated;  // by it
  Usage usage;
  Timings timings;
  double fit_ms = 0;
};

// The backbone stays as it is; W_q, b_q, W_k and b_k are fitted by L-BFGS to the mean negative
// log-likelihood. Examples of equal states are held out together. Errors: kInvalidArgument for
// fewer than two examples, kLimit, kCancelled, what ReadPointerRows refuses ("example N").
Result<PointerTrained> TrainPointerHead(const Backbone& backbone,
                                        std::span<const PointerExample> examples,
                                        const PointerTrainOptions& options);

// A head on examples, one pass a state: what test-head looks at.
struct PointerTest {
  ClassifierMetrics metrics;
  Usage usage;
  Timings timings;
  int trained_on = 0;  // examples whose state the head was trained on
};
Result<PointerTest> TestPointerHead(const Backbone& backbone, const PointerHead& head,
                                    std::span<const PointerExample> examples,
                                    const std::atomic<bool>* cancel = nullptr,
                                    const TrainProgress& progress = {});

}  // namespace adjudge
