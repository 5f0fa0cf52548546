// The cases of engine-cases/cases.json: public bug reports of other engines with the right value.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace adjudge::testing {

// The case of this id, or nullopt when the test data is not here. Fails the test on an unknown id.
std::optional<nlohmann::json> EngineCase(const std::string& id);

}  // namespace adjudge::testing

// Sets `var` (JSON with "input" and "expected") or skips the test.
#define ADJUDGE_CASE_OR_SKIP(var, id)                                                          \
  const auto var##_found = ::adjudge::testing::EngineCase(id);                                 \
  if (!var##_found) GTEST_SKIP() << "no test data: ADJUDGE_TEST_DATA/engine-cases/cases.json"; \
  const nlohmann::json& var = *var##_found
