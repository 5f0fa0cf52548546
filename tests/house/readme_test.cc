// README.md's program is the one that the installation test builds.
#include <gtest/gtest.h>

#include <string>

#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

TEST(Readme, ProgramIsTheOneThatIsTested) {
  const std::string root = testing::SourceFolder().string();
  const std::string readme = testing::ReadFile(root + "/README.md");
  std::string program = testing::ReadFile(root + "/tests/house/install_consumer/main.cc");
  program = program.substr(program.find('\n') + 1);
  EXPECT_NE(readme.find("```cpp\n" + program + "```"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
