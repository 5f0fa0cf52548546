// ScoredHead: read-outs that are log-probabilities of continuations: labels and likelihoods.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "heads/decision_head.h"
#include "heads/label_head.h"
#include "heads/prompt/prompt_frame.h"
#include "heads/readout/question_reading.h"

namespace adjudge {

// All readings of all questions ride in the same passes, a round of them at a time.
class ScoredHead : public DecisionHead {
 public:
  // `codes` names options where `labels` has too few: of the label head alone.
  ScoredHead(std::string name, std::shared_ptr<const Tokenizer> tokenizer, PromptFrame frame,
             LabelPrompts labels, const HeadOptions& options)
      : name_(std::move(name)),
        tokenizer_(std::move(tokenizer)),
        frame_(std::move(frame)),
        labels_(std::move(labels)),
        options_(options) {}

  std::string_view name() const override { return name_; }
  Result<Decisions> Decide(DecisionSession& session, const Entry& state,
                           std::span<const Question> questions) const override;
  std::vector<Result<Decisions>> DecideMany(
      DecisionSession& session, std::span<const DecisionRequest> requests) const override;

 private:
  struct Plan;
  struct Asked;
  struct Prompt;
  struct Work;

  Result<Work> Begin(const DecisionSession& session, std::string_view state,
                     std::span<const Question> questions) const;
  Result<QuestionReading> BeginReading(const Question& question, std::string_view state,
                                       const std::string& place) const;
  Status PlanRound(Work& work) const;
  Status PlanView(Work& work, std::size_t asked, std::size_t view) const;
  void RunRounds(DecisionSession& session, std::span<Work> works) const;
  void ScoreRound(DecisionSession& session, std::span<Work*> works) const;
  Status TakeRound(Work& work, std::span<const PackedScores> scores) const;
  Result<Decisions> Collect(Work& work) const;

  Result<Plan> MakePlan(std::string_view state, const Question& question, ReadOut read_out,
                        const std::string& place) const;
  Result<Plan> LabelPlan(std::string_view state, const Question& question,
                         const std::string& place) const;
  Result<Plan> LikelihoodPlan(std::string_view state, const Question& question,
                              const std::string& place) const;
  Result<std::vector<TokenId>> OptionTokens(const std::string& name) const;
  ViewScores Read(const Plan& plan, const ContinuationSet& set,
                  const ContinuationScores& scores) const;

  std::string name_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  PromptFrame frame_;
  LabelPrompts labels_;
  HeadOptions options_;
};

}  // namespace adjudge
