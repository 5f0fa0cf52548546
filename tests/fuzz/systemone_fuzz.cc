// Any bytes as a System One request: an error with a place, or questions that pass every rule and
// can be written back.
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "heads/system_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto request = adjudge::ParseSystemOneRequest(text);
  if (!request) {
    ADJUDGE_CHECK(!request.error().message.empty());
    return 0;
  }
  ADJUDGE_CHECK(adjudge::ValidateQuestions(request->questions).has_value());
  std::vector<adjudge::Answer> answers;
  for (const adjudge::Question& question : request->questions) {
    const std::size_t n = question.options.size();
    answers.push_back(
        adjudge::MakeAnswer(question, std::vector<double>(n, 1.0 / static_cast<double>(n))));
  }
  const std::string body = adjudge::WriteSystemOneResponse(
      {.model = request->model, .questions = request->questions, .answers = answers});
  ADJUDGE_CHECK(!body.empty());
  return 0;
}
