#include "engine/stop_strings.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/testing/engine_cases.h"

namespace adjudge {
namespace {

using Strings = std::vector<std::string>;

// Tries every stop string at every byte of the whole text.
std::pair<std::string, std::optional<std::string>> TwinStop(const std::string& text,
                                                            const Strings& stops) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::optional<std::string> best;
    for (const std::string& stop : stops) {
      const bool ends_here =
          end >= stop.size() && text.compare(end - stop.size(), stop.size(), stop) == 0;
      if (ends_here && (!best || stop.size() > best->size())) best = stop;
    }
    if (best) return {text.substr(0, end - best->size()), best};
  }
  return {text, std::nullopt};
}

TEST(StopStrings, StopsAcrossPieces) {
  ADJUDGE_CASE_OR_SKIP(found, "str-stop-across-tokens");
  const auto& rows = found["input"]["rows"];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& expected = found["expected"]["rows"][i];
    auto stops = StopStrings::Make(rows[i]["stops"].get<Strings>());
    ASSERT_TRUE(stops.has_value());
    std::string sent;
    std::vector<std::string> sent_so_far;
    for (const auto& chunk : rows[i]["chunks"]) {
      if (!stops->stopped()) sent += stops->Push(chunk.get<std::string>());
      sent_so_far.push_back(sent);
    }
    if (!stops->stopped()) sent += stops->Finish();
    // The case may list the end as one more row, or merge it into the last, or leave out pieces
    // after the stop.
    const auto listed = expected["sent_so_far"].get<Strings>();
    for (std::size_t k = 0; k < std::min(listed.size(), sent_so_far.size()); ++k) {
      const bool at_end = k + 1 == listed.size();
      EXPECT_TRUE(sent_so_far[k] == listed[k] || (at_end && sent == listed[k])) << rows[i] << k;
    }
    EXPECT_EQ(sent, expected["text"].get<std::string>()) << rows[i];
    EXPECT_EQ(
        stops->stopped_by().value_or("none"),
        expected["stopped_by"].is_null() ? "none" : expected["stopped_by"].get<std::string>());
  }
}

TEST(StopStrings, HoldsBackOnlyWhatMayBeginAStop) {
  struct Row {
    Strings stops;
    Strings chunks;
    Strings sent;  // by each piece
    std::string tail;
  };
  const std::vector<Row> rows = {
      {{"abc"}, {"xa", "b", "d"}, {"x", "", "abd"}, ""}, {{"abc"}, {"xab"}, {"x"}, "ab"},
      {{"aab"}, {"aaa", "ac"}, {"a", "aaac"}, ""},       {{}, {"a", "b"}, {"a", "b"}, ""},
      {{"\n\n"}, {"a\n", "b\n"}, {"a", "\nb"}, "\n"},
  };
  for (const Row& row : rows) {
    auto stops = StopStrings::Make(row.stops);
    for (std::size_t i = 0; i < row.chunks.size(); ++i) {
      EXPECT_EQ(stops->Push(row.chunks[i]), row.sent[i]) << row.chunks[i];
    }
    EXPECT_FALSE(stops->stopped());
    EXPECT_EQ(stops->Finish(), row.tail);
  }
}

TEST(StopStrings, AnyCutGivesTheTwinsText) {
  std::mt19937 random(3);
  const auto make = [&](std::size_t most) {
    std::string text;
    for (std::size_t n = 1 + random() % most; n > 0; --n) text += "abc"[random() % 3];
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    Strings list;
    for (std::size_t n = random() % 4; n > 0; --n) list.push_back(make(5));
    const std::string text = make(40);
    const auto [expected, by] = TwinStop(text, list);
    auto stops = StopStrings::Make(list);
    std::string sent;
    for (std::size_t at = 0; at < text.size() && !stops->stopped();) {
      const std::size_t n = 1 + random() % 6;
      sent += stops->Push(std::string_view(text).substr(at, n));
      ASSERT_EQ(expected.compare(0, sent.size(), sent), 0) << "sent more than the text";
      at += n;
    }
    if (!stops->stopped()) sent += stops->Finish();
    EXPECT_EQ(sent, expected) << text;
    EXPECT_EQ(stops->stopped_by(), by);
  }
}

TEST(StopStrings, LimitsOnBothSides) {
  const StopStringLimits limits = {.max_strings = 2, .max_bytes = 3};
  struct Row {
    Strings strings;
    std::string place;  // empty = taken
    std::string words;
  };
  const std::vector<Row> rows = {
      {{"abc", "b"}, "", ""},
      {{"a", "b", "c"}, "stop_strings", "max_strings is 2"},
      {{"a", "abcd"}, "stop_strings[1]", "max_bytes is 3"},
      {{"a", ""}, "stop_strings[1]", "may not be empty"},
      {{"\x98\x80"}, "stop_strings[0]", "expected UTF-8, found bytes that are not, at byte 0"},
  };
  for (const Row& row : rows) {
    const auto stops = StopStrings::Make(row.strings, limits);
    EXPECT_EQ(stops.has_value(), row.place.empty());
    if (stops.has_value()) continue;
    EXPECT_EQ(stops.error().place, row.place);
    EXPECT_NE(stops.error().message.find(row.words), std::string::npos) << stops.error().message;
  }
}

}  // namespace
}  // namespace adjudge
