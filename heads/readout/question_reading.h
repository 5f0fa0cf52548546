// QuestionReading: one question on its way from the readings that it needs to its answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "heads/answer.h"
#include "heads/debias.h"
#include "heads/decision_head.h"
#include "heads/question.h"

namespace adjudge {

enum class ReadOut { kLabel, kLikelihood };

// One reading to be scored: a question as it is shown, on a state.
struct View {
  std::optional<std::string> state;  // none: the request's own
  Question question;                 // its options in the order in which they are shown
  std::vector<int> order;            // [shown] -> canonical option
  ReadOut read_out = ReadOut::kLabel;
};

// What a view's scoring gave, [shown option].
struct ViewScores {
  std::vector<double> logprobs;  // the model's own
  std::vector<double> weights;   // of which the softmax is the reading (normalised by length, say)
  double label_mass = 0;
  std::vector<std::string> labels;
  std::vector<TokenId> label_ids;
  std::string end;
  std::string normalization;
};

// Asks for views in rounds until it has what its debiasing needs; what it asks for depends on its
// question and its own scores alone. A value.
class QuestionReading {
 public:
  // `read_out` is how the first round is read; `may_fall_back` lets labels that hold too little of
  // the model's probability give way to likelihood. Errors: those of Orders; kNotFound where PriDe
  // has no prior for so many options.
  static Result<QuestionReading> Make(const Question& question, const HeadOptions& options,
                                      ReadOut read_out, bool may_fall_back,
                                      const std::string& place);

  // What is to be scored next; none once the answer is there. Take() before asking again.
  const std::vector<View>& views() const { return views_; }
  // REQUIRES: the scores of views(), in their order.
  Status Take(std::vector<ViewScores> scores);
  // REQUIRES: views() is empty.
  Answer Finish() const;

 private:
  Status Begin();
  void AskRound();
  View StateView(const std::vector<int>& order) const;
  bool Decided() const;
  bool ShowsOptions() const;
  std::vector<double> Probabilities() const;

  const Question* question_ = nullptr;
  const HeadOptions* options_ = nullptr;
  std::string place_;
  ReadOut read_out_ = ReadOut::kLabel;
  bool may_fall_back_ = false;
  std::string fallback_;

  std::vector<int> canonical_;  // [canonical option] -> given option; the last may be none of them
  Question shown_;              // the options in canonical order, and perhaps none of these
  std::vector<std::vector<int>> orders_;
  std::size_t n_asked_ = 0;  // of the orders
  std::vector<View> views_;

  std::vector<ViewScores> own_;                  // of the request's state, as shown
  std::vector<std::vector<double>> weights_;     // of these, [reading][canonical option]
  std::vector<std::vector<double>> references_;  // of stand-in states, the same
  int forwards_ = 0;
};

}  // namespace adjudge
