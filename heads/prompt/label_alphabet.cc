#include "heads/prompt/label_alphabet.h"

#include <algorithm>
#include <utility>

namespace adjudge {
namespace {

// The space belongs to the label ("Answer:" then " A") or to the prompt ("Answer: " then "A"):
// tokenizers that cut digits apart have " 7" as two tokens.
struct Lead {
  std::string_view lead;
  std::string_view space;
};
constexpr Lead kLeads[] = {{"Answer:", " "}, {"Answer: ", ""}};

// Takes those candidates that are single distinct tokens; `stop_at_gap` ends at the first other.
Result<LabelAlphabet> Take(const Tokenizer& tokenizer, const PromptFrame& frame, const Lead& lead,
                           const std::vector<std::string>& candidates, bool stop_at_gap) {
  LabelAlphabet alphabet{.lead = std::string(lead.lead)};
  for (const std::string& label : candidates) {
    std::string text(lead.space);
    text += label;
    ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TokenId> ids,
                             frame.EncodeAnswer(tokenizer, lead.lead, text));
    if (ids.size() == 1 &&
        std::find(alphabet.ids.begin(), alphabet.ids.end(), ids[0]) == alphabet.ids.end()) {
      alphabet.labels.push_back(label);
      alphabet.ids.push_back(ids[0]);
    } else if (stop_at_gap) {
      break;
    }
  }
  return alphabet;
}

// The lead that gives the most labels; the first of equals.
Result<LabelAlphabet> Best(const Tokenizer& tokenizer, const PromptFrame& frame,
                           const std::vector<std::string>& candidates, bool stop_at_gap) {
  LabelAlphabet best;
  for (const Lead& lead : kLeads) {
    ADJUDGE_ASSIGN_OR_RETURN(LabelAlphabet alphabet,
                             Take(tokenizer, frame, lead, candidates, stop_at_gap));
    if (best.lead.empty() || alphabet.labels.size() > best.labels.size()) {
      best = std::move(alphabet);
    }
    if (best.labels.size() == candidates.size()) break;
  }
  return best;
}

}  // namespace

Result<LabelAlphabet> LetterAlphabet(const Tokenizer& tokenizer, const PromptFrame& frame) {
  std::vector<std::string> letters;
  for (char c = 'A'; c <= 'Z'; ++c) letters.emplace_back(1, c);
  ADJUDGE_ASSIGN_OR_RETURN(LabelAlphabet alphabet, Best(tokenizer, frame, letters, true));
  if (alphabet.labels.size() < letters.size()) return alphabet;
  std::vector<std::string> more = letters;
  for (char a = 'A'; a <= 'Z'; ++a) {
    for (char b = 'A'; b <= 'Z'; ++b) more.push_back({a, b});
  }
  const Lead lead = alphabet.lead == kLeads[0].lead ? kLeads[0] : kLeads[1];
  return Take(tokenizer, frame, lead, more, false);
}

Result<LabelAlphabet> NumberAlphabet(const Tokenizer& tokenizer, const PromptFrame& frame, int n) {
  std::vector<std::string> numbers;
  for (int i = 0; i < n; ++i) numbers.push_back(std::to_string(i));
  return Best(tokenizer, frame, numbers, true);
}

Result<LabelAlphabet> WordAlphabet(const Tokenizer& tokenizer, const PromptFrame& frame,
                                   const std::vector<std::string>& words) {
  ADJUDGE_ASSIGN_OR_RETURN(LabelAlphabet alphabet, Best(tokenizer, frame, words, true));
  if (alphabet.labels.size() < words.size()) {
    alphabet.labels.clear();
    alphabet.ids.clear();
  }
  return alphabet;
}

}  // namespace adjudge
