// The words of a question as a model reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heads/question.h"

namespace adjudge {

// The name an option goes by in a prompt: the option's name; a level's text; "No" and "Yes".
std::string SpokenName(const Question& question, std::size_t option);

// The question with its options listed under labels, asking for the label:
//   Answer the question with the letter of the correct option.
//
//   Question: ...
//   A. refund: money back
//   B. ...
// `ask` completes "Answer the question with ". Line breaks inside an option are indented, so that
// no option can look like another's line.
std::string LabelledQuestion(const Question& question, std::string_view ask,
                             std::span<const std::string> labels);

// The question with its options' own words, listed ("- refund: money back") when `list`.
std::string SpokenQuestion(const Question& question, std::string_view ask, bool list);

// What a noul's answer is asked for as: "Yes or No", or the other way round where its options are.
std::string_view SidesAsked(const Question& noul);

// Any option has something to say beyond its name.
bool HasDescriptions(const Question& question);

}  // namespace adjudge
