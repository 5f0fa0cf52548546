// A user's program: what does a token of this model spell?
#include <cstdio>

#include "engine/base/token_mask.h"
#include "engine/base/vocabulary.h"

int main() {
  const adjudge::Vocabulary vocabulary({{"a"}, {"b"}}, 32, {});
  adjudge::TokenMask mask(vocabulary.width());
  mask.set(1);
  std::printf("%d token allowed\n", mask.count());
  return mask.test(1) ? 0 : 1;
}
