// The System One wire format: a request of typed questions on one state, and its answer body.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/cost.h"
#include "heads/answer.h"
#include "heads/explain.h"
#include "heads/question.h"

namespace adjudge {

struct SystemOneLimits {
  std::size_t max_bytes = 16 << 20;    // of the request text
  int max_depth = 64;                  // of arrays and objects, the request itself being the first
  std::size_t max_values = 1'000'000;  // JSON values of every kind
  QuestionLimits questions;
};

struct SystemOneRequest {
  std::string model;  // as sent; empty when absent
  Entry state;
  std::vector<Question> questions;  // in the order of the text
};

// Beside the format's own types there is our "x_select": criteria as a choice's, and how many
// options the answer must ("min") and may ("max") hold.
//
// Reads {"model", "state", "questions": {id: {"type", "instructions", "criteria"}}}. Unknown
// top-level keys are ignored; everything else that is not in the format is refused: null or scalar
// state, a null or number as level, a list as a choice's criteria, a map as a score's, an unknown
// type, a key twice in any object (an option listed twice among them), invalid UTF-8. The error's
// place is the JSON pointer, for example "/questions/mood/criteria/2". Unknown keys of a question
// are ignored, as other servers do.
Result<SystemOneRequest> ParseSystemOneRequest(std::string_view json_text,
                                               const SystemOneLimits& limits = {});

// Fingerprints of what answered (engine/fingerprint.h): in every answer of "x_answers" as "audit",
// with one of the label tokens beside them.
struct Audit {
  std::string model;          // of its file
  std::string chat_template;  // of the template's text; empty for a plain prompt
  std::string head;           // of a trained head with its calibration; else empty
};

struct SystemOneResponse {
  std::string model;
  std::span<const Question> questions;
  std::span<const Answer> answers;  // one for each question, in their order
  Usage usage;
  Timings timings;
  // Of each question, or none: "x_explanations" {id: {unit, option, parts}} with parts of the
  // state.
  std::string_view state;
  std::span<const Explanation> explanations;
  std::optional<Audit> audit;
};

// The answer body: "model", "answers", "usage" {"input_tokens", "output_tokens"}; unless `strict`
// also "x_answers" {id: {head, label_mass, ...}} and "x_cost" (the keys of usage and of timings in
// milliseconds). Numbers have full precision and are finite; names and levels come back byte for
// byte, in order. REQUIRES: answers made for these questions, whose text is valid UTF-8.
std::string WriteSystemOneResponse(const SystemOneResponse& response, bool strict = false);

// The body of "x_cost": the keys of usage, then load, prefill and decode in milliseconds.
std::string CostJson(const Usage& usage, const Timings& timings);

}  // namespace adjudge
