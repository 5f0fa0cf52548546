// The second program of README.md, which a test keeps equal to it.
#include <cstdio>

#include "engine/fingerprint.h"
#include "heads/trained_head.h"

int main(int, char** argv) {  // MODEL HEAD TEXT
  auto tokenizer = adjudge::Tokenizer::Load(argv[1]);
  auto model = adjudge::Model::Load(argv[1]);
  auto file = adjudge::TrainedHead::Read(argv[2]);
  auto fingerprint = adjudge::ModelFingerprint(argv[1]);
  if (!tokenizer || !model || !file || !fingerprint) return 3;
  auto trained = std::make_shared<adjudge::TrainedHead>(*file);
  auto head = adjudge::MakeTrainedDecisionHead(trained, *model, *tokenizer, *fingerprint);
  auto session = adjudge::DecisionSession::Make(*model);
  if (!head || !session) return 1;
  const adjudge::Question question = adjudge::QuestionOf(*trained, "intent");
  auto decided = (*head)->Decide(*session, {.text = argv[3]}, {&question, 1});
  if (!decided) return 1;
  const adjudge::Answer& answer = decided->answers[0];
  const auto chosen = static_cast<std::size_t>(answer.chosen);
  std::printf("%s %.4f\n", question.options[chosen].name.c_str(), answer.probabilities[chosen]);
}
