#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "heads/json/json_value.h"
#include "heads/system_one.h"

namespace adjudge {
namespace {

// The shortest spelling that reads back as the same double.
std::string Number(double value) {
  ADJUDGE_CHECK_MSG(std::isfinite(value), "a number in an answer is not finite");
  return nlohmann::json(value).dump();
}

// Members and elements, with their commas.
class Members {
 public:
  void Add(std::string_view key, std::string_view json) {
    Comma();
    text_ += JsonQuote(key);
    text_ += ':';
    text_ += json;
  }
  void Element(std::string_view json) {
    Comma();
    text_ += json;
  }
  std::string Object() const { return Between('{', '}'); }
  std::string Array() const { return Between('[', ']'); }

 private:
  std::string Between(char open, char close) const {
    std::string out(1, open);
    out += text_;
    out += close;
    return out;
  }
  void Comma() {
    if (!text_.empty()) text_ += ',';
  }
  std::string text_;
};

std::string Numbers(const std::vector<double>& values) {
  Members list;
  for (const double value : values) list.Element(Number(value));
  return list.Array();
}

std::string EntryJson(const Entry& entry) {
  return entry.structured ? entry.text : JsonQuote(entry.text);
}

std::string AnswerJson(const Question& question, const Answer& answer) {
  Members members;
  members.Add("type", JsonQuote(ToString(question.type)));
  if (question.type == QuestionType::kNoul) {
    members.Add("noul", Number(answer.score));
    return members.Object();
  }
  Members probabilities;
  Members legend;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    const Option& option = question.options[i];
    probabilities.Add(option.name, Number(answer.probabilities[i]));
    if (question.type == QuestionType::kScore) {
      legend.Add(option.name, EntryJson(*option.description));
    }
  }
  if (question.type == QuestionType::kChoice) {
    members.Add("choice",
                JsonQuote(question.options[static_cast<std::size_t>(answer.chosen)].name));
  } else {
    members.Add("score", Number(answer.score));
    members.Add("legend", legend.Object());
  }
  members.Add("probabilities", probabilities.Object());
  members.Add("confidence", Number(*answer.confidence));
  return members.Object();
}

std::string ExtrasJson(const Answer& answer) {
  Members members;
  members.Add("head", JsonQuote(answer.head));
  if (answer.label_mass) members.Add("label_mass", Number(*answer.label_mass));
  members.Add("margin", Number(answer.margin));
  members.Add("entropy", Number(answer.entropy));
  if (!answer.logprobs.empty()) members.Add("logprobs", Numbers(answer.logprobs));
  if (!answer.scores.empty()) members.Add("scores", Numbers(answer.scores));
  if (!answer.calibration.empty()) members.Add("calibration", JsonQuote(answer.calibration));
  if (answer.temperature) members.Add("temperature", Number(*answer.temperature));
  if (!answer.labels.empty()) {
    Members labels;
    for (const std::string& label : answer.labels) labels.Element(JsonQuote(label));
    members.Add("labels", labels.Array());
    Members ids;
    for (const TokenId id : answer.label_ids) ids.Element(std::to_string(id));
    members.Add("label_ids", ids.Array());
  }
  if (!answer.end.empty()) members.Add("end", JsonQuote(answer.end));
  if (!answer.normalization.empty()) {
    members.Add("normalization", JsonQuote(answer.normalization));
  }
  return members.Object();
}

}  // namespace

std::string CostJson(const Usage& usage, const Timings& timings) {
  Members members;
  members.Add("prompt_tokens", std::to_string(usage.prompt_tokens));
  members.Add("cached_tokens", std::to_string(usage.cached_tokens));
  members.Add("generated_tokens", std::to_string(usage.generated_tokens));
  members.Add("forced_tokens", std::to_string(usage.forced_tokens));
  members.Add("forward_passes", std::to_string(usage.forward_passes));
  members.Add("load", Number(timings.load_ms));
  members.Add("prefill", Number(timings.prefill_ms));
  members.Add("decode", Number(timings.decode_ms));
  return members.Object();
}

std::string WriteSystemOneResponse(const SystemOneResponse& response, bool strict) {
  ADJUDGE_CHECK(response.questions.size() == response.answers.size());
  Members answers;
  Members extras;
  for (std::size_t i = 0; i < response.answers.size(); ++i) {
    const Question& question = response.questions[i];
    const Answer& answer = response.answers[i];
    ADJUDGE_CHECK(answer.probabilities.size() == question.options.size());
    answers.Add(question.id, AnswerJson(question, answer));
    if (!strict) extras.Add(question.id, ExtrasJson(answer));
  }
  Members usage;
  usage.Add("input_tokens", std::to_string(response.usage.prompt_tokens));
  usage.Add("output_tokens", std::to_string(response.usage.generated_tokens));
  Members body;
  body.Add("model", JsonQuote(response.model));
  body.Add("answers", answers.Object());
  body.Add("usage", usage.Object());
  if (!strict) {
    body.Add("x_answers", extras.Object());
    body.Add("x_cost", CostJson(response.usage, response.timings));
  }
  return body.Object();
}

}  // namespace adjudge
