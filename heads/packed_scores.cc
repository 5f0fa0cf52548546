#include "heads/packed_scores.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/batch.h"
#include "heads/answer.h"
#include "heads/readout/token_trie.h"

namespace adjudge {

int LongestPath(int prefix_tokens, const ContinuationSet& set) {
  std::size_t longest = 0;
  for (const std::vector<TokenId>& continuation : set.continuations) {
    longest = std::max(longest, continuation.size());
  }
  // A last token is only computed where something is read after it.
  if (set.end_ids.empty() && longest > 0) --longest;
  return prefix_tokens + static_cast<int>(set.tail.size() + longest);
}

namespace {

using Clock = std::chrono::steady_clock;

// A segment of some set's trie, or tokens that several prefixes share, with its place in the work.
struct Piece {
  std::span<const TokenId> tokens;
  const TrieSegment* segment = nullptr;  // null for a part of prefixes, where nothing is read
  std::size_t prompt = 0;                // whom its tokens are counted for
  std::size_t set = 0;                   // index into the sets of all prompts
  int parent = -1;                       // index of a piece; -1 = what all prefixes share
  std::size_t last_below = 0;            // the last piece that this one or a descendant of it is
  int n_rows = 0;
  std::vector<TokenId> ids;  // ascending: what is read at its rows
};

// A piece, or as much of a long one as one pass takes: an entry of the batch with its reads.
struct Part {
  int entry = 0;
  std::size_t piece = 0;
  std::size_t first_read = 0;
  std::size_t end_read = 0;
  int first_row = 0;  // of the segment, that is row 0 of the entry
  std::size_t n_tokens = 0;
};

std::size_t CommonLength(std::span<const TokenId> a, std::span<const TokenId> b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

class Scorer {
 public:
  Scorer(DecisionSession& session, std::span<const ScoredPrompt> prompts,
         const PackOptions& options)
      : session_(session), prompts_(prompts), options_(options), costs_(prompts.size()) {}

  Result<std::vector<PackedScores>> Run() {
    ADJUDGE_RETURN_IF_ERROR(Check());
    Plan();
    ADJUDGE_RETURN_IF_ERROR(StageRoot());
    for (std::size_t i = 0; i < pieces_.size(); ++i) ADJUDGE_RETURN_IF_ERROR(StagePiece(i));
    ADJUDGE_RETURN_IF_ERROR(Flush(pieces_.size()));
    return Collect();
  }

 private:
  struct Cost {
    Usage usage;
    Timings timings;
    int computed = 0;    // tokens
    int last_pass = -1;  // that it took part in
  };

  Status Check() const;
  Status CheckSet(int prefix_tokens, const ContinuationSet& set, const std::string& place) const;
  void Plan();
  void PlanPrefixes(std::span<const std::size_t> order, std::size_t shared, int parent);
  void PlanSets(std::size_t prompt, int parent);
  Status StageRoot();
  Status StagePiece(std::size_t i);
  Status Flush(std::size_t next);
  void Charge(std::size_t prompt, double ms);
  Status ReadPart(const Part& part, const EntryOutput& output);
  std::vector<PackedScores> Collect();

  std::string Place(std::size_t prompt, std::size_t set) const {
    const std::string place = "set " + std::to_string(set);
    return prompts_.size() == 1 ? place : "prompt " + std::to_string(prompt) + ", " + place;
  }
  const ContinuationSet& Set(std::size_t i) const { return *sets_[i]; }
  int window() const { return session_.model().config().context_length; }

  DecisionSession& session_;
  std::span<const ScoredPrompt> prompts_;
  PackOptions options_;

  std::vector<const ContinuationSet*> sets_;       // of all prompts, in the order of their pieces
  std::vector<std::size_t> first_set_;             // [prompt] its first set among them
  std::vector<std::unique_ptr<TokenTrie>> tries_;  // [set]
  std::size_t root_tokens_ = 0;                    // that all prefixes begin with
  std::vector<Piece> pieces_;
  std::vector<Sequence> sequences_;  // [piece], empty before it is staged and once it is done
  std::vector<std::vector<double>> node_logprobs_;  // [set][node]
  std::vector<std::vector<double>> node_ends_;      // [set][node]

  // The pass being staged. Declared after the sequences: what it takes back is theirs.
  Batch batch_;
  std::vector<Part> staged_;
  int staged_rows_ = 0;
  std::size_t staged_root_ = 0;  // tokens of what all prefixes share

  std::vector<Cost> costs_;  // [prompt]
  int passes_ = 0;
};

Status Scorer::CheckSet(int prefix_tokens, const ContinuationSet& set,
                        const std::string& place) const {
  const int vocab_size = session_.model().config().vocab_size;
  const auto bad_id = [&](std::span<const TokenId> ids) {
    return std::any_of(ids.begin(), ids.end(),
                       [&](TokenId id) { return id < 0 || id >= vocab_size; });
  };
  if (set.tail.empty()) return Fail(ErrorCode::kInvalidArgument, "the tail is empty", place);
  if (set.continuations.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "there is no continuation", place);
  }
  bool bad = bad_id(set.tail) || bad_id(set.end_ids);
  for (const std::vector<TokenId>& continuation : set.continuations) {
    if (continuation.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "a continuation is empty", place);
    }
    bad = bad || bad_id(continuation);
  }
  if (bad) {
    return Fail(ErrorCode::kInvalidArgument,
                "a token id is outside the vocabulary of " + std::to_string(vocab_size), place);
  }
  const int longest = LongestPath(prefix_tokens, set);
  if (longest > window()) {
    return Fail(ErrorCode::kLimit,
                "the longest path needs " + std::to_string(longest) +
                    " tokens; the model's window holds " + std::to_string(window()),
                place);
  }
  return {};
}

Status Scorer::Check() const {
  if (prompts_.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected at least 1 prompt, found 0");
  }
  for (std::size_t p = 0; p < prompts_.size(); ++p) {
    const ScoredPrompt& prompt = prompts_[p];
    if (prompt.sets.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "expected at least 1 set, found 0",
                  prompts_.size() == 1 ? "" : "prompt " + std::to_string(p));
    }
    for (std::size_t s = 0; s < prompt.sets.size(); ++s) {
      ADJUDGE_RETURN_IF_ERROR(
          CheckSet(static_cast<int>(prompt.prefix.size()), prompt.sets[s], Place(p, s)));
    }
  }
  return {};
}

