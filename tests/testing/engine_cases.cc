#include "tests/testing/engine_cases.h"

#include <gtest/gtest.h>

#include "tests/testing/test_data.h"

namespace adjudge::testing {

std::optional<nlohmann::json> EngineCase(const std::string& id) {
  const auto path = DataPath("engine-cases/cases.json");
  if (!path) return std::nullopt;
  for (const auto& row : nlohmann::json::parse(ReadFile(*path))) {
    if (row.at("id") == id) return row;
  }
  ADD_FAILURE() << "no case " << id;
  return std::nullopt;
}

}  // namespace adjudge::testing
