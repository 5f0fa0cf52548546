#include <optional>
#include <utility>

#include "heads/json/json_value.h"
#include "heads/label_head.h"
#include "heads/prompt/label_alphabet.h"
#include "heads/prompt/prompt_frame.h"
#include "heads/prompt/question_text.h"

namespace adjudge {
namespace {

constexpr int kMaxNumberLabels = 1024;

// What is asked for, and under which labels.
struct Asked {
  std::string text;
  std::string lead;
  std::vector<std::string> labels;
  std::vector<TokenId> ids;
};

std::string Ask(std::string_view what, const Question& question) {
  std::string ask = "the ";
  ask += what;
  ask += question.type == QuestionType::kScore ? " of the correct level" : " of the correct option";
  return ask;
}

// Alphabets in the order they are tried.
std::vector<LabelStyle> Styles(LabelStyle style, QuestionType type) {
  if (style != LabelStyle::kAuto) return {style};
  switch (type) {
    case QuestionType::kNoul:
      return {LabelStyle::kWords, LabelStyle::kLetters, LabelStyle::kNumbers};
    case QuestionType::kScore:
      return {LabelStyle::kNumbers, LabelStyle::kLetters};
    case QuestionType::kChoice:
    case QuestionType::kSelect:
      break;
  }
  return {LabelStyle::kLetters, LabelStyle::kNumbers};
}

}  // namespace

struct LabelPrompts::Impl {
  std::shared_ptr<const Tokenizer> tokenizer;
  PromptFrame frame;
  LabelStyle style = LabelStyle::kAuto;
  LabelAlphabet letters;
  LabelAlphabet numbers;

  // nullopt when this style has no labels for the question.
  Result<std::optional<Asked>> Try(LabelStyle labels, const Question& question) const;
};

Result<std::optional<Asked>> LabelPrompts::Impl::Try(LabelStyle labels,
                                                     const Question& question) const {
  const std::size_t n = question.options.size();
  if (labels == LabelStyle::kWords) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < n; ++i) words.push_back(SpokenName(question, i));
    ADJUDGE_ASSIGN_OR_RETURN(LabelAlphabet alphabet, WordAlphabet(*tokenizer, frame, words));
    if (alphabet.labels.empty()) return std::optional<Asked>();
    const bool noul = question.type == QuestionType::kNoul;
    return std::optional<Asked>(
        {.text = SpokenQuestion(question, noul ? SidesAsked(question) : "one of the options",
                                !noul || HasDescriptions(question)),
         .lead = alphabet.lead,
         .labels = std::move(alphabet.labels),
         .ids = std::move(alphabet.ids)});
  }
  if (labels == LabelStyle::kCodes) return std::optional<Asked>();  // no single tokens
  const bool by_letter = labels == LabelStyle::kLetters;
  const LabelAlphabet& alphabet = by_letter ? letters : numbers;
  if (alphabet.labels.size() < n) return std::optional<Asked>();
  Asked asked{.lead = alphabet.lead};
  asked.labels.assign(alphabet.labels.begin(),
                      alphabet.labels.begin() + static_cast<std::ptrdiff_t>(n));
  asked.ids.assign(alphabet.ids.begin(), alphabet.ids.begin() + static_cast<std::ptrdiff_t>(n));
  asked.text =
      LabelledQuestion(question, Ask(by_letter ? "letter" : "number", question), asked.labels);
  return std::optional<Asked>(std::move(asked));
}

LabelPrompts::LabelPrompts(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LabelPrompts::~LabelPrompts() = default;
LabelPrompts::LabelPrompts(LabelPrompts&&) noexcept = default;
LabelPrompts& LabelPrompts::operator=(LabelPrompts&&) noexcept = default;

Result<LabelPrompts> LabelPrompts::Make(std::shared_ptr<const Tokenizer> tokenizer,
                                        PromptStyle prompt, LabelStyle labels) {
  auto impl = std::make_unique<Impl>();
  impl->style = labels;
  ADJUDGE_ASSIGN_OR_RETURN(impl->frame, PromptFrame::Make(*tokenizer, prompt));
  ADJUDGE_ASSIGN_OR_RETURN(impl->letters, LetterAlphabet(*tokenizer, impl->frame));
  ADJUDGE_ASSIGN_OR_RETURN(impl->numbers,
                           NumberAlphabet(*tokenizer, impl->frame, kMaxNumberLabels));
  impl->tokenizer = std::move(tokenizer);
  return LabelPrompts(std::move(impl));
}

const Tokenizer& LabelPrompts::tokenizer() const { return *impl_->tokenizer; }

Result<std::vector<TokenId>> LabelPrompts::Shared(const Entry& state, int window) const {
  return impl_->frame.EncodeShared(*impl_->tokenizer, state.text, window);
}

Result<LabelPrompt> LabelPrompts::Make(const Entry& state, const Question& question) const {
  const std::string place = JsonPointer("/questions", question.id);
  for (const LabelStyle style : Styles(impl_->style, question.type)) {
    auto asked = impl_->Try(style, question);
    if (!asked) {
      asked.error().place = place;
      return tl::unexpected<Error>(std::move(asked).error());
    }
    if (!*asked) continue;
    Asked& found = **asked;
    auto tokens =
        impl_->frame.EncodeQuestion(*impl_->tokenizer, state.text, found.text, found.lead);
    if (!tokens) {
      tokens.error().place = place;
      return tl::unexpected<Error>(std::move(tokens).error());
    }
    return LabelPrompt{.tokens = std::move(*tokens),
                       .labels = std::move(found.labels),
                       .label_ids = std::move(found.ids)};
  }
  if (impl_->style == LabelStyle::kWords) {
    return Fail(ErrorCode::kUnsupported,
                "the options' own words are not single distinct tokens after the prompt",
                place + "/criteria");
  }
  return Fail(ErrorCode::kLimit,
              std::to_string(question.options.size()) +
                  " options; this model has single-token labels for " +
                  std::to_string(impl_->letters.labels.size()) + " by letters and " +
                  std::to_string(impl_->numbers.labels.size()) +
                  " by numbers (the likelihood head takes more)",
              place + "/criteria");
}

}  // namespace adjudge