void Scorer::Plan() {
  std::vector<std::size_t> order(prompts_.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto prefix = [&](std::size_t p) { return prompts_[p].prefix; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(prefix(a), prefix(b));
  });
  first_set_.resize(prompts_.size());
  root_tokens_ = CommonLength(prefix(order.front()), prefix(order.back()));
  PlanPrefixes(order, root_tokens_, -1);
  for (std::size_t i = pieces_.size(); i-- > 0;) {
    pieces_[i].last_below = std::max(pieces_[i].last_below, i);
    if (pieces_[i].parent < 0) continue;
    Piece& parent = pieces_[static_cast<std::size_t>(pieces_[i].parent)];
    parent.last_below = std::max(parent.last_below, pieces_[i].last_below);
  }
  sequences_.resize(pieces_.size());
}

// `order`: prompts sorted by their prefixes, whose first `shared` tokens are the parent's path.
void Scorer::PlanPrefixes(std::span<const std::size_t> order, std::size_t shared, int parent) {
  while (!order.empty()) {
    const std::span<const TokenId> first = prompts_[order.front()].prefix;
    std::size_t n = 1;
    std::size_t common = first.size();
    if (common == shared) {
      PlanSets(order.front(), parent);
      order = order.subspan(1);
      continue;
    }
    // In sorted order the common length only falls, so the first neighbour is the closest.
    for (; n < order.size(); ++n) {
      const std::size_t length = CommonLength(first, prompts_[order[n]].prefix);
      if (length < common && length < shared + kSharedTokens) break;
      common = length;
    }
    const int piece = static_cast<int>(pieces_.size());
    pieces_.push_back({.tokens = first.subspan(shared, common - shared),
                       .prompt = order.front(),
                       .parent = parent});
    costs_[order.front()].computed += static_cast<int>(common - shared);
    PlanPrefixes(order.first(n), common, piece);
    order = order.subspan(n);
  }
}

void Scorer::PlanSets(std::size_t prompt, int parent) {
  first_set_[prompt] = sets_.size();
  for (const ContinuationSet& set : prompts_[prompt].sets) {
    const std::size_t s = sets_.size();
    sets_.push_back(&set);
    tries_.push_back(std::make_unique<TokenTrie>(BuildTokenTrie(set)));
    const TokenTrie& trie = *tries_.back();
    node_logprobs_.emplace_back(trie.nodes.size(), 0.0);
    node_ends_.emplace_back(trie.nodes.size(), 0.0);
    const int first = static_cast<int>(pieces_.size());
    for (const TrieSegment& segment : trie.segments) {
      Piece piece{.tokens = segment.tokens, .segment = &segment, .prompt = prompt, .set = s};
      piece.parent = segment.parent < 0 ? parent : first + segment.parent;
      int last_row = -1;
      for (const TrieSegment::Read& read : segment.reads) {
        if (read.row != last_row) ++piece.n_rows;
        last_row = read.row;
        if (read.token != kNoToken) {
          piece.ids.push_back(read.token);
        } else {
          piece.ids.insert(piece.ids.end(), set.end_ids.begin(), set.end_ids.end());
        }
      }
      std::sort(piece.ids.begin(), piece.ids.end());
      piece.ids.erase(std::unique(piece.ids.begin(), piece.ids.end()), piece.ids.end());
      costs_[prompt].usage.prompt_tokens += static_cast<int>(segment.tokens.size());
      costs_[prompt].computed += static_cast<int>(segment.tokens.size());
      pieces_.push_back(std::move(piece));
    }
  }
  costs_[prompt].usage.prompt_tokens += static_cast<int>(prompts_[prompt].prefix.size());
}

