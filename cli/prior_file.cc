#include "cli/prior_file.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "cli/json_output.h"
#include "cli/printable.h"
#include "cli/text_input.h"
#include "engine/json_check.h"

namespace adjudge::cli {

void PriorFitter::Add(std::span<const Answer> answers) {
  for (const Answer& answer : answers) {
    if (answer.type != QuestionType::kChoice || answer.position_prior.empty()) continue;
    const int n = static_cast<int>(answer.position_prior.size());
    std::vector<double>& sum = sums_[n];
    sum.resize(answer.position_prior.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += answer.position_prior[i];
    ++items_[n];
  }
}

Outcome<bool> PriorFitter::Write(const std::string& path, const std::string& model) const {
  const auto failed = [&](const std::string& words) {
    return tl::unexpected<Failure>(
        Failure(kFailed, "--fit-priors " + Printable(path) + ": " + words));
  };
  if (sums_.empty()) return failed("no choice was read by labels in several orders");
  Json json = {{"model", model}, {"items", Json::object()}, {"priors", Json::object()}};
  for (const auto& [n, sum] : sums_) {
    Json prior = Json::array();
    for (const double x : sum) prior.push_back(x / items_.at(n));
    json["items"][std::to_string(n)] = items_.at(n);
    json["priors"][std::to_string(n)] = std::move(prior);
  }
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << Dump(json);
  file.close();
  if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
    const std::string words = std::strerror(errno);
    std::remove(partial.c_str());
    return failed(words);
  }
  return true;
}

Outcome<PositionPriors> ReadPriors(const std::string& path, const std::string& model) {
  CLI_ASSIGN_OR_RETURN(const std::string text,
                       ReadJsonFile(path, BadBytes::kRefuse, kMaxJsonBytes));
  const auto bad = [&](const std::string& words) {
    return tl::unexpected<Failure>(Failure(kFailed, "--priors " + Printable(path) + ": " + words));
  };
  if (const Status valid = CheckJson(text); !valid) return bad(ToString(valid.error()));
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("priors") || !json["priors"].is_object()) {
    return bad("expected {\"priors\": {number of options: [probability, ...]}}");
  }
  if (const Json made = json.value("model", Json()); made != model) {
    return bad("made with the model " + Printable(made.dump()) + ", not with " + Printable(model));
  }
  PositionPriors priors;
  for (const auto& [key, values] : json["priors"].items()) {
    const int n = std::atoi(key.c_str());
    std::vector<double> prior;
    double sum = 0;
    for (const Json& value : values) {
      if (!value.is_number()) return bad("/priors/" + Printable(key) + ": expected numbers");
      prior.push_back(value.get<double>());
      sum += prior.back();
      if (!(prior.back() > 0))
        return bad("/priors/" + Printable(key) + ": expected numbers above 0");
    }
    if (n < 1 || static_cast<std::size_t>(n) != prior.size() || std::abs(sum - 1) > 1e-6) {
      return bad("/priors/" + Printable(key) + ": expected so many probabilities that sum to 1");
    }
    priors[n] = std::move(prior);
  }
  return priors;
}

}  // namespace adjudge::cli
