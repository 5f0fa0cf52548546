#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/check.h"
#include "engine/batch.h"
#include "heads/json/json_value.h"
#include "heads/pointer_head.h"
#include "heads/prompt/question_text.h"

namespace adjudge {
namespace {

using Clock = std::chrono::steady_clock;

// "<|name|>" in user text reads as "<¦name¦>", so that it does not even look like a marker.
std::string WithoutMarkers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = text.substr(i).starts_with("<|");
    const std::size_t end = opens ? text.find("|>", i + 2) : std::string_view::npos;
    const bool is_name =
        end != std::string_view::npos && end > i + 2 &&
        text.substr(i + 2, end - i - 2).find_first_of(" \n<|>") == std::string_view::npos;
    if (!is_name) {
      out += text[i];
      continue;
    }
    out += "<\xc2\xa6" + std::string(text.substr(i + 2, end - i - 2)) + "\xc2\xa6>";
    i = end + 1;
  }
  return out;
}

struct MarkIds {
  TokenId state, question, option_begin, option_end, decide;
};

Result<MarkIds> FindMarks(const Tokenizer& tokenizer, const PointerMarks& marks) {
  MarkIds ids{};
  const std::pair<const std::string*, TokenId*> all[] = {{&marks.state, &ids.state},
                                                         {&marks.question, &ids.question},
                                                         {&marks.option_begin, &ids.option_begin},
                                                         {&marks.option_end, &ids.option_end},
                                                         {&marks.decide, &ids.decide}};
  for (const auto& [name, id] : all) {
    const auto found = tokenizer.FindSpecial(*name);
    if (!found) {
      return Fail(ErrorCode::kUnsupported,
                  "the vocabulary has no token " + *name + ", a marker of this pointer head",
                  "marks");
    }
    *id = *found;
  }
  return ids;
}

// The text of an option: a choice's name and description, a level's text, no and yes.
std::string OptionText(const Question& question, std::size_t i) {
  const Option& option = question.options[i];
  if (question.type == QuestionType::kScore) return SpokenName(question, i);
  std::string text = question.type == QuestionType::kNoul ? (i == 0 ? "no" : "yes") : option.name;
  if (option.description && !option.description->text.empty()) {
    text += ": " + option.description->text;
  }
  return text;
}

// One question in tokens.
struct Row {
  std::vector<TokenId> question;              // marker and instructions
  std::vector<std::vector<TokenId>> options;  // begin, text, end
  std::vector<std::size_t> order;             // of the options by their tokens
  int longest = 0;
  int n_tokens = 0;  // all, with the decide token
};

// Questions that ride in one pass, and where their rows are.
struct Staged {
  std::size_t question = 0;
  int decide = 0;
  int decide_row = 0;
  std::vector<std::pair<int, int>> options;  // [option] entry and row of it
};

class Reading {
 public:
  Reading(DecisionSession& session, const Tokenizer& tokenizer, const MarkIds& marks, bool isolated,
          const PackOptions& pack)
      : session_(session), tokenizer_(tokenizer), marks_(marks), isolated_(isolated), pack_(pack) {}

  Result<PointerReading> Run(const Entry& state, std::span<const Question> questions) {
    ADJUDGE_RETURN_IF_ERROR(Encode(state, questions));
    out_.rows.resize(questions.size());
    ADJUDGE_RETURN_IF_ERROR(StageState());
    for (std::size_t q = 0; q < rows_.size(); ++q) {
      if (IsFull(rows_[q])) ADJUDGE_RETURN_IF_ERROR(Flush());
      ADJUDGE_RETURN_IF_ERROR(StageQuestion(q));
    }
    ADJUDGE_RETURN_IF_ERROR(Flush());
    return std::move(out_);
  }

 private:
  std::size_t RowCount() const {
    std::size_t n = 0;
    for (const Staged& staged : staged_) n += staged.options.size() + 1;
    return n;
  }

  // The question goes in a pass of its own: too many tokens, rows, or no room in the cache.
  bool IsFull(const Row& row) const {
    if (staged_.empty()) return false;
    // Every sequence may begin a block of its own.
    const auto blocks = static_cast<std::int64_t>(row.options.size() + 3) * KvCache::kBlockTokens;
    return batch_.n_tokens() + row.n_tokens > pack_.max_pass_tokens ||
           RowCount() + row.options.size() >= static_cast<std::size_t>(pack_.max_pass_rows) ||
           session_.cache().free_tokens() < row.n_tokens + blocks;
  }

  Result<std::vector<TokenId>> Words(std::string_view text) const {
    const std::vector<TextSpan> spans = {{.text = WithoutMarkers(text), .trusted = false}};
    if (text.empty()) return std::vector<TokenId>();
    return tokenizer_.EncodeSpans(spans, {.starts_text = false});
  }

