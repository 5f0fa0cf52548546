#include "heads/decision_head.h"

#include <string>
#include <utility>

#include "heads/label_head.h"
#include "heads/prompt/prompt_frame.h"
#include "heads/readout/scored_head.h"

namespace adjudge {
namespace {

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

template <typename T, std::size_t n>
Result<T> ParseName(std::string_view what, std::string_view name, const Named<T> (&values)[n]) {
  std::string known;
  for (const Named<T>& value : values) {
    if (value.name == name) return value.value;
    if (!known.empty()) known += ", ";
    known += value.name;
  }
  return Fail(ErrorCode::kInvalidArgument, "expected " + std::string(what) + " " + known +
                                               ", found \"" + std::string(name) + "\"");
}

}  // namespace

std::vector<Result<Decisions>> DecisionHead::DecideMany(
    DecisionSession& session, std::span<const DecisionRequest> requests) const {
  std::vector<Result<Decisions>> decisions;
  for (const DecisionRequest& request : requests) {
    decisions.push_back(Decide(session, request.state, request.questions));
  }
  return decisions;
}

Result<std::unique_ptr<DecisionHead>> MakeDecisionHead(std::string_view name,
                                                       std::shared_ptr<const Tokenizer> tokenizer,
                                                       const HeadOptions& options) {
  if (name != "label" && name != "likelihood" && name != "auto") {
    return Fail(ErrorCode::kInvalidArgument,
                "expected the head label, likelihood or auto, found \"" + std::string(name) + "\"");
  }
  ADJUDGE_ASSIGN_OR_RETURN(PromptFrame frame, PromptFrame::Make(*tokenizer, options.prompt));
  ADJUDGE_ASSIGN_OR_RETURN(LabelPrompts labels,
                           LabelPrompts::Make(tokenizer, options.prompt, options.labels));
  return std::unique_ptr<DecisionHead>(std::make_unique<ScoredHead>(
      std::string(name), std::move(tokenizer), std::move(frame), std::move(labels), options));
}

Result<PromptStyle> ParsePromptStyle(std::string_view name) {
  constexpr Named<PromptStyle> kNames[] = {
      {"auto", PromptStyle::kAuto}, {"chat", PromptStyle::kChat}, {"plain", PromptStyle::kPlain}};
  return ParseName("the prompt", name, kNames);
}

Result<LabelStyle> ParseLabelStyle(std::string_view name) {
  constexpr Named<LabelStyle> kNames[] = {{"auto", LabelStyle::kAuto},
                                          {"letters", LabelStyle::kLetters},
                                          {"numbers", LabelStyle::kNumbers},
                                          {"words", LabelStyle::kWords},
                                          {"codes", LabelStyle::kCodes}};
  return ParseName("the labels", name, kNames);
}

Result<EndRule> ParseEndRule(std::string_view name) {
  constexpr Named<EndRule> kNames[] = {
      {"auto", EndRule::kAuto}, {"none", EndRule::kNone}, {"stop", EndRule::kStop}};
  return ParseName("the end", name, kNames);
}

Result<LikelihoodNorm> ParseLikelihoodNorm(std::string_view name) {
  constexpr Named<LikelihoodNorm> kNames[] = {
      {"sum", LikelihoodNorm::kSum},
      {"mean_per_token", LikelihoodNorm::kMeanPerToken},
      {"mean_per_byte", LikelihoodNorm::kMeanPerByte},
      {"mean_per_character", LikelihoodNorm::kMeanPerCharacter}};
  return ParseName("the normalization", name, kNames);
}

namespace {
constexpr Named<Truncate> kTruncates[] = {{"none", Truncate::kNone},
                                          {"state-head", Truncate::kStateHead},
                                          {"state-tail", Truncate::kStateTail},
                                          {"middle", Truncate::kMiddle}};
}  // namespace

Result<Truncate> ParseTruncate(std::string_view name) {
  return ParseName("the truncation", name, kTruncates);
}

std::string_view ToString(Truncate truncate) {
  for (const auto& known : kTruncates) {
    if (known.value == truncate) return known.name;
  }
  return "";
}

}  // namespace adjudge
