// One model, resident, that is asked for single measurements: adjudge's side of bench/peers/run.
//
//   measure_adjudge FILE THREADS PRECISION
//
// Says {"load_seconds", "weight_bytes", "threads"} once, then answers each line of standard input
// with one line: {"seconds": [one for each repeat]}, {"logits": [...]} or {"error": "..."}. Other
// programs measure the same operations behind the same lines (measure_*.py), so that the caller can
// interleave them.
//
//   {"op": "prefill", "tokens": 128}                     a fresh prompt in one pass, last logits
//   {"op": "decode", "tokens": 32, "context": 128}       greedy steps after a kept context
//   {"op": "questions", "way": "packed", "state": 128, "questions": 16, "tokens": 12}
//       packed: the state and a fork for each question in one pass, all cold
//       kept:   a pass for each question on a kept state
//       cold:   a pass for each question with the state before it
//       plain:  one pass over as many tokens as packed computes
//   {"op": "generate", "kept": 0, "tokens": 128, "steps": 29}   one pass, then greedy steps
//   {"op": "logits", "ids": [...], "of": [...]}          logits of some ids after the given ones
// "repeats" (1) runs an operation several times.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "engine/model.h"

namespace adjudge {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Measurer {
 public:
  Measurer(const Model& model, KvCache& cache) : model_(model), cache_(cache) {}

  Result<Json> Answer(const Json& request) {
    const std::string op = request.at("op");
    if (op == "logits") return Logits(request.at("ids"), request.at("of"));
    Json seconds = Json::array();
    for (int i = request.value("repeats", 1); i > 0; --i) {
      ADJUDGE_ASSIGN_OR_RETURN(const double once, Once(op, request));
      seconds.push_back(once);
    }
    return Json{{"seconds", seconds}};
  }

 private:
  Result<double> Once(const std::string& op, const Json& request) {
    ADJUDGE_ASSIGN_OR_RETURN(const int tokens, Count(request, "tokens", 1));
    if (op == "prefill") return Generate(0, tokens, 0);
    if (op == "decode") {
      ADJUDGE_ASSIGN_OR_RETURN(const int context, Count(request, "context", 0));
      return Decode(context, tokens);
    }
    if (op == "generate") {
      ADJUDGE_ASSIGN_OR_RETURN(const int kept, Count(request, "kept", 0));
      ADJUDGE_ASSIGN_OR_RETURN(const int steps, Count(request, "steps", 0));
      return Generate(kept, tokens, steps);
    }
    if (op == "questions") {
      const std::string way = request.at("way");
      ADJUDGE_ASSIGN_OR_RETURN(const int state, Count(request, "state", 1));
      ADJUDGE_ASSIGN_OR_RETURN(const int questions, Count(request, "questions", 1));
      if (way == "packed") return Packed(state, questions, tokens);
      if (way == "plain") return Generate(0, state + questions * tokens, 0);
      if (way == "kept" || way == "cold") return OneByOne(way == "kept", state, questions, tokens);
    }
    return Fail(ErrorCode::kInvalidArgument, "no such operation: " + request.dump());
  }

  static Result<int> Count(const Json& request, const char* key, int least) {
    constexpr int kMost = 1 << 15;  // no product of two overflows
    const auto n = request.at(key).get<std::int64_t>();
    if (n >= least && n <= kMost) return static_cast<int>(n);
    return Fail(ErrorCode::kLimit, std::string(key) + " is " + std::to_string(least) + " to " +
                                       std::to_string(kMost) + ", not " + std::to_string(n));
  }

  // Seconds of one pass over fresh tokens after `kept` ones, and of `steps` greedy steps after it.
  Result<double> Generate(int kept, int tokens, int steps) {
    ADJUDGE_ASSIGN_OR_RETURN(Sequence sequence, After(kept));
    const std::vector<TokenId> ids = Fresh(tokens);
    const auto start = Clock::now();
    ADJUDGE_ASSIGN_OR_RETURN(const TokenId first, Pass(sequence, ids));
    ADJUDGE_RETURN_IF_ERROR(Steps(sequence, first, steps));
    return SecondsSince(start);
  }

  Result<double> Decode(int context, int steps) {
    ADJUDGE_ASSIGN_OR_RETURN(Sequence sequence, After(context));
    const TokenId first = Fresh(1).front();
    const auto start = Clock::now();
    ADJUDGE_RETURN_IF_ERROR(Steps(sequence, first, steps));
    return SecondsSince(start);
  }

  Result<double> Packed(int state, int questions, int tokens) {
    const std::vector<TokenId> state_ids = Fresh(state);
    const std::vector<TokenId> ids = Fresh(questions * tokens);
    Sequence sequence = cache_.NewSequence();
    std::vector<Sequence> forks;
    const auto start = Clock::now();
    Batch batch;
    ADJUDGE_RETURN_IF_ERROR(batch.Add(sequence, state_ids));
    for (int i = 0; i < questions; ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(forks.emplace_back(), sequence.Fork(state));
      ADJUDGE_RETURN_IF_ERROR(
          batch.Add(forks.back(), Part(ids, i, tokens), Wants::LastLogits(tokens)));
    }
    ADJUDGE_RETURN_IF_ERROR(model_.Forward(batch));
    return SecondsSince(start);
  }

