#include "heads/packed_scores.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
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

// A segment of some set's trie with its place in the whole work.
struct Piece {
  const TrieSegment* segment = nullptr;
  std::size_t set = 0;
  int parent = -1;             // index of a piece; -1 = the prefix
  std::size_t last_below = 0;  // the last piece that this one or a descendant of it is
  int length = 0;              // of its sequence, the prefix included
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
};

class Scorer {
 public:
  Scorer(DecisionSession& session, std::span<const TokenId> prefix,
         std::span<const ContinuationSet> sets, const PackOptions& options)
      : session_(session), prefix_(prefix), sets_(sets), options_(options) {}

  Result<PackedScores> Run() {
    ADJUDGE_RETURN_IF_ERROR(Check());
    Plan();
    ADJUDGE_RETURN_IF_ERROR(StagePrefix());
    for (std::size_t i = 0; i < pieces_.size(); ++i) ADJUDGE_RETURN_IF_ERROR(StagePiece(i));
    ADJUDGE_RETURN_IF_ERROR(Flush(pieces_.size()));
    return Collect();
  }

 private:
  Status Check() const;
  void Plan();
  Status StagePrefix();
  Status StagePiece(std::size_t i);
  Status Flush(std::size_t next);
  Status ReadPart(const Part& part, const EntryOutput& output);
  Result<PackedScores> Collect();

  int window() const { return session_.model().config().context_length; }

  DecisionSession& session_;
  std::span<const TokenId> prefix_;
  std::span<const ContinuationSet> sets_;
  PackOptions options_;

  std::vector<TokenTrie> tries_;
  std::vector<Piece> pieces_;
  std::vector<Sequence> sequences_;  // [piece], empty before it is staged and once it is done
  std::vector<std::vector<double>> node_logprobs_;  // [set][node]
  std::vector<std::vector<double>> node_ends_;      // [set][node]

  // The pass being staged. Declared after the sequences: what it takes back is theirs.
  Batch batch_;
  std::vector<Part> staged_;
  int staged_rows_ = 0;

  Usage usage_;
  Timings timings_;
};

Status Scorer::Check() const {
  if (sets_.empty()) return Fail(ErrorCode::kInvalidArgument, "expected at least 1 set, found 0");
  const int vocab_size = session_.model().config().vocab_size;
  const auto bad_id = [&](std::span<const TokenId> ids) {
    return std::any_of(ids.begin(), ids.end(),
                       [&](TokenId id) { return id < 0 || id >= vocab_size; });
  };
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const ContinuationSet& set = sets_[i];
    const std::string place = "set " + std::to_string(i);
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
    const int longest = LongestPath(static_cast<int>(prefix_.size()), set);
    if (longest > window()) {
      return Fail(ErrorCode::kLimit,
                  "the longest path needs " + std::to_string(longest) +
                      " tokens; the model's window holds " + std::to_string(window()),
                  place);
    }
  }
  return {};
}

void Scorer::Plan() {
  tries_.reserve(sets_.size());
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    tries_.push_back(BuildTokenTrie(sets_[s]));
    const TokenTrie& trie = tries_.back();
    node_logprobs_.emplace_back(trie.nodes.size(), 0.0);
    node_ends_.emplace_back(trie.nodes.size(), 0.0);
    const int first = static_cast<int>(pieces_.size());
    for (const TrieSegment& segment : trie.segments) {
      Piece piece{.segment = &segment, .set = s};
      piece.parent = segment.parent < 0 ? -1 : first + segment.parent;
      const int before = piece.parent < 0 ? static_cast<int>(prefix_.size())
                                          : pieces_[static_cast<std::size_t>(piece.parent)].length;
      piece.length = before + static_cast<int>(segment.tokens.size());
      int last_row = -1;
      for (const TrieSegment::Read& read : segment.reads) {
        if (read.row != last_row) ++piece.n_rows;
        last_row = read.row;
        if (read.token != kNoToken) {
          piece.ids.push_back(read.token);
        } else {
          piece.ids.insert(piece.ids.end(), sets_[s].end_ids.begin(), sets_[s].end_ids.end());
        }
      }
      std::sort(piece.ids.begin(), piece.ids.end());
      piece.ids.erase(std::unique(piece.ids.begin(), piece.ids.end()), piece.ids.end());
      piece.last_below = pieces_.size();
      pieces_.push_back(std::move(piece));
    }
  }
  for (std::size_t i = pieces_.size(); i-- > 0;) {
    if (pieces_[i].parent < 0) continue;
    Piece& parent = pieces_[static_cast<std::size_t>(pieces_[i].parent)];
    parent.last_below = std::max(parent.last_below, pieces_[i].last_below);
  }
  sequences_.resize(pieces_.size());
}