  Status Encode(const Entry& state, std::span<const Question> questions) {
    ADJUDGE_RETURN_IF_ERROR(CheckBytes(state.text));
    auto words = Words(state.text);
    if (!words) {
      words.error().place = "/state";
      return tl::unexpected<Error>(std::move(words).error());
    }
    state_ = std::move(*words);
    state_.insert(state_.begin(), marks_.state);
    for (const Question& question : questions) {
      auto row = EncodeQuestion(question);
      if (!row) {
        row.error().place = JsonPointer("/questions", question.id);
        return tl::unexpected<Error>(std::move(row).error());
      }
      rows_.push_back(std::move(*row));
    }
    return {};
  }

  // Cheaper than tokenising a hundred megabytes to learn the same.
  Status CheckBytes(std::string_view text) const {
    const Vocabulary& vocabulary = tokenizer_.vocabulary();
    std::size_t longest = 1;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      longest = std::max(longest, vocabulary.bytes(id).size());
    }
    const int window = session_.model().config().context_length;
    if (text.size() / longest <= static_cast<std::size_t>(window)) return {};
    return Fail(ErrorCode::kLimit,
                "the state has " + std::to_string(text.size()) + " bytes, at least " +
                    std::to_string(text.size() / longest) + " tokens; the model's window holds " +
                    std::to_string(window),
                "/state");
  }

  Result<Row> EncodeQuestion(const Question& question) const {
    Row row;
    ADJUDGE_ASSIGN_OR_RETURN(
        row.question, Words(question.instructions ? question.instructions->text : std::string()));
    row.question.insert(row.question.begin(), marks_.question);
    int all = 0;
    for (std::size_t i = 0; i < question.options.size(); ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenId> option, Words(OptionText(question, i)));
      option.insert(option.begin(), marks_.option_begin);
      option.push_back(marks_.option_end);
      row.longest = std::max(row.longest, static_cast<int>(option.size()));
      all += static_cast<int>(option.size());
      row.options.push_back(std::move(option));
      row.order.push_back(i);
    }
    row.n_tokens = static_cast<int>(row.question.size()) + all + 1;
    if (isolated_) {
      std::stable_sort(row.order.begin(), row.order.end(), [&](std::size_t a, std::size_t b) {
        return row.options[a] < row.options[b];
      });
    }
    const int window = session_.model().config().context_length;
    const int reach =
        static_cast<int>(state_.size() + row.question.size()) + (isolated_ ? row.longest : all) + 1;
    if (reach > window) {
      return Fail(ErrorCode::kLimit, "the state takes " + std::to_string(state_.size()) +
                                         " tokens and with this question " + std::to_string(reach) +
                                         "; the model's window holds " + std::to_string(window));
    }
    return row;
  }

  Status StageState() {
    Sequence& kept = session_.kept();
    const std::vector<TokenId> had = kept.tokens();
    const auto differs = std::mismatch(had.begin(), had.end(), state_.begin(), state_.end());
    const auto same = static_cast<std::size_t>(differs.first - had.begin());
    ADJUDGE_RETURN_IF_ERROR(kept.Truncate(static_cast<int>(same)));
    out_.usage.prompt_tokens += static_cast<int>(state_.size());
    out_.usage.cached_tokens += static_cast<int>(same);
    if (same == state_.size()) return {};
    return AddEntry(kept, std::span(state_).subspan(same), {}).map([](int) {});
  }

  Result<int> AddEntry(Sequence& sequence, std::span<const TokenId> tokens, Wants wants,
                       std::span<const int> positions = {}) {
    return batch_.Add(sequence, tokens, std::move(wants), positions);
  }

  Status StageQuestion(std::size_t q) {
    const Row& row = rows_[q];
    Staged staged{.question = q, .options = std::vector<std::pair<int, int>>(row.options.size())};
    ADJUDGE_RETURN_IF_ERROR(isolated_ ? StageIsolated(row, staged) : StageListed(row, staged));
    out_.usage.prompt_tokens += row.n_tokens;
    staged_.push_back(std::move(staged));
    return {};
  }

  Result<Sequence*> Fork(const Sequence& parent) {
    ADJUDGE_ASSIGN_OR_RETURN(Sequence fork, parent.Fork(parent.length()));
    sequences_.push_back(std::make_unique<Sequence>(std::move(fork)));
    return sequences_.back().get();
  }

  // Everything in one sequence, options as listed.
  Status StageListed(const Row& row, Staged& staged) {
    ADJUDGE_ASSIGN_OR_RETURN(Sequence* const sequence, Fork(session_.kept()));
    std::vector<TokenId> tokens = row.question;
    Wants wants{.hidden = true};
    for (std::size_t i = 0; i < row.options.size(); ++i) {
      tokens.insert(tokens.end(), row.options[i].begin(), row.options[i].end());
      wants.rows.push_back(static_cast<int>(tokens.size()) - 1);
      staged.options[i].second = static_cast<int>(i);
    }
    tokens.push_back(marks_.decide);
    wants.rows.push_back(static_cast<int>(tokens.size()) - 1);
    ADJUDGE_ASSIGN_OR_RETURN(staged.decide, AddEntry(*sequence, tokens, std::move(wants)));
    for (auto& option : staged.options) option.first = staged.decide;
    staged.decide_row = static_cast<int>(row.options.size());
    return {};
  }

  // Each option a fork of the question at the same positions; the decide token sees all of them.
  Status StageIsolated(const Row& row, Staged& staged) {
    ADJUDGE_ASSIGN_OR_RETURN(Sequence* const question, Fork(session_.kept()));
    ADJUDGE_RETURN_IF_ERROR(AddEntry(*question, row.question, {}));
    const int begin = question->length();
    std::vector<SequenceRange> ranges = {{question, 0, begin}};
    for (const std::size_t i : row.order) {
      const std::vector<TokenId>& tokens = row.options[i];
      ADJUDGE_ASSIGN_OR_RETURN(Sequence* const option, Fork(*question));
      const int last = static_cast<int>(tokens.size()) - 1;
      ADJUDGE_ASSIGN_OR_RETURN(staged.options[i].first,
                               AddEntry(*option, tokens, {.rows = {last}, .hidden = true}));
      ranges.push_back({option, begin, option->length()});
    }
    ADJUDGE_ASSIGN_OR_RETURN(Sequence joined, Sequence::Join(ranges));
    sequences_.push_back(std::make_unique<Sequence>(std::move(joined)));
    const TokenId decide[] = {marks_.decide};
    const int position[] = {begin + row.longest};
    ADJUDGE_ASSIGN_OR_RETURN(staged.decide, AddEntry(*sequences_.back(), decide,
                                                     {.rows = {0}, .hidden = true}, position));
    return {};
  }

  Status Flush() {
    if (batch_.n_entries() == 0) return {};
    const auto start = Clock::now();
    batch_.CancelWith(session_.cancel());
    ADJUDGE_ASSIGN_OR_RETURN(const ForwardOutput output, session_.model().Forward(batch_));
    out_.timings.prefill_ms +=
        std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    ++out_.usage.forward_passes;
    const auto dim = static_cast<std::size_t>(session_.model().config().dim);
    const auto copy = [&](int entry, int row, std::vector<float>& to) {
      const auto& hidden = output.entries[static_cast<std::size_t>(entry)].hidden;
      const auto from =
          hidden.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * dim);
      to.insert(to.end(), from, from + static_cast<std::ptrdiff_t>(dim));
    };
    for (const Staged& staged : staged_) {
      PointerRows& rows = out_.rows[staged.question];
      copy(staged.decide, staged.decide_row, rows.decide);
      for (const auto& [entry, row] : staged.options) copy(entry, row, rows.options);
    }
    staged_.clear();
    batch_ = Batch();
    sequences_.clear();
    return {};
  }

  DecisionSession& session_;
  const Tokenizer& tokenizer_;
  MarkIds marks_;
  bool isolated_;
  PackOptions pack_;
  std::vector<TokenId> state_;
  std::vector<Row> rows_;
  std::vector<std::unique_ptr<Sequence>> sequences_;  // before the batch: what it takes back
  Batch batch_;
  std::vector<Staged> staged_;
  PointerReading out_;
};

}  // namespace

Result<PointerReading> ReadPointerRows(DecisionSession& session, const Tokenizer& tokenizer,
                                       const PointerMarks& marks, bool isolated, const Entry& state,
                                       std::span<const Question> questions,
                                       const PackOptions& pack) {
  ADJUDGE_ASSIGN_OR_RETURN(const MarkIds ids, FindMarks(tokenizer, marks));
  return Reading(session, tokenizer, ids, isolated, pack).Run(state, questions);
}

Result<PointerMarks> ChooseMarks(const Tokenizer& tokenizer) {
  PointerMarks own;
  if (FindMarks(tokenizer, own)) return own;
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  std::vector<std::string> names;
  for (TokenId id = 0; id < vocabulary.size() && names.size() < 5; ++id) {
    if (vocabulary.kind(id) == TokenKind::kControl) names.emplace_back(vocabulary.bytes(id));
  }
  if (names.size() < 5) {
    return Fail(ErrorCode::kUnsupported,
                "a pointer head needs 5 control tokens as markers; the vocabulary has " +
                    std::to_string(names.size()),
                "marks");
  }
  return PointerMarks{names[0], names[1], names[2], names[3], names[4]};
}

}  // namespace adjudge
