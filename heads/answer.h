// Answer: a distribution over a question's outcomes, and what follows from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/token.h"
#include "heads/question.h"

namespace adjudge {

// Named confidence formulas over probabilities that sum to one.
//   choice: (n * p_max - 1) / (n - 1); 1 for n = 1
//   score:  max(0, 1 - sum_i p_i |i - k| / D), k the first largest, D the mean distance of the
//           uniform distribution from the middle; 1 for n = 1
double ChoiceConfidence(std::span<const double> probabilities);
double ScoreConfidence(std::span<const double> probabilities);
// Largest minus second largest; 1 for n = 1.
double Margin(std::span<const double> probabilities);
// In nats.
double Entropy(std::span<const double> probabilities);

// p_i = exp(x_i) / sum_j exp(x_j), shifted by the maximum; sums to one within rounding. All minus
// infinity gives the uniform distribution. REQUIRES: no NaN and no plus infinity.
std::vector<double> Softmax(std::span<const double> log_weights);
// log sum_i exp(x_i); minus infinity for none.
double LogSumExp(std::span<const double> x);

// What was left out of a state that was too long, where that was asked for.
struct Truncation {
  std::string cut;  // "state-head", "state-tail", "middle"
  std::size_t state_bytes = 0;
  std::size_t kept_bytes = 0;
};

// A value. Numbers derived here come from the very probabilities that are given.
struct Answer {
  std::string id;
  QuestionType type = QuestionType::kChoice;
  std::vector<double> probabilities;  // one for each of the question's options; sum to one
  int chosen = 0;                     // the first largest
  double score = 0;                   // sum_i i * p_i; for a noul this is p(true)
  std::optional<double> confidence;   // by the type's formula; a noul has none
  double margin = 0;
  double entropy = 0;

  // How much of the model's own probability fell on the options before normalising; of the options'
  // exact texts for a likelihood. A trained head has none.
  std::optional<double> label_mass;
  std::string head;  // the read-out that answered: "label", "likelihood", "linear", ...
  // Natural log of the model's own probability of each option's label or text.
  std::vector<double> logprobs;

  // Of a label read-out: what each option was called, and its token.
  std::vector<std::string> labels;
  std::vector<TokenId> label_ids;
  // Of a likelihood read-out: "none" or "stop" (the end after the text counts), and the name of the
  // normalisation ("sum", "mean_per_token").
  std::string end;
  std::string normalization;

  // Of a trained head: its uncalibrated scores (log-odds) of each option, the name of the
  // calibration that made probabilities of them, and its temperature where it is one.
  std::vector<double> scores;
  std::string calibration;
  std::optional<double> temperature;

  int forwards = 1;    // prompts that were read for this answer: passes, were each asked alone
  std::string debias;  // its name, or nothing
  std::string x0;      // of the debiasing pmi: the state that was divided by
  // Over all orders of the options: the labels' prior at each position (what PriDe divides by).
  std::vector<double> position_prior;
  // Where reading may stop early: the chance, at most, that all orders would choose another option.
  std::optional<double> disagreement_bound;
  // Why likelihood answered where labels were to: "label mass 0.003 < 0.01".
  std::string fallback;
  // Of "none of these", where that was offered; probabilities are over the other options then.
  std::optional<double> none_probability;
  std::string abstain_reason;  // nothing where the answer does not abstain
  std::optional<Truncation> truncation;
  std::optional<std::vector<int>> prediction_set;  // options, where a conformal threshold was given

  // Of a multi-select: [option]. Its probabilities are of each option's own yes.
  std::vector<bool> selected;
  std::vector<bool> option_abstained;
};

// An answer with everything that follows from the probabilities. REQUIRES: one for each option.
Answer MakeAnswer(const Question& question, std::vector<double> probabilities);

}  // namespace adjudge
