#include "tests/testing/test_data.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace adjudge::testing {
namespace fs = std::filesystem;

namespace {

constexpr const char* kDefaultModel = "SmolLM2-135M-Instruct.Q4_1.gguf";

std::optional<fs::path> UnderEnv(const char* variable, const std::string& relative) {
  const char* root = std::getenv(variable);
  if (root == nullptr || *root == '\0') return std::nullopt;
  fs::path path = fs::path(root) / relative;
  if (!fs::exists(path)) return std::nullopt;
  return path;
}

fs::path CacheFolder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') return xdg;
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr ? "/" : home) / ".cache";
}

}  // namespace

std::optional<fs::path> DataPath(const std::string& relative) {
  return UnderEnv("ADJUDGE_TEST_DATA", relative);
}

std::optional<fs::path> ModelPath(const std::string& name) {
  if (name != "default") return UnderEnv("ADJUDGE_TEST_MODELS", name);
  if (auto path = UnderEnv("ADJUDGE_TEST_MODELS", kDefaultModel)) return path;
  const fs::path cached = CacheFolder() / "adjudge" / "models" / kDefaultModel;
  if (fs::exists(cached)) return cached;
  return std::nullopt;
}

TempFolder::TempFolder() {
  std::string pattern = (fs::temp_directory_path() / "adjudge-test-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TempFolder::Write(const std::string& name, const std::string& bytes) const {
  fs::path path = path_ / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

fs::path SourceFolder() { return ReadFile(ProgramFolder().parent_path() / "source_folder.txt"); }

fs::path ProgramFolder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

}  // namespace adjudge::testing
