// Files that engine-cases describe as a few lines of Python over its base.py.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/testing/test_data.h"

namespace adjudge::testing {

// Makes the file of a {"file": name, "recipe": lines} object in `folder` and gives its path;
// nullopt when Python or numpy is missing. A recipe that fails is a failure of the test.
std::optional<std::filesystem::path> MakeRecipeFile(const nlohmann::json& recipe,
                                                    const TempFolder& folder);

}  // namespace adjudge::testing

// Sets `var` to the path of the recipe's file or skips the test.
#define ADJUDGE_RECIPE_OR_SKIP(var, recipe, folder)                               \
  const auto var##_made = ::adjudge::testing::MakeRecipeFile((recipe), (folder)); \
  if (!var##_made) GTEST_SKIP() << "no python3 with numpy";                       \
  const std::filesystem::path& var = *var##_made