Status Scorer::StageRoot() {
  const std::span<const TokenId> root = prompts_.front().prefix.first(root_tokens_);
  Sequence& kept = session_.kept();
  const std::vector<TokenId> had = kept.tokens();
  std::size_t done = CommonLength(had, root);
  ADJUDGE_RETURN_IF_ERROR(kept.Truncate(static_cast<int>(done)));
  costs_.front().computed += static_cast<int>(root.size() - done);
  while (done < root.size()) {
    const std::size_t n =
        std::min(root.size() - done, static_cast<std::size_t>(options_.max_pass_tokens));
    ADJUDGE_RETURN_IF_ERROR(batch_.Add(kept, root.subspan(done, n)));
    staged_root_ = n;
    done += n;
    if (done < root.size()) ADJUDGE_RETURN_IF_ERROR(Flush(0));
  }
  return {};
}

// What the rows of a part before segment row `end_row` are read for; fills in the part's reads.
Wants PartWants(const Piece& piece, int end_row, Part& part) {
  Wants wants;
  part.end_read = part.first_read;
  if (piece.segment == nullptr) return wants;
  while (part.end_read < piece.segment->reads.size() &&
         piece.segment->reads[part.end_read].row < end_row) {
    const int row = piece.segment->reads[part.end_read].row - part.first_row;
    if (wants.rows.empty() || wants.rows.back() != row) wants.rows.push_back(row);
    ++part.end_read;
  }
  if (!wants.rows.empty()) {
    wants.logit_ids = piece.ids;
    wants.log_sum_exp = true;
  }
  return wants;
}

Status Scorer::StagePiece(std::size_t i) {
  const Piece& piece = pieces_[i];
  const std::span<const TokenId> tokens = piece.tokens;
  const Sequence& parent =
      piece.parent < 0 ? session_.kept() : sequences_[static_cast<std::size_t>(piece.parent)];
  ADJUDGE_ASSIGN_OR_RETURN(sequences_[i], parent.Fork(parent.length()));
  std::size_t done = 0;
  std::size_t next_read = 0;
  while (done < tokens.size()) {
    const int room = options_.max_pass_tokens - batch_.n_tokens();
    // A tail longer than a pass goes in parts; anything else waits for a pass that holds it whole.
    const std::size_t rest = tokens.size() - done;
    const bool whole = rest <= static_cast<std::size_t>(std::max(room, 0)) &&
                       staged_rows_ + piece.n_rows <= options_.max_pass_rows;
    if (!whole && batch_.n_entries() > 0) {
      ADJUDGE_RETURN_IF_ERROR(Flush(i));
      continue;
    }
    const std::size_t n = std::min(rest, static_cast<std::size_t>(options_.max_pass_tokens));
    Part part{.piece = i, .first_read = next_read, .first_row = static_cast<int>(done)};
    Wants wants = PartWants(piece, static_cast<int>(done + n), part);
    const int n_rows = static_cast<int>(wants.rows.size());
    auto entry = batch_.Add(sequences_[i], tokens.subspan(done, n), std::move(wants));
    if (!entry && entry.error().code == ErrorCode::kLimit && batch_.n_entries() > 0) {
      // The cache is full of work that is staged or done: compute it and let go of what is done.
      ADJUDGE_RETURN_IF_ERROR(Flush(i));
      continue;
    }
    ADJUDGE_RETURN_IF_ERROR(entry);
    part.entry = *entry;
    part.n_tokens = n;
    staged_.push_back(part);
    staged_rows_ += n_rows;
    next_read = part.end_read;
    done += n;
    if (done < tokens.size()) ADJUDGE_RETURN_IF_ERROR(Flush(i));
  }
  return {};
}