Status Scorer::StagePrefix() {
  Sequence& kept = session_.kept();
  const std::vector<TokenId> had = kept.tokens();
  const auto differs = std::mismatch(had.begin(), had.end(), prefix_.begin(), prefix_.end());
  std::size_t done = static_cast<std::size_t>(differs.first - had.begin());
  ADJUDGE_RETURN_IF_ERROR(kept.Truncate(static_cast<int>(done)));
  usage_.prompt_tokens += static_cast<int>(prefix_.size());
  usage_.cached_tokens += static_cast<int>(done);
  while (done < prefix_.size()) {
    const std::size_t n =
        std::min(prefix_.size() - done, static_cast<std::size_t>(options_.max_pass_tokens));
    ADJUDGE_RETURN_IF_ERROR(batch_.Add(kept, prefix_.subspan(done, n)));
    done += n;
    if (done < prefix_.size()) ADJUDGE_RETURN_IF_ERROR(Flush(0));
  }
  return {};
}

// What the rows of a part before segment row `end_row` are read for; fills in the part's reads.
Wants PartWants(const Piece& piece, int end_row, Part& part) {
  Wants wants;
  part.end_read = part.first_read;
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
  const std::vector<TokenId>& tokens = piece.segment->tokens;
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
    auto entry = batch_.Add(sequences_[i], std::span(tokens).subspan(done, n), std::move(wants));
    if (!entry && entry.error().code == ErrorCode::kLimit && batch_.n_entries() > 0) {
      // The cache is full of work that is staged or done: compute it and let go of what is done.
      ADJUDGE_RETURN_IF_ERROR(Flush(i));
      continue;
    }
    ADJUDGE_RETURN_IF_ERROR(entry);
    part.entry = *entry;
    staged_.push_back(part);
    staged_rows_ += n_rows;
    next_read = part.end_read;
    done += n;
    if (done < tokens.size()) ADJUDGE_RETURN_IF_ERROR(Flush(i));
  }
  usage_.prompt_tokens += static_cast<int>(tokens.size());
  return {};
}

// Computes what is staged and frees the sequences that no piece from `next` on continues.
Status Scorer::Flush(std::size_t next) {
  if (batch_.n_entries() == 0) return {};
  const auto start = Clock::now();
  batch_.CancelWith(session_.cancel());
  ADJUDGE_ASSIGN_OR_RETURN(const ForwardOutput output, session_.model().Forward(batch_));
  timings_.prefill_ms += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  ++usage_.forward_passes;
  for (const Part& part : staged_) {
    ADJUDGE_RETURN_IF_ERROR(ReadPart(part, output.entries[static_cast<std::size_t>(part.entry)]));
  }
  staged_.clear();
  staged_rows_ = 0;
  batch_ = Batch();
  for (std::size_t i = 0; i < next; ++i) {
    if (pieces_[i].last_below < next) sequences_[i] = Sequence();
  }
  return {};
}

Status Scorer::ReadPart(const Part& part, const EntryOutput& output) {
  const Piece& piece = pieces_[part.piece];
  const ContinuationSet& set = sets_[piece.set];
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
                  "set " + std::to_string(piece.set));
    }
  }
  return {};
}

Result<PackedScores> Scorer::Collect() {
  PackedScores scores{.usage = usage_, .timings = timings_};
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    const TokenTrie& trie = tries_[s];
    ContinuationScores& out = scores.sets.emplace_back();
    for (const int terminal : trie.terminals) {
      std::vector<double>& logprobs = out.token_logprobs.emplace_back();
      for (int node = terminal; node != 0;
           node = trie.nodes[static_cast<std::size_t>(node)].parent) {
        logprobs.push_back(node_logprobs_[s][static_cast<std::size_t>(node)]);
      }
      std::reverse(logprobs.begin(), logprobs.end());
      if (!sets_[s].end_ids.empty()) {
        out.end_logprobs.push_back(node_ends_[s][static_cast<std::size_t>(terminal)]);
      }
    }
  }
  return scores;
}

}  // namespace

Result<PackedScores> ScorePacked(DecisionSession& session, std::span<const TokenId> prefix,
                                 std::span<const ContinuationSet> sets,
                                 const PackOptions& options) {
  ADJUDGE_CHECK(options.max_pass_tokens > 0 && options.max_pass_rows > 0);
  return Scorer(session, prefix, sets, options).Run();
}

}  // namespace adjudge
