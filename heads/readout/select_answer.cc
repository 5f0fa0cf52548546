#include "heads/readout/select_answer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

#include "engine/base/check.h"

namespace adjudge {
namespace {

std::vector<bool> Selected(const Question& select, const Answer& answer) {
  const std::size_t n = select.options.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  const auto abstained = [&](std::size_t i) { return bool{answer.option_abstained[i]}; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) {
      return std::tuple(abstained(i), -answer.probabilities[i],
                        std::string_view(select.options[i].name));
    };
    return key(a) < key(b);
  });
  std::size_t count = 0;
  while (count < n && !abstained(order[count]) && answer.probabilities[order[count]] >= 0.5) {
    ++count;
  }
  count = std::max(count, static_cast<std::size_t>(select.min_selected));
  if (select.max_selected) {
    count = std::min(count, static_cast<std::size_t>(*select.max_selected));
  }
  std::vector<bool> selected(n, false);
  for (std::size_t i = 0; i < std::min(count, n); ++i) selected[order[i]] = true;
  return selected;
}

}  // namespace

Question OptionQuestion(const Question& select, std::size_t option) {
  const Option& asked = select.options[option];
  std::string text;
  if (select.instructions && !select.instructions->text.empty()) {
    text = select.instructions->text + "\n";
  }
  text += "Does this option apply: " + asked.name;
  if (asked.description && !asked.description->text.empty()) {
    text += ": " + asked.description->text;
  }
  return Question::Noul(select.id, std::move(text));
}

Answer SelectAnswer(const Question& select, std::span<const Answer> options) {
  ADJUDGE_CHECK(options.size() == select.options.size() && !options.empty());
  Answer answer = options.front();
  answer.id = select.id;
  answer.type = QuestionType::kSelect;
  answer.chosen = 0;
  answer.score = 0;
  answer.confidence.reset();
  answer.margin = 1;
  answer.entropy = 0;
  answer.forwards = 0;
  answer.probabilities.clear();
  answer.logprobs.clear();
  answer.labels.clear();
  answer.label_ids.clear();
  answer.position_prior.clear();
  answer.abstain_reason.clear();
  answer.prediction_set.reset();  // of sets of options there is none
  double mass = 0;
  for (const Answer& option : options) {
    answer.probabilities.push_back(option.probabilities[1]);
    answer.logprobs.push_back(option.logprobs[1]);
    answer.option_abstained.push_back(!option.abstain_reason.empty());
    answer.margin = std::min(answer.margin, option.margin);
    answer.entropy += option.entropy;
    answer.forwards += option.forwards;
    if (answer.fallback.empty()) answer.fallback = option.fallback;
    if (option.head != answer.head) answer.head = "label, likelihood";
    if (option.disagreement_bound) {
      answer.disagreement_bound =
          std::max(*option.disagreement_bound, answer.disagreement_bound.value_or(0));
    }
    mass += option.label_mass.value_or(0) / static_cast<double>(options.size());
  }
  answer.label_mass = mass;
  answer.selected = Selected(select, answer);
  for (std::size_t i = 0; i < answer.selected.size(); ++i) {
    if (answer.selected[i]) answer.score += 1;
  }
  return answer;
}

}  // namespace adjudge