// Computes what is staged and frees the sequences that no piece from `next` on continues.
Status Scorer::Flush(std::size_t next) {
  if (batch_.n_entries() == 0) return {};
  const auto start = Clock::now();
  batch_.CancelWith(session_.cancel());
  ADJUDGE_ASSIGN_OR_RETURN(const ForwardOutput output, session_.model().Forward(batch_));
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  const double ms_per_token = ms / batch_.n_tokens();
  session_.CountPass();
  ++passes_;
  if (staged_root_ > 0) Charge(0, static_cast<double>(staged_root_) * ms_per_token);
  for (const Part& part : staged_) {
    Charge(pieces_[part.piece].prompt, static_cast<double>(part.n_tokens) * ms_per_token);
    ADJUDGE_RETURN_IF_ERROR(ReadPart(part, output.entries[static_cast<std::size_t>(part.entry)]));
  }
  staged_root_ = 0;
  staged_.clear();
  staged_rows_ = 0;
  batch_ = Batch();
  for (std::size_t i = 0; i < next; ++i) {
    if (pieces_[i].last_below < next) sequences_[i] = Sequence();
  }
  return {};
}

void Scorer::Charge(std::size_t prompt, double ms) {
  Cost& cost = costs_[prompt];
  cost.timings.prefill_ms += ms;
  if (cost.last_pass != passes_) ++cost.usage.forward_passes;
  cost.last_pass = passes_;
}

Status Scorer::ReadPart(const Part& part, const EntryOutput& output) {
  const Piece& piece = pieces_[part.piece];
  if (piece.segment == nullptr) return {};
  const ContinuationSet& set = Set(piece.set);
  int row = -1;
  int last_row = -1;
  for (std::size_t i = part.first_read; i < part.end_read; ++i) {
    const TrieSegment::Read& read = piece.segment->reads[i];
    if (read.row != last_row) ++row;
    last_row = read.row;
    const double log_sum = output.log_sum_exp[static_cast<std::size_t>(row)];
    const auto logprob = [&](TokenId id) {
      const auto at = std::lower_bound(piece.ids.begin(), piece.ids.end(), id);
      const std::size_t column = static_cast<std::size_t>(at - piece.ids.begin());
      return static_cast<double>(
                 output.logit_ids[static_cast<std::size_t>(row) * piece.ids.size() + column]) -
             log_sum;
    };
    double value = 0;
    if (read.token != kNoToken) {
      value = node_logprobs_[piece.set][static_cast<std::size_t>(read.node)] = logprob(read.token);
    } else {
      std::vector<double> ends;
      for (const TokenId id : set.end_ids) ends.push_back(logprob(id));
      value = node_ends_[piece.set][static_cast<std::size_t>(read.node)] = LogSumExp(ends);
    }
    if (!std::isfinite(value)) {
      return Fail(ErrorCode::kNotFinite, "the model gave a logit that is not finite",
                  Place(piece.prompt, piece.set - first_set_[piece.prompt]));
    }
  }
  return {};
}

std::vector<PackedScores> Scorer::Collect() {
  std::vector<PackedScores> all;
  for (std::size_t p = 0; p < prompts_.size(); ++p) {
    Cost& cost = costs_[p];
    cost.usage.cached_tokens = cost.usage.prompt_tokens - cost.computed;
    PackedScores& scores = all.emplace_back();
    scores.usage = cost.usage;
    scores.timings = cost.timings;
    for (std::size_t s = first_set_[p]; s < first_set_[p] + prompts_[p].sets.size(); ++s) {
      const TokenTrie& trie = *tries_[s];
      ContinuationScores& out = scores.sets.emplace_back();
      for (const int terminal : trie.terminals) {
        std::vector<double>& logprobs = out.token_logprobs.emplace_back();
        for (int node = terminal; node != 0;
             node = trie.nodes[static_cast<std::size_t>(node)].parent) {
          logprobs.push_back(node_logprobs_[s][static_cast<std::size_t>(node)]);
        }
        std::reverse(logprobs.begin(), logprobs.end());
        if (!Set(s).end_ids.empty()) {
          out.end_logprobs.push_back(node_ends_[s][static_cast<std::size_t>(terminal)]);
        }
      }
    }
  }
  return all;
}

}  // namespace

Result<std::vector<PackedScores>> ScorePrompts(DecisionSession& session,
                                               std::span<const ScoredPrompt> prompts,
                                               const PackOptions& options) {
  ADJUDGE_CHECK(options.max_pass_tokens > 0 && options.max_pass_rows > 0);
  return Scorer(session, prompts, options).Run();
}

Result<PackedScores> ScorePacked(DecisionSession& session, std::span<const TokenId> prefix,
                                 std::span<const ContinuationSet> sets,
                                 const PackOptions& options) {
  const ScoredPrompt prompt{.prefix = prefix, .sets = sets};
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<PackedScores> scores,
                           ScorePrompts(session, std::span(&prompt, 1), options));
  return std::move(scores.front());
}

}  // namespace adjudge
