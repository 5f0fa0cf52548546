// bench: tokens per second of prefill and decode, apart.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "cli/bench_options.h"
#include "cli/interrupt.h"
#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "cli/words.h"

namespace adjudge::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxRepeats = 10'000;

struct Arguments {
  ModelArguments model;
  std::vector<int> prompts = {128, 512};
  int decode = 32;
  int depth = 128;
  int repeats = 5;
  int options = 0;  // of the other measurement; 0 = this one
  std::uint64_t seed = 1;
  bool json = false;
};

struct Measured {
  std::string what;
  int tokens = 0;
  std::vector<double> tokens_per_second;  // one for each repeat, ascending once sorted
};

double Median(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

// Bytes a second that this many threads read together, the best of three: what bounds decoding.
double MeasureRead(int threads) {
  constexpr std::size_t kWords = 16 << 20;  // 128 MB, read by parts
  const std::vector<std::uint64_t> data(kWords, 1);
  std::atomic<std::uint64_t> total{0};
  const auto read = [&](std::size_t part) {
    const std::size_t each = kWords / static_cast<std::size_t>(threads);
    std::uint64_t sums[8] = {};
    for (std::size_t i = part * each; i + 8 <= (part + 1) * each; i += 8) {
      for (std::size_t j = 0; j < 8; ++j) sums[j] += data[i + j];
    }
    for (const std::uint64_t sum : sums) total += sum;
  };
  double best = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto start = Clock::now();
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(read, static_cast<std::size_t>(t));
    read(0);
    for (std::thread& other : others) other.join();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, 8.0 * static_cast<double>(kWords) / seconds);
  }
  return best;
}

// Multiplications and additions of a token's products with the layers' weights.
double OperationsPerToken(const ModelConfig& c) {
  const double dim = c.dim;
  const double layer = dim * (2.0 * c.q_dim() + 2.0 * c.kv_dim() + 3.0 * c.hidden_dim);
  return 2.0 * layer * c.n_layers;
}

class Bench {
 public:
  Bench(const Model& model, KvCache& cache, std::uint64_t seed, const std::atomic<bool>* cancel)
      : model_(model), cache_(cache), random_(seed), cancel_(cancel) {}

  // Seconds to compute a fresh prompt of n random tokens.
  Result<double> Prefill(int n) {
    Sequence sequence = cache_.NewSequence();
    return Feed(sequence, n, n);
  }

  // Seconds to compute n tokens one by one after `depth` others.
  Result<double> Decode(int n, int depth) {
    Sequence sequence = cache_.NewSequence();
    ADJUDGE_RETURN_IF_ERROR(Feed(sequence, depth, depth));
    return Feed(sequence, n, 1);
  }

 private:
  Result<double> Feed(Sequence& sequence, int n, int chunk) {
    std::vector<TokenId> ids(static_cast<std::size_t>(n));
    std::uniform_int_distribution<TokenId> pick(0, model_.config().vocab_size - 1);
    for (TokenId& id : ids) id = pick(random_);
    const auto start = Clock::now();
    for (int at = 0; at < n; at += chunk) {
      const int count = std::min(chunk, n - at);
      const bool wanted = chunk == 1 || at + count == n;
      Batch batch;
      batch.CancelWith(cancel_);
      ADJUDGE_RETURN_IF_ERROR(batch.Add(
          sequence,
          std::span(ids).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count)),
          wanted ? Wants::LastLogits(count) : Wants::None()));
      ADJUDGE_RETURN_IF_ERROR(model_.Forward(batch));
    }
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  const Model& model_;
  KvCache& cache_;
  std::mt19937_64 random_;
  const std::atomic<bool>* cancel_;
};

Json ToJson(const Measured& row) {
  return {{"what", row.what},
          {"tokens", row.tokens},
          {"repeats", row.tokens_per_second.size()},
          {"tokens_per_second",
           {{"min", row.tokens_per_second.front()},
            {"median", Median(row.tokens_per_second)},
            {"max", row.tokens_per_second.back()}}}};
}

