// The rooms may use one another only in the direction that CMakeLists.txt writes down, and a header
// in a sub-folder is private to its room.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

namespace fs = std::filesystem;

struct Room {
  std::string folder;
  std::set<std::string> uses;  // names, transitive
};

// The file that CMake writes: a line a room: name folder target...
std::map<std::string, Room> ReadRooms() {
  std::map<std::string, Room> rooms;
  std::ifstream file(testing::ProgramFolder().parent_path() / "rooms.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    Room room;
    words >> name >> room.folder;
    for (std::string use; words >> use;) {
      const std::string prefix = "adjudge::";
      if (use.rfind(prefix, 0) != 0) continue;
      use = use.substr(prefix.size());
      room.uses.insert(use);
      // Rooms are declared after those they use.
      room.uses.insert(rooms.at(use).uses.begin(), rooms.at(use).uses.end());
    }
    rooms[name] = room;
  }
  return rooms;
}

// The room that owns a path, by its longest matching folder; empty for none.
std::string OwnerOf(const std::string& path, const std::map<std::string, Room>& rooms) {
  std::string owner;
  std::size_t longest = 0;
  for (const auto& [name, room] : rooms) {
    if (path.rfind(room.folder + "/", 0) == 0 && room.folder.size() > longest) {
      owner = name;
      longest = room.folder.size();
    }
  }
  return owner;
}

std::vector<std::string> ProjectIncludes(const fs::path& file) {
  std::vector<std::string> includes;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::string start = "#include \"";
    if (line.rfind(start, 0) != 0) continue;
    includes.push_back(line.substr(start.size(), line.find('"', start.size()) - start.size()));
  }
  return includes;
}

// Says what is wrong with `file` (in room `owner`) including `include`; empty when nothing is.
std::string Violation(const std::string& owner, const std::string& include,
                      const std::map<std::string, Room>& rooms) {
  const std::string target = OwnerOf(include, rooms);
  if (target.empty()) return "includes " + include + ", which is in no room";
  if (target == owner) return "";
  if (!rooms.at(owner).uses.contains(target)) return "uses room " + target + " (" + include + ")";
  const std::string rest = include.substr(rooms.at(target).folder.size() + 1);
  if (rest.find('/') != std::string::npos) return "includes the private header " + include;
  return "";
}

TEST(IncludeDirection, FollowsCMake) {
  const std::map<std::string, Room> rooms = ReadRooms();
  ASSERT_GE(rooms.size(), 5U);
  const fs::path root = testing::SourceFolder();
  int files = 0;
  for (const auto& [name, room] : rooms) {
    for (const auto& entry : fs::recursive_directory_iterator(root / room.folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cc" && extension != ".cuh") continue;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      if (OwnerOf(path, rooms) != name) continue;
      ++files;
      for (const std::string& include : ProjectIncludes(entry.path())) {
        const std::string violation = Violation(name, include, rooms);
        EXPECT_TRUE(violation.empty()) << path << " " << violation;
      }
    }
  }
  EXPECT_GT(files, 10);
}

TEST(IncludeDirection, RefusesWhatItShould) {
  const std::map<std::string, Room> rooms = ReadRooms();
  struct Row {
    std::string owner, include;
    bool allowed;
  };
  for (const Row& row : {
           Row{"engine", "engine/base/result.h", true},
           Row{"engine", "engine/model/gguf_file.h", true},
           Row{"heads", "engine/model.h", true},
           Row{"heads", "engine/model/gguf_file.h", false},
           Row{"base", "engine/model.h", false},
           Row{"constraints", "engine/model.h", false},
           Row{"constraints", "engine/base/matcher.h", true},
           Row{"engine", "constraints/option_set.h", false},
           Row{"engine", "nowhere/a.h", false},
       }) {
    EXPECT_EQ(Violation(row.owner, row.include, rooms).empty(), row.allowed)
        << row.owner << " <- " << row.include;
  }
}

// Public headers name nothing of a third party but tl::expected.
TEST(IncludeDirection, PublicHeadersAreFreeOfThirdParties) {
  const std::map<std::string, Room> rooms = ReadRooms();
  const fs::path root = testing::SourceFolder();
  const std::vector<std::string> third_parties = {"nlohmann/", "pcre2",  "sentencepiece",
                                                  "utf8proc",  "CLI/",   "boost/",
                                                  "hwy/",      "gtest/", "benchmark/"};
  for (const auto& [name, room] : rooms) {
    for (const auto& entry : fs::directory_iterator(root / room.folder)) {
      if (entry.path().extension() != ".h") continue;
      std::ifstream stream(entry.path());
      for (std::string line; std::getline(stream, line);) {
        if (line.rfind("#include <", 0) != 0) continue;
        for (const std::string& party : third_parties) {
          EXPECT_EQ(line.find(party), std::string::npos) << entry.path() << ": " << line;
        }
      }
    }
  }
}

}  // namespace
}  // namespace adjudge
