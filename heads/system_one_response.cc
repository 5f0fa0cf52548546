#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "engine/fingerprint.h"
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

std::string SelectJson(const Question& question, const Answer& answer) {
  Members probabilities;
  Members selected;
  Members abstained;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    const std::string& name = question.options[i].name;
    probabilities.Add(name, Number(answer.probabilities[i]));
    if (answer.selected[i]) selected.Element(JsonQuote(name));
    if (answer.option_abstained[i]) abstained.Element(JsonQuote(name));
  }
  Members members;
  members.Add("type", JsonQuote(ToString(question.type)));
  members.Add("selected", selected.Array());
  members.Add("probabilities", probabilities.Object());
  members.Add("abstained", abstained.Array());
  return members.Object();
}

std::string AnswerJson(const Question& question, const Answer& answer) {
  Members members;
  members.Add("type", JsonQuote(ToString(question.type)));
  if (question.type == QuestionType::kNoul) {
    members.Add("noul", Number(answer.score));
    return members.Object();
  }
  if (question.type == QuestionType::kSelect) return SelectJson(question, answer);
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

// What only some answers have to say.
void AddReadingExtras(const Question& question, const Answer& answer, Members& members) {
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) members.Add(key, JsonQuote(value));
  };
  members.Add("forwards", std::to_string(answer.forwards));
  text("debias", answer.debias);
  if (answer.debias == "pmi") members.Add("x0", JsonQuote(answer.x0));
  if (!answer.position_prior.empty()) {
    Members prior;
    for (const double p : answer.position_prior) prior.Element(Number(p));
    members.Add("position_prior", prior.Array());
  }
  if (answer.disagreement_bound) {
    members.Add("disagreement_bound", Number(*answer.disagreement_bound));
  }
  text("fallback", answer.fallback);
  if (answer.none_probability) members.Add("none", Number(*answer.none_probability));
  text("abstained", answer.abstain_reason);
  if (answer.prediction_set) {
    Members set;
    for (const int i : *answer.prediction_set) {
      set.Element(JsonQuote(question.options[static_cast<std::size_t>(i)].name));
    }
    members.Add("set", set.Array());
  }
  if (answer.truncation) {
    Members cut;
    cut.Add("cut", JsonQuote(answer.truncation->cut));
    cut.Add("state_bytes", std::to_string(answer.truncation->state_bytes));
    cut.Add("kept_bytes", std::to_string(answer.truncation->kept_bytes));
    members.Add("truncation", cut.Object());
  }
}

std::string AuditJson(const Audit& audit, const Answer& answer) {
  std::string labels;
  for (const TokenId id : answer.label_ids) labels += std::to_string(id) + " ";
  Members members;
  members.Add("model", JsonQuote(audit.model));
  if (!audit.chat_template.empty()) members.Add("template", JsonQuote(audit.chat_template));
  if (!labels.empty()) members.Add("labels", JsonQuote(Fingerprint(labels)));
  if (!audit.head.empty()) members.Add("head", JsonQuote(audit.head));
  return members.Object();
}

std::string ExtrasJson(const Question& question, const Answer& answer,
                       const std::optional<Audit>& audit) {
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
  AddReadingExtras(question, answer, members);
  if (audit) members.Add("audit", AuditJson(*audit, answer));
  return members.Object();
}

std::string ExplanationJson(std::string_view state, const Question& question,
                            const Explanation& explanation) {
  Members parts;
  for (const ExplainedPart& part : explanation.parts) {
    Members one;
    one.Add("text", JsonQuote(state.substr(part.begin, part.end - part.begin)));
    one.Add("begin", std::to_string(part.begin));
    one.Add("end", std::to_string(part.end));
    one.Add("importance", Number(part.importance));
    parts.Element(one.Object());
  }
  const auto chosen = static_cast<std::size_t>(explanation.answer.chosen);
  Members members;
  members.Add("unit", JsonQuote(ToString(explanation.unit)));
  members.Add("option", JsonQuote(question.options[chosen].name));
  members.Add("parts", parts.Array());
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
    if (!strict) extras.Add(question.id, ExtrasJson(question, answer, response.audit));
  }
  Members explanations;
  for (std::size_t i = 0; i < response.explanations.size(); ++i) {
    explanations.Add(
        response.questions[i].id,
        ExplanationJson(response.state, response.questions[i], response.explanations[i]));
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
    if (!response.explanations.empty()) body.Add("x_explanations", explanations.Object());
    body.Add("x_cost", CostJson(response.usage, response.timings));
  }
  return body.Object();
}

}  // namespace adjudge
