// Runs a fuzz target over the files named on the command line, and over a few seeded mutations of
// each.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::mt19937 random(7);
  LLVMFuzzerTestOneInput(nullptr, 0);
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)),
                                          std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    for (int round = 0; round < 200 && !bytes.empty(); ++round) {
      std::vector<std::uint8_t> mutated = bytes;
      for (int k = 0; k <= round % 4; ++k) {
        mutated[random() % mutated.size()] = static_cast<std::uint8_t>(random());
      }
      if (round % 5 == 0) mutated.resize(random() % mutated.size());
      LLVMFuzzerTestOneInput(mutated.data(), mutated.size());
    }
  }
  std::printf("%d files replayed\n", argc - 1);
  return 0;
}
