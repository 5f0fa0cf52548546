// The file of label priors: made from answers that averaged orders, read by --debias pride.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/outcome.h"
#include "heads/answer.h"
#include "heads/debias.h"

namespace adjudge::cli {

// Sums up the position priors of answers.
class PriorFitter {
 public:
  // Answers without one (not a choice, not read in several orders) say nothing.
  void Add(std::span<const Answer> answers);
  // Writes {"model", "items": {"4": 120}, "priors": {"4": [...]}} in one step: the file is whole or
  // not there. kFailed where there was no item, and where it cannot be written.
  Outcome<bool> Write(const std::string& path, const std::string& model) const;

 private:
  std::map<int, std::vector<double>> sums_;
  std::map<int, int> items_;
};

// Refused where they are not probabilities, or were made with another model.
Outcome<PositionPriors> ReadPriors(const std::string& path, const std::string& model);

}  // namespace adjudge::cli
