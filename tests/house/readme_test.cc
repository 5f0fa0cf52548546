// README.md's programs are those that the installation test builds.
#include <gtest/gtest.h>

#include <string>

#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

TEST(Readme, ProgramsAreThoseThatAreTested) {
  const std::string root = testing::SourceFolder().string();
  const std::string readme = testing::ReadFile(root + "/README.md");
  for (const char* name : {"main.cc", "decide.cc"}) {
    std::string program = testing::ReadFile(root + "/tests/house/install_consumer/" + name);
    program = program.substr(program.find('\n') + 1);
    EXPECT_NE(readme.find("```cpp\n" + program + "```"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace adjudge
