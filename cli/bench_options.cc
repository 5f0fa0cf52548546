#include "cli/bench_options.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/words.h"
#include "engine/batch.h"
#include "heads/packed_scores.h"

namespace adjudge::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTailTokens = 12;      // a short question
constexpr int kMaxOptionTokens = 4;  // 2 to 4, as intents have
constexpr int kOptionsPerBeginning = 4;

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct Round {
  double trie_ms = 0;
  double plain_ms = 0;
  double cold_ms = 0;
  int tokens = 0;       // of the trie's pass, the state among them
  int cold_tokens = 0;  // of all cold passes
};

class Runner {
 public:
  Runner(const LoadedModel& loaded, const OptionsBench& bench, DecisionSession session)
      : model_(*loaded.model), bench_(bench), session_(std::move(session)), random_(bench.seed) {}

  Result<Round> Run() {
    const std::vector<TokenId> state = Tokens(bench_.state_tokens);
    const ContinuationSet set = Options();
    Round round;
    ADJUDGE_RETURN_IF_ERROR(Score(state, set, round.trie_ms, round.tokens));
    ADJUDGE_ASSIGN_OR_RETURN(round.plain_ms, Plain(round.tokens));
    for (const std::vector<TokenId>& option : set.continuations) {
      const ContinuationSet one{.tail = set.tail, .continuations = {option}};
      ADJUDGE_RETURN_IF_ERROR(Score(state, one, round.cold_ms, round.cold_tokens));
    }
    return round;
  }

  DecisionSession& session() { return session_; }

 private:
  std::vector<TokenId> Tokens(int n) {
    std::uniform_int_distribution<TokenId> pick(0, model_.config().vocab_size - 1);
    std::vector<TokenId> ids;
    for (int i = 0; i < n; ++i) ids.push_back(pick(random_));
    return ids;
  }

  ContinuationSet Options() {
    ContinuationSet set{.tail = Tokens(kTailTokens)};
    const std::vector<TokenId> beginnings = Tokens(bench_.options / kOptionsPerBeginning + 1);
    for (int i = 0; i < bench_.options; ++i) {
      std::vector<TokenId> option =
          Tokens(2 + static_cast<int>(random_() % (kMaxOptionTokens - 1)));
      option.front() = beginnings[static_cast<std::size_t>(i) % beginnings.size()];
      set.continuations.push_back(std::move(option));
    }
    return set;
  }

  Status Score(std::span<const TokenId> state, const ContinuationSet& set, double& ms,
               int& tokens) {
    session_.Forget();
    const auto start = Clock::now();
    ADJUDGE_ASSIGN_OR_RETURN(const PackedScores scores,
                             ScorePacked(session_, state, std::span(&set, 1)));
    ms += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    tokens += scores.usage.prompt_tokens;
    return {};
  }

  Result<double> Plain(int n) {
    Sequence sequence = session_.cache().NewSequence();
    const std::vector<TokenId> ids = Tokens(n);
    const auto start = Clock::now();
    Batch batch;
    batch.CancelWith(session_.cancel());
    ADJUDGE_RETURN_IF_ERROR(batch.Add(sequence, ids, Wants::LastLogits(n)));
    ADJUDGE_RETURN_IF_ERROR(model_.Forward(batch));
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  const Model& model_;
  const OptionsBench& bench_;
  DecisionSession session_;
  std::mt19937_64 random_;
};

// The median over rounds of f(round).
template <typename F>
double MedianOf(const std::vector<Round>& rounds, F f) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(f(round));
  return Median(std::move(values));
}

void Print(const LoadedModel& loaded, const OptionsBench& bench, const std::vector<Round>& rounds,
           Output& output) {
  const double trie = MedianOf(rounds, [](const Round& r) { return r.trie_ms; });
  const double plain = MedianOf(rounds, [](const Round& r) { return r.plain_ms; });
  const double cold = MedianOf(rounds, [](const Round& r) { return r.cold_ms; });
  const double over_plain = MedianOf(rounds, [](const Round& r) { return r.trie_ms / r.plain_ms; });
  const double gain = MedianOf(rounds, [](const Round& r) { return r.cold_ms / r.trie_ms; });
  const Round& last = rounds.back();
  if (bench.json) {
    output.Write(Dump({{"model", loaded.name()},
                       {"options", bench.options},
                       {"repeats", rounds.size()},
                       {"state_tokens", bench.state_tokens},
                       {"trie_pass_tokens", last.tokens},
                       {"cold_tokens", last.cold_tokens},
                       {"trie_ms", trie},
                       {"plain_ms", plain},
                       {"cold_ms", cold},
                       {"trie_over_plain", over_plain},
                       {"cold_over_trie", gain}}));
    return;
  }
  const std::string tokens = std::to_string(last.tokens);
  output.Write(std::to_string(bench.options) + " options on a state of " +
               std::to_string(bench.state_tokens) + " tokens, " + std::to_string(rounds.size()) +
               " rounds, medians\n");
  output.Write("one trie pass    " + tokens + " tokens  " + Fixed(trie, 1) + " ms\n");
  output.Write("one plain pass   " + tokens + " tokens  " + Fixed(plain, 1) + " ms, trie / plain " +
               Fixed(over_plain, 3) + "\n");
  output.Write("cold passes      " + std::to_string(last.cold_tokens) + " tokens  " +
               Fixed(cold, 1) + " ms, cold / trie " + Fixed(gain, 2) + "\n");
}

}  // namespace

Outcome<int> RunOptionsBench(const LoadedModel& loaded, const OptionsBench& bench,
                             const Interrupt& interrupt) {
  CLI_ASSIGN_OR_RETURN(DecisionSession session, DecisionSession::Make(loaded.model));
  Runner runner(loaded, bench, std::move(session));
  runner.session().CancelWith(interrupt.flag());
  std::vector<Round> rounds;
  for (int i = 0; i <= bench.repeats && !interrupt.raised(); ++i) {
    const Result<Round> round = runner.Run();
    if (!round && round.error().code == ErrorCode::kCancelled) break;
    CLI_RETURN_IF_ERROR(round);
    if (i > 0) rounds.push_back(*round);  // the first warms caches and threads
  }
  Output output;
  if (!rounds.empty()) Print(loaded, bench, rounds, output);
  output.Flush();
  if (interrupt.raised()) Say("adjudge bench: cancelled");
  return output.Finish(interrupt.raised() ? kFailed : kOk);
}

}  // namespace adjudge::cli
