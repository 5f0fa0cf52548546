// DecisionTensors: the decision head that a GGUF file may carry beside its transformer.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/tensor_file.h"

namespace adjudge {

// The keys ARCH.decision.* and the tensors cls.output.*.
struct DecisionTensors {
  std::string architecture;
  std::string type;  // ARCH.decision.type: "kev", "laya", "openjev", ...
  std::optional<int> embedding_length_out;
  std::map<std::string, double> temperatures;  // by what follows ".decision.temperature."
  FloatTensor weight;                          // [outputs, dim], or empty
  FloatTensor bias;                            // [outputs], or empty
};

// nullopt where the file is no GGUF file or has no decision type. Errors: what GgufFile::Open and
// the keys' types refuse, and tensors that are not finite.
Result<std::optional<DecisionTensors>> ReadDecisionTensors(const std::filesystem::path& path);

}  // namespace adjudge
