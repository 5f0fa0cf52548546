// Any bytes as a vocabulary, options and a walk: masks, Accept, Rollback and Fork agree.
#include <cstdint>
#include <string>
#include <vector>

#include "constraints/option_set.h"
#include "engine/base/check.h"
#include "tests/fuzz/fuzz_input.h"

namespace adjudge {
namespace {

void Walk(const OptionSet& set, const Vocabulary& vocabulary, FuzzInput& input) {
  auto matcher = set.NewMatcher();
  TokenMask mask(vocabulary.width());
  std::vector<TokenMask> before;
  for (int step = 0; step < 64 && !input.empty(); ++step) {
    matcher->FillMask(mask);
    ADJUDGE_CHECK(!mask.none() || matcher->IsDone());
    const std::size_t choice = input.Byte();
    if (choice == 255 && !before.empty()) {
      const std::size_t n = 1 + input.Byte() % before.size();
      matcher->Rollback(static_cast<int>(n));
      matcher->FillMask(mask);
      ADJUDGE_CHECK(mask == before[before.size() - n]);
      before.resize(before.size() - n);
      continue;
    }
    if (choice == 254) matcher = matcher->Fork();
    const auto id = static_cast<TokenId>(choice % static_cast<std::size_t>(vocabulary.width()));
    const std::vector<TokenId> forced = matcher->ForcedTokens();
    ADJUDGE_CHECK(forced.empty() || (mask.count() == 1 && mask.test(forced[0])));
    const bool accepted = matcher->Accept(id);
    ADJUDGE_CHECK(accepted == mask.test(id));
    if (accepted) before.push_back(mask);
  }
}

}  // namespace
}  // namespace adjudge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace adjudge;
  FuzzInput input(data, size);
  std::vector<Vocabulary::Entry> entries;
  std::vector<TokenId> stops;
  for (std::size_t n = 1 + input.Byte() % 24; n > 0; --n) {
    const auto kind = static_cast<TokenKind>(input.Byte() % 16 < 11 ? 0 : input.Byte() % 6);
    if (kind == TokenKind::kControl) stops.push_back(static_cast<TokenId>(entries.size()));
    entries.push_back({input.Text(4), kind});
  }
  const int width = static_cast<int>(entries.size() + input.Byte() % 40);
  const Vocabulary vocabulary(std::move(entries), width, std::move(stops));
  std::vector<std::string> options;
  for (std::size_t n = input.Byte() % 6; n > 0; --n) options.push_back(input.Text(9));
  const auto set = CompileOptionSet(options, vocabulary,
                                    {.allow_leading_space = input.Byte() % 2 == 1,
                                     .max_options = 5,
                                     .max_option_bytes = 8,
                                     .max_total_bytes = 60});
  if (set.has_value()) Walk(**set, vocabulary, input);
  return 0;
}
