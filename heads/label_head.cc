#include "heads/label_head.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heads/answer.h"

namespace adjudge {

LabelReading MakeLabelReading(std::vector<double> logprobs) {
  LabelReading reading;
  reading.probabilities = Softmax(logprobs);
  reading.label_mass = std::min(1.0, std::exp(LogSumExp(logprobs)));
  reading.logprobs = std::move(logprobs);
  return reading;
}

Result<LabelReading> ReadLabels(DecisionSession& session, std::span<const TokenId> prompt,
                                std::span<const TokenId> label_ids) {
  if (prompt.empty()) return Fail(ErrorCode::kInvalidArgument, "the prompt is empty");
  ContinuationSet set{.tail = {prompt.back()}};
  for (const TokenId id : label_ids) set.continuations.push_back({id});
  ADJUDGE_ASSIGN_OR_RETURN(
      const PackedScores scores,
      ScorePacked(session, prompt.first(prompt.size() - 1), std::span(&set, 1)));
  std::vector<double> logprobs;
  for (const std::vector<double>& tokens : scores.sets.front().token_logprobs) {
    logprobs.push_back(tokens.front());
  }
  return MakeLabelReading(std::move(logprobs));
}

}  // namespace adjudge
