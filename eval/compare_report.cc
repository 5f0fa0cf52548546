#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "eval/answer_extraction.h"
#include "eval/compare.h"

namespace adjudge {
namespace {

using Json = nlohmann::ordered_json;

Json UsageJson(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"cached_tokens", usage.cached_tokens},
          {"generated_tokens", usage.generated_tokens},
          {"forced_tokens", usage.forced_tokens},
          {"forward_passes", usage.forward_passes}};
}

Json ArmJson(const CompareArm& arm) {
  Json json = {{"answer", arm.option < 0 ? Json() : Json(arm.answer)},
               {"verdict", ToString(arm.verdict)},
               {"steps", arm.steps},
               {"usage", UsageJson(arm.usage)},
               {"ms", arm.ms}};
  if (!arm.probabilities.empty()) {
    json["probabilities"] = arm.probabilities;
    json["label_mass"] = arm.label_mass;
  } else {
    json["text"] = arm.text;
    json["finish_reason"] = arm.finish_reason;
  }
  return json;
}

Json TotalsJson(const CompareTotals& totals) {
  return {{"n", totals.n},
          {"right", totals.right},
          {"wrong", totals.wrong},
          {"invalid", totals.invalid},
          {"unkeyed", totals.unkeyed},
          {"steps", totals.steps},
          {"usage", UsageJson(totals.usage)},
          {"ms", totals.ms}};
}

// Printed width counts code points; good enough for a table of mostly Latin text.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// At most `width` characters on one line, "..." where something was cut, padded with spaces.
std::string Cell(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t n = 0;
  const bool cut = Width(text) > width;
  const std::size_t room = cut ? width - 3 : width;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 && ++n > room) break;
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  if (cut) out += "...";
  out.append(width - Width(out), ' ');
  return out;
}

std::string Number(double value, int decimals, int width) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%*.*f", width, decimals, value);
  return buffer;
}

std::string Number(int value, int width) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%*d", width, value);
  return buffer;
}

constexpr std::size_t kLabelWidth = 7;

// The exam's label of an option, with the prompt's where that is another: "3=C".
std::string LabelCell(const CompareRow& row, int option, const std::string& label) {
  const auto i = static_cast<std::size_t>(option);
  const bool differs = option >= 0 && i < row.labels.size() && row.labels[i] != label;
  return Cell(differs ? label + "=" + row.labels[i] : label, kLabelWidth);
}

std::string KeyCell(const CompareRow& row) {
  if (!row.key) return Cell("-", kLabelWidth);
  const auto at = std::find(row.exam_labels.begin(), row.exam_labels.end(), *row.key);
  const bool found = at != row.exam_labels.end();
  return LabelCell(row, found ? static_cast<int>(at - row.exam_labels.begin()) : -1, *row.key);
}

std::string RowLine(const CompareRow& row) {
  std::string line = Cell(row.id, 20) + " " + KeyCell(row) + " ";
  if (!row.error.empty()) return line + "refused: " + row.error + "\n";
  const CompareArm& one = row.one_pass;
  const CompareArm& many = row.decoding;
  const double p = one.probabilities[static_cast<std::size_t>(one.option)];
  line += "| " + LabelCell(row, one.option, one.answer) + " " + Cell(ToString(one.verdict), 7) +
          Number(p, 2, 5) + Number(one.steps, 6) + Number(one.ms, 1, 9) + " ";
  line += "| " + LabelCell(row, many.option, many.option < 0 ? "-" : many.answer) + " " +
          Cell(ToString(many.verdict), 7) + Number(many.steps, 6) + Number(many.ms, 1, 9) + "  " +
          Cell(many.text, 28);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string TotalLine(std::string_view name, const CompareTotals& totals) {
  return Cell(name, 20) + Number(totals.n, 6) + Number(totals.right, 7) + Number(totals.wrong, 7) +
         Number(totals.invalid, 9) + Number(totals.steps, 7) +
         Number(totals.usage.forward_passes, 8) + Number(totals.usage.prompt_tokens, 9) +
         Number(totals.usage.generated_tokens, 11) + Number(totals.ms, 1, 11) +
         Number(totals.n > 0 ? totals.ms / totals.n : 0.0, 1, 9) + "\n";
}

}  // namespace

std::string CompareJson(const CompareResult& result) {
  Json json = {{"extraction_rule", kExtractionRule},
               {"extraction_rule_text", kExtractionRuleText},
               {"max_steps", result.max_steps},
               {"cancelled", result.cancelled},
               {"items", Json::array()}};
  for (const CompareRow& row : result.rows) {
    Json item = {{"id", row.id},
                 {"key", row.key ? Json(*row.key) : Json()},
                 {"exam_labels", row.exam_labels},
                 {"labels", row.labels},
                 {"options", row.options}};
    if (row.error.empty()) {
      item["one_pass"] = ArmJson(row.one_pass);
      item["decoding"] = ArmJson(row.decoding);
    } else {
      item["error"] = row.error;
    }
    json["items"].push_back(std::move(item));
  }
  json["totals"] = {{"one_pass", TotalsJson(result.one_pass)},
                    {"decoding", TotalsJson(result.decoding)},
                    {"agree", result.agree},
                    {"refused", result.refused}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string CompareTable(const CompareResult& result) {
  std::string decoding("up to ");
  decoding += std::to_string(result.max_steps) + " steps";
  std::string out = Cell("", 29);
  out += "| " + Cell("one pass", 35) + " | " + decoding + "\n";
  out += Cell("question", 20);
  out += " key     | ans     verdict    p steps       ms | ans     verdict steps       ms  text\n";
  for (const CompareRow& row : result.rows) out += RowLine(row);
  out += "\n";
  out += Cell("arm", 20);
  out += "     n  right  wrong  invalid  steps  passes   prompt  generated         ms  ms/item\n";
  out += TotalLine("one pass", result.one_pass);
  out += TotalLine("decoding", result.decoding);
  out += "\nThe arms agree on ";
  out += std::to_string(result.agree) + " of " + std::to_string(result.one_pass.n) + " items";
  if (result.refused > 0) out += "; " + std::to_string(result.refused) + " refused";
  out += result.cancelled ? "; cancelled before the end.\n" : ".\n";
  const bool renamed = std::any_of(result.rows.begin(), result.rows.end(), [](const auto& row) {
    return !row.labels.empty() && row.labels != row.exam_labels;
  });
  if (renamed) out += "3=C: the questions call the option 3, the prompt calls it C.\n";
  out += "A text is read by the rule ";
  out += kExtractionRule;
  out += ": ";
  out += kExtractionRuleText;
  out += ". Invalid counts as not right.\n";
  return out;
}

}  // namespace adjudge
