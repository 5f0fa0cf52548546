// The pointer head: options read at their markers against a decide position.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model.h"
#include "engine/tensor_file.h"
#include "engine/tokenizer.h"
#include "heads/decision_head.h"

namespace adjudge {

// Tokens of the vocabulary, each one id, that stand between the parts of a row:
//   state STATE question INSTRUCTIONS (begin OPTION end)* decide
struct PointerMarks {
  std::string state = "<|fim_prefix|>";
  std::string question = "<|fim_middle|>";
  std::string option_begin = "<|box_start|>";
  std::string option_end = "<|box_end|>";
  std::string decide = "<|fim_suffix|>";

  friend bool operator==(const PointerMarks&, const PointerMarks&) = default;
};

// The layout and head of the Kev and Drex files. With h the hidden states after the final norm at
// the decide token and at each option's end:
//   logit_j = (W_q h_dec + b_q) . (W_k h_j + b_k) / sqrt(R),  p = softmax(logit / T)
// State, instructions and each option are tokenised apart; user text makes no marker.
struct PointerHead {
  FloatTensor q_weight, q_bias, k_weight, k_bias;  // [R, dim], [R], [R, dim], [R]
  PointerMarks marks;
  // An option sees the state, the instructions and itself; all options use the same positions, and
  // the decide token stands behind the longest and sees them in the order of their text. Answers
  // then do not depend on the order of the options, to the bit. Without it options follow each
  // other as listed.
  bool isolated = false;
  double temperature = 1;
  std::map<std::string, double> temperatures;  // by question type, before `temperature`

  std::string backbone;       // fingerprint; empty in files of others, which name their base
  std::string backbone_name;  // or the base
  std::set<std::string> training_items;  // ItemFingerprint of each state trained on, 16 digits
  std::map<std::string, double> metrics;

  int head_dim() const { return q_bias.shape.empty() ? 0 : static_cast<int>(q_bias.shape[0]); }
  int dim() const { return q_weight.shape.size() < 2 ? 0 : static_cast<int>(q_weight.shape[1]); }
  double TemperatureOf(QuestionType type) const;
  // [options] from rows of [dim]; in double, in the order of the dimensions.
  std::vector<double> Logits(std::span<const float> decide, std::span<const float> options) const;

  // A safetensors file: tensors q.weight, q.bias, k.weight, k.bias and either the key
  // "adjudge_pointer" with what train-head wrote, or the plain keys of an exported head.pt: base,
  // head_dim, option_isolation, temperature. A base of the Qwen3.5 family (hybrid layers) is
  // refused by its name.
  static Result<PointerHead> Read(const std::filesystem::path& path);
  static Result<PointerHead> Parse(std::string bytes);
  // From a GGUF file with ARCH.decision.type = "kev": cls.output.weight is the rows of q, then
  // those of k. Errors name the key or the tensor; another type is refused by its name.
  static Result<PointerHead> FromGguf(const std::filesystem::path& path);
  std::string Bytes() const;
  std::string Fingerprint() const;
  Status Check() const;
};

// The file is a pointer head in safetensors, or a GGUF file with a decision type.
bool IsPointerHead(const std::filesystem::path& path);

// Answers noul (no, then yes), choice and score. All questions of a request are forks of its state
// in one pass (several where they exceed options.pack). `fingerprint` is the model's. Errors:
// another backbone, another width, a marker that is not one token of the vocabulary: by name.
Result<std::unique_ptr<DecisionHead>> MakePointerDecisionHead(
    std::shared_ptr<const PointerHead> head, std::shared_ptr<const Model> model,
    std::shared_ptr<const Tokenizer> tokenizer, std::string_view fingerprint,
    const HeadOptions& options = {});

// The hidden states that a pointer head reads of one question.
struct PointerRows {
  std::vector<float> decide;   // [dim]
  std::vector<float> options;  // [options, dim], in the order of the question
};

// The rows of questions on one state, computed in one pass as the decision head computes them.
struct PointerReading {
  std::vector<PointerRows> rows;  // [question]
  Usage usage;
  Timings timings;
};
Result<PointerReading> ReadPointerRows(DecisionSession& session, const Tokenizer& tokenizer,
                                       const PointerMarks& marks, bool isolated, const Entry& state,
                                       std::span<const Question> questions,
                                       const PackOptions& pack = {});

// Markers that the tokenizer has, for a head to be trained: the family's own where they are, else
// the first control tokens of the vocabulary. Errors: fewer than five control tokens.
Result<PointerMarks> ChooseMarks(const Tokenizer& tokenizer);

}  // namespace adjudge