  Result<double> OneByOne(bool kept, int state, int questions, int tokens) {
    const std::vector<TokenId> state_ids = Fresh(state);
    const std::vector<TokenId> ids = Fresh(questions * tokens);
    double seconds = 0;
    for (int i = 0; i < questions; ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(Sequence sequence, After(kept ? state : 0));
      std::vector<TokenId> prompt = kept ? std::vector<TokenId>() : state_ids;
      const auto part = Part(ids, i, tokens);
      prompt.insert(prompt.end(), part.begin(), part.end());
      const auto start = Clock::now();
      ADJUDGE_RETURN_IF_ERROR(Pass(sequence, prompt));
      seconds += SecondsSince(start);
    }
    return seconds;
  }

  Result<Json> Logits(const std::vector<TokenId>& ids, const std::vector<TokenId>& of) {
    Sequence sequence = cache_.NewSequence();
    Batch batch;
    const int last = static_cast<int>(ids.size()) - 1;
    ADJUDGE_RETURN_IF_ERROR(batch.Add(sequence, ids, {.rows = {last}, .logit_ids = of}));
    ADJUDGE_ASSIGN_OR_RETURN(const ForwardOutput output, model_.Forward(batch));
    return Json{{"logits", output.entries.front().logit_ids}};
  }

  Status Steps(Sequence& sequence, TokenId token, int steps) {
    for (int i = 0; i < steps; ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(token, Pass(sequence, std::span(&token, 1)));
    }
    return {};
  }

  // The likeliest token after the given ones.
  Result<TokenId> Pass(Sequence& sequence, std::span<const TokenId> ids) {
    Batch batch;
    ADJUDGE_RETURN_IF_ERROR(
        batch.Add(sequence, ids, Wants::LastLogits(static_cast<int>(ids.size()))));
    ADJUDGE_ASSIGN_OR_RETURN(const ForwardOutput output, model_.Forward(batch));
    const std::vector<float>& logits = output.entries.front().logits;
    return static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
  }

  // A sequence that sees n tokens computed before, or an empty one.
  Result<Sequence> After(int n) {
    if (n == 0) return cache_.NewSequence();
    auto found = kept_.find(n);
    if (found == kept_.end()) {
      Sequence sequence = cache_.NewSequence();
      ADJUDGE_RETURN_IF_ERROR(Pass(sequence, Fresh(n)));
      found = kept_.emplace(n, std::move(sequence)).first;
    }
    return found->second.Fork(n);
  }

  std::vector<TokenId> Fresh(int n) {
    std::vector<TokenId> ids(static_cast<std::size_t>(n));
    std::uniform_int_distribution<TokenId> pick(0, model_.config().vocab_size - 1);
    for (TokenId& id : ids) id = pick(random_);
    return ids;
  }

  static std::span<const TokenId> Part(const std::vector<TokenId>& ids, int i, int tokens) {
    return std::span(ids).subspan(static_cast<std::size_t>(i * tokens),
                                  static_cast<std::size_t>(tokens));
  }

  const Model& model_;
  KvCache& cache_;
  std::mt19937_64 random_{1};
  std::map<int, Sequence> kept_;  // by length
};

void Say(const Json& line) { std::cout << line.dump() << std::endl; }

int Run(const std::string& file, int threads, std::string_view precision) {
  const auto parsed = ParsePrecision(precision);
  if (!parsed) return Say({{"error", ToString(parsed.error())}}), 1;
  const auto start = Clock::now();
  const auto model = Model::Load(file, {.threads = threads, .precision = *parsed});
  if (!model) return Say({{"error", ToString(model.error())}}), 1;
  const auto cache = (*model)->NewCache();
  if (!cache) return Say({{"error", ToString(cache.error())}}), 1;
  Say({{"load_seconds", SecondsSince(start)},
       {"weight_bytes", (*model)->weight_bytes()},
       {"threads", (*model)->n_threads()}});
  Measurer measurer(**model, **cache);
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!request.is_object()) {
      Say({{"error", "not an object: " + line}});
      continue;
    }
    try {
      const auto answer = measurer.Answer(request);
      Say(answer ? *answer : Json{{"error", ToString(answer.error())}});
    } catch (const Json::exception& error) {  // a key that is absent or of another type
      Say({{"error", error.what()}});
    }
  }
  return 0;
}

}  // namespace
}  // namespace adjudge

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: measure_adjudge FILE THREADS PRECISION\n";
    return 2;
  }
  return adjudge::Run(argv[1], std::atoi(argv[2]), argv[3]);
}
