// The program of README.md, which a test keeps equal to it.
#include <cstdio>

#include "engine/model.h"
#include "engine/tokenizer.h"

int main(int, char** argv) {
  auto tokenizer = adjudge::Tokenizer::Load(argv[1]);
  auto model = adjudge::Model::Load(argv[1]);
  if (!tokenizer || !model) return 3;
  auto ids = (*tokenizer)->Encode("The capital of France is");
  auto cache = (*model)->NewCache();
  adjudge::Sequence sequence = (*cache)->NewSequence();
  adjudge::Batch batch;
  const int n = static_cast<int>(ids->size());
  if (!batch.Add(sequence, *ids, adjudge::Wants::LastLogits(n))) return 1;
  auto output = (*model)->Forward(batch);
  std::printf("%zu logits\n", output->entries[0].logits.size());
}
