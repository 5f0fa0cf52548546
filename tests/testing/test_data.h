// Where test data outside the clone lies.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

namespace adjudge::testing {

// $ADJUDGE_TEST_DATA/relative, if that exists.
std::optional<std::filesystem::path> DataPath(const std::string& relative);

// A model file, if it is here: "default" = the default model (ADJUDGE_TEST_MODELS, else the cache
// folder that scripts/fetch-model fills); any other name = $ADJUDGE_TEST_MODELS/name.
std::optional<std::filesystem::path> ModelPath(const std::string& name);

// A fresh empty folder, removed when the object goes.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path Write(const std::string& name, const std::string& bytes) const;

 private:
  std::filesystem::path path_;
};

// The root of the sources, as the build wrote it into its folder: a path compiled into every test
// would keep clones from sharing compiled code.
std::filesystem::path SourceFolder();

// The folder of the running test program; `adjudge` lies in it too.
std::filesystem::path ProgramFolder();

std::string ReadFile(const std::filesystem::path& path);

}  // namespace adjudge::testing

// Sets `var` (a path) or skips the test naming what is missing.
#define ADJUDGE_DATA_OR_SKIP(var, relative)                                           \
  const auto var##_found = ::adjudge::testing::DataPath(relative);                    \
  if (!var##_found) GTEST_SKIP() << "no test data: ADJUDGE_TEST_DATA/" << (relative); \
  const std::filesystem::path& var = *var##_found

#define ADJUDGE_MODEL_OR_SKIP(var, name)                        \
  const auto var##_found = ::adjudge::testing::ModelPath(name); \
  if (!var##_found) GTEST_SKIP() << "no model: " << (name);     \
  const std::filesystem::path& var = *var##_found
