#include "tests/testing/engine_recipe.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/testing/python.h"

namespace adjudge::testing {
namespace fs = std::filesystem;

std::optional<fs::path> MakeRecipeFile(const nlohmann::json& recipe, const TempFolder& folder) {
  const auto base = DataPath("engine-cases/base.py");
  const auto python = PythonWith("numpy");
  if (!base || !python) return std::nullopt;
  const fs::path beside = folder.path() / "base.py";
  if (!fs::exists(beside)) fs::create_symlink(fs::absolute(*base), beside);
  folder.Write("recipe.py", recipe.at("recipe").get<std::string>());
  const std::string command =
      "cd '" + folder.path().string() + "' && PYTHONDONTWRITEBYTECODE=1 " + *python + " recipe.py";
  fs::path made = folder.path() / recipe.at("file").get<std::string>();
  if (!RunCommand(command) || !fs::exists(made)) {
    ADD_FAILURE() << "the recipe of " << made.filename() << " failed";
  }
  return made;
}

}  // namespace adjudge::testing