std::string ToLine(const Measured& row) {
  char line[128];
  std::snprintf(line, sizeof line, "%-8s %6d  %10.1f %10.1f %10.1f\n", row.what.c_str(), row.tokens,
                row.tokens_per_second.front(), Median(row.tokens_per_second),
                row.tokens_per_second.back());
  return line;
}

// "5 repeats", or after a cancellation "2 to 3 repeats" or "no repeats".
std::string RepeatWords(const std::vector<Measured>& rows) {
  if (rows.empty()) return "no repeats";
  const auto [least, most] = std::ranges::minmax(
      rows, {}, [](const Measured& row) { return row.tokens_per_second.size(); });
  const std::size_t low = least.tokens_per_second.size();
  const std::size_t high = most.tokens_per_second.size();
  return (low == high ? "" : std::to_string(low) + " to ") + std::to_string(high) +
         (high == 1 ? " repeat" : " repeats");
}

Status CheckFits(const Arguments& arguments, const Model& model) {
  const int context = model.config().context_length;
  int longest = arguments.decode > 0 ? arguments.depth + arguments.decode : 0;
  for (const int n : arguments.prompts) longest = std::max(longest, n);
  if (longest <= context) return {};
  return Fail(ErrorCode::kLimit, "the model's window has " + std::to_string(context) +
                                     " tokens, the longest run needs " + std::to_string(longest));
}

// Every repeat of every row by turns, so that a slow minute of the machine falls on all of them.
Outcome<std::vector<Measured>> MeasureAll(const Arguments& arguments, Bench& bench,
                                          const Interrupt& interrupt) {
  std::vector<Measured> rows;
  for (const int n : arguments.prompts) rows.push_back({"prefill", n, {}});
  if (arguments.decode > 0) rows.push_back({"decode", arguments.decode, {}});
  const auto measure = [&](const Measured& row) {
    return row.what == "prefill" ? bench.Prefill(row.tokens)
                                 : bench.Decode(row.tokens, arguments.depth);
  };
  Progress progress("bench", static_cast<std::int64_t>(rows.size()) * arguments.repeats,
                    arguments.model.quiet, std::chrono::seconds(2));
  // Warms caches and threads; not counted.
  if (const auto warm = measure(rows.back()); !warm && !interrupt.raised()) {
    return tl::unexpected<Failure>(warm.error());
  }
  std::int64_t done = 0;
  for (int repeat = 0; repeat < arguments.repeats && !interrupt.raised(); ++repeat) {
    for (Measured& row : rows) {
      if (interrupt.raised()) break;
      const Result<double> seconds = measure(row);
      if (!seconds && seconds.error().code == ErrorCode::kCancelled) break;
      CLI_RETURN_IF_ERROR(seconds);
      row.tokens_per_second.push_back(row.tokens / std::max(*seconds, 1e-9));
      progress.Update(++done);
    }
  }
  std::erase_if(rows, [](const Measured& row) { return row.tokens_per_second.empty(); });
  for (Measured& row : rows) std::ranges::sort(row.tokens_per_second);
  return rows;
}

