// Any bytes as a vocabulary, a constraint and a walk: masks, Accept, Rollback and Fork agree.
#include <cstdint>
#include <string>
#include <vector>

#include "constraints/compiler.h"
#include "engine/base/check.h"
#include "tests/fuzz/fuzz_input.h"

namespace adjudge {
namespace {

ConstraintSpec Spec(FuzzInput& input, int depth) {
  switch (input.Byte() % (depth > 2 ? 3 : 7)) {
    case 0:
      return ConstraintSpec::Regex(input.Text(20));
    case 1:
      return ConstraintSpec::Grammar("root ::= " + input.Text(24));
    case 2:
      return ConstraintSpec::Choice({input.Text(5), input.Text(5)});
    case 3:
      return ConstraintSpec::Union({Spec(input, depth + 1), Spec(input, depth + 1)});
    case 4:
      return ConstraintSpec::Sequence({Spec(input, depth + 1), Spec(input, depth + 1)});
    case 5:
      return ConstraintSpec::Intersection({Spec(input, depth + 1), Spec(input, depth + 1)});
    default:
      return ConstraintSpec::Tags({{input.Text(3), Spec(input, depth + 1), input.Text(3)}});
  }
}

void Walk(const CompiledConstraint& constraint, const Vocabulary& vocabulary, FuzzInput& input) {
  auto matcher = constraint.NewMatcher();
  TokenMask mask(vocabulary.width());
  std::vector<TokenMask> before;
  for (int step = 0; step < 32 && !input.empty(); ++step) {
    if (!matcher->FillMask(mask)) return;
    ADJUDGE_CHECK(!mask.none() || matcher->IsDone());
    const std::size_t choice = input.Byte();
    if (choice == 255 && !before.empty()) {
      const std::size_t n = 1 + input.Byte() % before.size();
      matcher->Rollback(static_cast<int>(n));
      if (!matcher->FillMask(mask)) return;
      ADJUDGE_CHECK(mask == before[before.size() - n]);
      before.resize(before.size() - n);
      continue;
    }
    if (choice == 254) matcher = matcher->Fork();
    // The next allowed token from `choice` on, so that walks go on.
    auto id = static_cast<TokenId>(choice % static_cast<std::size_t>(vocabulary.width()));
    const bool accepted = matcher->Accept(id);
    if (!matcher->status()) return;
    ADJUDGE_CHECK(accepted == mask.test(id));
    if (!accepted && mask.first() != kNoToken) {
      id = mask.first();
      const bool first = matcher->Accept(id);
      ADJUDGE_CHECK(first || !matcher->status());
      if (!first) return;
    } else if (!accepted) {
      return;
    }
    before.push_back(mask);
  }
}

}  // namespace
}  // namespace adjudge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace adjudge;
  FuzzInput input(data, size);
  std::vector<Vocabulary::Entry> entries;
  for (int byte = 0; byte < 256; ++byte)
    entries.push_back({std::string(1, static_cast<char>(byte))});
  for (std::size_t n = input.Byte() % 24; n > 0; --n) {
    entries.push_back(
        {input.Text(6), static_cast<TokenKind>(input.Byte() % 16 < 11 ? 0 : input.Byte() % 6)});
  }
  entries.push_back({"<end>", TokenKind::kControl});
  const auto stop = static_cast<TokenId>(entries.size() - 1);
  const int width = static_cast<int>(entries.size() + input.Byte() % 40);
  const Vocabulary vocabulary(std::move(entries), width, {stop});
  const ConstraintCompiler compiler(vocabulary, {.tokenize = nullptr, .cache_bytes = 0});
  SpecLimits limits;
  limits.constraint.work = 1'000'000;
  limits.regex.max_repeat = 1000;
  limits.grammar.max_repeat = 1000;
  const auto constraint = compiler.Compile(Spec(input, 0), limits);
  if (constraint) Walk(**constraint, vocabulary, input);
  return 0;
}
