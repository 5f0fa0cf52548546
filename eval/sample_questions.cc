#include <initializer_list>

#include "eval/exam_items.h"

namespace adjudge {
namespace {

ExamItem Item(std::string id, std::string stem, std::initializer_list<const char*> options,
              int key) {
  ExamItem item{.id = std::move(id), .stem = std::move(stem), .key = key};
  char label = 'A';
  for (const char* text : options) {
    item.options.push_back({.label = std::string(1, label++), .text = text});
  }
  return item;
}

}  // namespace

const std::vector<ExamItem>& SampleQuestions() {
  static const std::vector<ExamItem> kItems = {
      Item("capital-france", "What is the capital of France?",
           {"Lyon", "Paris", "Marseille", "Brussels"}, 1),
      Item(
          "boiling-water", "At sea level, at what temperature does water boil?",
          {"0 degrees Celsius", "50 degrees Celsius", "100 degrees Celsius", "200 degrees Celsius"},
          2),
      Item("spider-legs", "How many legs does a spider have?", {"four", "six", "eight", "ten"}, 2),
      Item("red-planet", "Which planet is called the Red Planet?",
           {"Venus", "Jupiter", "Mercury", "Mars"}, 3),
      Item("plants-gas", "Which gas do green plants take from the air to make sugar?",
           {"carbon dioxide", "oxygen", "helium", "hydrogen"}, 0),
      Item("opposite-of-north", "A ship sails the opposite way from north. Where is it heading?",
           {"east", "south", "west"}, 1),
      Item("ice-in-sun", "A cup of ice stands in the sun all afternoon. What happens to the ice?",
           {"It grows.", "It turns into sand.", "It melts.", "It becomes colder."}, 2),
      Item("half-of-ninety", "Ann had ninety stamps and gave half of them away. How many are left?",
           {"30", "45", "60", "90"}, 1),
      Item("author-hamlet", "Who wrote the play Hamlet?",
           {"William Shakespeare", "Charles Dickens", "Jane Austen", "Mark Twain"}, 0),
      Item("days-in-leap-year", "How many days does a leap year have?",
           {"360", "364", "365", "366", "367"}, 3),
  };
  return kItems;
}

}  // namespace adjudge