Outcome<int> Run(const Arguments& arguments) {
  if (arguments.prompts.empty() && arguments.decode == 0) {
    return UsageFailure("nothing to measure: give --prompt-tokens or --decode-tokens");
  }
  CLI_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModelAlone(arguments.model));
  if (arguments.options > 0) {
    const Interrupt interrupt;
    return RunOptionsBench(loaded,
                           {.options = arguments.options,
                            .repeats = arguments.repeats,
                            .seed = arguments.seed,
                            .json = arguments.json},
                           interrupt);
  }
  CLI_RETURN_IF_ERROR(OrExit(CheckFits(arguments, *loaded.model).map([] { return true; }), kUsage));
  CLI_ASSIGN_OR_RETURN(const std::shared_ptr<KvCache> cache, loaded.model->NewCache());
  const Interrupt interrupt;
  Bench bench(*loaded.model, *cache, arguments.seed, interrupt.flag());
  CLI_ASSIGN_OR_RETURN(const std::vector<Measured> rows, MeasureAll(arguments, bench, interrupt));

  const bool decodes = !rows.empty() && rows.back().what == "decode";
  const double read = decodes ? MeasureRead(loaded.model->n_threads()) : 0;
  const double operations = OperationsPerToken(loaded.model->config());
  // Of a decoded token the weights are read once; of the embedding, where it is apart, one row.
  const auto weights = static_cast<double>(loaded.model->weight_bytes());

  Output output;
  if (arguments.json) {
    Json json = {{"model", loaded.name()},
                 {"backend", loaded.model->backend_name()},
                 {"threads", loaded.model->n_threads()},
                 {"cancelled", interrupt.raised()},
                 {"precision", ToString(loaded.precision)},
                 {"weight_bytes", loaded.model->weight_bytes()},
                 {"load_ms", loaded.load_ms},
                 {"decode_depth", arguments.depth},
                 {"seed", arguments.seed},
                 {"rows", Json::array()}};
    for (const Measured& row : rows) {
      Json one = ToJson(row);
      const double median = Median(row.tokens_per_second);
      if (row.what == "decode") {
        one["share_of_read_bandwidth"] = median * weights / read;
      } else {
        one["operations_per_second"] = median * operations;
      }
      json["rows"].push_back(std::move(one));
    }
    if (decodes) json["read_bytes_per_second"] = read;
    output.Write(Dump(json));
  } else {
    output.Write(loaded.name() + ", backend " + std::string(loaded.model->backend_name()) +
                 ", precision " + std::string(ToString(loaded.precision)) + ", weights " +
                 ByteWords(static_cast<double>(loaded.model->weight_bytes())) + ", load " +
                 Fixed(loaded.load_ms, 0) + " ms\n");
    output.Write("tokens/s          n         min     median        max\n");
    for (const Measured& row : rows) {
      output.Write(ToLine(row));
      if (row.what != "prefill") continue;
      output.Write("                 products of the layers: " +
                   Fixed(Median(row.tokens_per_second) * operations / 1e9, 0) + " G/s\n");
    }
    if (decodes) {
      const double bytes = Median(rows.back().tokens_per_second) * weights;
      output.Write("                 weights read: " + Fixed(bytes / 1e9, 1) + " GB/s, " +
                   Fixed(100 * bytes / read, 0) + " % of the " + Fixed(read / 1e9, 1) +
                   " GB/s that plain reading reaches (more where the last cache keeps them)\n");
    }
    output.Write(
        "prefill: n random tokens into an empty sequence; decode: n tokens one by one after " +
        std::to_string(arguments.depth) + "; " + RepeatWords(rows) + "\n");
  }
  output.Flush();
  if (interrupt.raised()) Say("adjudge bench: cancelled");
  return output.Finish(interrupt.raised() ? kFailed : kOk);
}

}  // namespace

void AddBench(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("bench", "Measure prefill and decode speed");
  AddModelOptions(*verb, arguments->model);
  verb->add_option("-p,--prompt-tokens", arguments->prompts, "prompt lengths, 128,512")
      ->delimiter(',')
      ->transform(WholeNumber(1, 1 << 30))
      ->type_name("LIST")
      ->capture_default_str();
  verb->add_option("-n,--decode-tokens", arguments->decode, "tokens decoded one by one; 0 = none")
      ->transform(WholeNumber(0, 1 << 30))
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("-d,--depth", arguments->depth, "tokens before the decoded ones")
      ->transform(WholeNumber(1, 1 << 30))
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("-r,--repeats", arguments->repeats, "times each is measured")
      ->transform(WholeNumber(1, kMaxRepeats))
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--options", arguments->options,
                   "instead: so many options scored on one state, as one trie, beside a plain pass "
                   "of as many tokens and cold passes")
      ->transform(WholeNumber(1, 1024))
      ->type_name("N");
  verb->add_option("--seed", arguments->seed, "of the random tokens")
      ->transform(SeedNumber())
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "one JSON object");
  verb->footer(
      "Every measurement computes fresh random tokens, so nothing is reused.\n\n"
      "Example:\n"
      "  adjudge bench -p 128,512 -n 32 --threads 2");
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace adjudge::cli
