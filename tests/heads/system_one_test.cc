#include "heads/system_one.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPairA = R"({"model":"jev-latest",
 "state":{"subject":"Lamp broke","price":1.10,"body":"The shade cracked."},
 "questions":{
  "wish":{"type":"choice","instructions":"What does the buyer want?",
          "criteria":{"refund":"money back","exchange":"a new item","none":null}},
  "mood":{"type":"score","instructions":"How upset is the buyer?",
          "criteria":["calm","bothered","cross","furious"]},
  "damaged":{"type":"noul","instructions":"Is the item damaged?",
             "criteria":{"true":"damage is described"}}},
 "x_trace_id":"t","seed":null})";

TEST(SystemOneTest, ReadsTheThreeTypesInOrder) {
  const auto request = ParseSystemOneRequest(kPairA);
  ASSERT_TRUE(request) << ToString(request.error());
  EXPECT_EQ(request->model, "jev-latest");
  EXPECT_TRUE(request->state.structured);
  EXPECT_EQ(request->state.text,
            R"({"subject":"Lamp broke","price":1.10,"body":"The shade cracked."})")
      << "the sender's key order and spelling of numbers";
  ASSERT_EQ(request->questions.size(), 3u);
  const Question& wish = request->questions[0];
  EXPECT_EQ(wish.id, "wish");
  EXPECT_EQ(wish.type, QuestionType::kChoice);
  EXPECT_EQ(wish.options, (std::vector<Option>{{"refund", Entry{"money back"}},
                                               {"exchange", Entry{"a new item"}},
                                               {"none", std::nullopt}}));
  const Question& mood = request->questions[1];
  EXPECT_EQ(mood.type, QuestionType::kScore);
  EXPECT_EQ(mood.options[3], (Option{"3", Entry{"furious"}}));
  const Question& damaged = request->questions[2];
  EXPECT_EQ(damaged.type, QuestionType::kNoul);
  EXPECT_EQ(damaged.options,
            (std::vector<Option>{{"false", std::nullopt}, {"true", Entry{"damage is described"}}}));
}

std::string WithQuestion(const std::string& question) {
  return R"({"state":"s","questions":{"a/b":)" + question + "}}";
}

std::string WithState(const std::string& state) {
  return R"({"state":)" + state + R"(,"questions":{"q":{"type":"noul","instructions":"x"}}})";
}

TEST(SystemOneTest, Accepts) {
  const std::string cases[] = {
      WithState("\"\""),
      WithState("[]"),
      WithState("{}"),
      WithState(R"(["row 1",{"deep":[null,true,1e-7]}])"),
      WithState(R"("nul \u0000 and 🎯")"),
      WithQuestion(R"({"type":"noul","criteria":{"true":"yes","false":null}})"),
      WithQuestion(R"({"type":"noul","instructions":null,"criteria":{"false":"no"}})"),
      WithQuestion(R"({"type":"noul","instructions":"x","criteria":null})"),
      WithQuestion(R"({"type":"choice","criteria":{"only":null}})"),
      WithQuestion(R"({"type":"choice","criteria":{"a":{"x":1},"b":["y"],"c":""}})"),
      WithQuestion(R"({"type":"score","criteria":["alone"]})"),
      WithQuestion(R"({"type":"score","criteria":[{"label":"low"},["mid"],"high"],"x_extra":1})"),
  };
  for (const std::string& text : cases) {
    const auto request = ParseSystemOneRequest(text);
    EXPECT_TRUE(request) << text << "\n" << ToString(request.error());
  }
}

struct RefusedCase {
  std::string text;
  std::string place;
  std::string named;  // part of the message
};

TEST(SystemOneTest, RefusesByPointer) {
  const RefusedCase cases[] = {
      {"", "", "not valid JSON"},
      {"[]", "", "an array"},
      {"{} {}", "", "not valid JSON"},
      {R"({"questions":{}})", "/state", "needs a state"},
      {WithState("null"), "/state", "null"},
      {WithState("3"), "/state", "a number"},
      {WithState("true"), "/state", "a boolean"},
      {WithState("[1,NaN]"), "/state/1", "not valid JSON"},
      {WithState("[1e999]"), "/state/0", "1e999"},
      {WithState("\"\xff\""), "", "not UTF-8 at byte 10"},
      {WithState(R"("\ud800")"), "/state", "surrogate"},
      {WithState(R"({"a":{"b":1,"b":2}})"), "/state/a/b", "twice"},
      {R"({"state":"s"})", "/questions", "needs questions"},
      {R"({"state":"s","questions":{}})", "/questions", "found 0"},
      {R"({"state":"s","questions":[]})", "/questions", "an array"},
      {R"({"state":"s","questions":{"":{"type":"noul","instructions":"x"}}})", "/questions/",
       "empty"},
      {R"({"state":"s","questions":{"q":{"type":"noul"},"q":{"type":"noul"}}})", "/questions/q",
       "twice"},
      {R"({"model":3,"state":"s","questions":{}})", "/model", "a number"},
      {WithQuestion("3"), "/questions/a~1b", "a number"},
      {WithQuestion("{}"), "/questions/a~1b/type", "needs a type"},
      {WithQuestion(R"({"type":null})"), "/questions/a~1b/type", "null"},
      {WithQuestion(R"({"type":"boolean"})"), "/questions/a~1b/type", "\"boolean\""},
      {WithQuestion(R"({"type":"Choice"})"), "/questions/a~1b/type", "\"Choice\""},
      {WithQuestion(R"({"type":"noul"})"), "/questions/a~1b", "instructions or a criterion"},
      {WithQuestion(R"({"type":"noul","instructions":7})"), "/questions/a~1b/instructions",
       "a number"},
      {WithQuestion(R"({"type":"noul","criteria":["x"]})"), "/questions/a~1b/criteria", "an array"},
      {WithQuestion(R"({"type":"noul","criteria":{"yes":"x"}})"), "/questions/a~1b/criteria/yes",
       "alone"},
      {WithQuestion(R"({"type":"choice"})"), "/questions/a~1b/criteria", "needs criteria"},
      {WithQuestion(R"({"type":"choice","criteria":null})"), "/questions/a~1b/criteria", "null"},
      {WithQuestion(R"({"type":"choice","criteria":{}})"), "/questions/a~1b/criteria", "found 0"},
      {WithQuestion(R"({"type":"choice","criteria":["a","b"]})"), "/questions/a~1b/criteria",
       "an array"},
      {WithQuestion(R"({"type":"choice","criteria":{"":null}})"), "/questions/a~1b/criteria/",
       "empty"},
      {WithQuestion(R"({"type":"choice","criteria":{"a":1}})"), "/questions/a~1b/criteria/a",
       "a number"},
      {WithQuestion(R"({"type":"choice","criteria":{"x":null,"a~":null,"a~":"again"}})"),
       "/questions/a~1b/criteria/a~0", "twice"},
      {WithQuestion(R"({"type":"score"})"), "/questions/a~1b/criteria", "needs criteria"},
      {WithQuestion(R"({"type":"score","criteria":[]})"), "/questions/a~1b/criteria", "found 0"},
      {WithQuestion(R"({"type":"score","criteria":{"0":"a","1":"b"}})"), "/questions/a~1b/criteria",
       "an object"},
      {WithQuestion(R"({"type":"score","criteria":["a",null]})"), "/questions/a~1b/criteria/1",
       "null"},
      {WithQuestion(R"({"type":"score","criteria":[1,2]})"), "/questions/a~1b/criteria/0",
       "a number"},
      {WithQuestion(R"({"type":"score","criteria":["a",""]})"), "/questions/a~1b/criteria/1",
       "empty"},
  };
  for (const RefusedCase& c : cases) {
    const auto request = ParseSystemOneRequest(c.text);
    ASSERT_FALSE(request) << c.text;
    EXPECT_EQ(request.error().place, c.place) << c.text;
    EXPECT_NE(request.error().message.find(c.named), std::string::npos)
        << c.text << "\n"
        << ToString(request.error());
  }
}

std::string Options(int n) {
  Json criteria = Json::object();
  for (int i = 0; i < n; ++i) criteria["option " + std::to_string(i)] = nullptr;
  return WithQuestion(Json{{"type", "choice"}, {"criteria", criteria}}.dump());
}

std::string Levels(int n) {
  return WithQuestion(
      Json{{"type", "score"}, {"criteria", std::vector<std::string>(std::size_t(n), "same")}}
          .dump());
}

std::string Questions(int n) {
  Json questions = Json::object();
  for (int i = 0; i < n; ++i) {
    questions[std::to_string(i)] = {{"type", "noul"}, {"instructions", "x"}};
  }
  return Json{{"state", "s"}, {"questions", questions}}.dump();
}

std::string Nested(int depth) {
  return WithState(std::string(std::size_t(depth), '[') + std::string(std::size_t(depth), ']'));
}

std::string NamedOption(int bytes) {
  return WithQuestion(R"({"type":"choice","criteria":{")" + std::string(std::size_t(bytes), 'n') +
                      R"(":null}})");
}

std::string LongId(int bytes) {
  return R"({"state":"s","questions":{")" + std::string(std::size_t(bytes), 'i') +
         R"(":{"type":"noul","instructions":"x"}}})";
}

TEST(SystemOneTest, LimitsOnBothSides) {
  SystemOneLimits limits;
  limits.max_depth = 10;
  limits.questions = {.max_questions = 5,
                      .max_options = 7,
                      .max_levels = 4,
                      .max_id_bytes = 20,
                      .max_name_bytes = 30};
  struct Case {
    std::string (*make)(int);
    int largest;
    std::string named;
  };
  const Case cases[] = {
      {Options, 7, "max_options is 7"},     {Levels, 4, "max_levels is 4"},
      {Questions, 5, "max_questions is 5"}, {Nested, 9, "max_depth = 10"},
      {LongId, 20, "max_id_bytes is 20"},   {NamedOption, 30, "max_name_bytes is 30"},
  };
  for (const Case& c : cases) {
    const auto fits = ParseSystemOneRequest(c.make(c.largest), limits);
    EXPECT_TRUE(fits) << c.named << ToString(fits.error());
    const auto refused = ParseSystemOneRequest(c.make(c.largest + 1), limits);
    ASSERT_FALSE(refused) << c.named;
    EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
    EXPECT_NE(refused.error().message.find(c.named), std::string::npos)
        << ToString(refused.error());
  }
  const std::string text(kPairA);
  for (const int slack : {0, -1}) {
    limits = {};
    limits.max_bytes = text.size() + std::size_t(slack);
    EXPECT_EQ(ParseSystemOneRequest(text, limits).has_value(), slack == 0);
    limits = {};
    limits.max_values = std::size_t(29 + slack);
    EXPECT_EQ(ParseSystemOneRequest(text, limits).has_value(), slack == 0);
  }
}

TEST(SystemOneTest, DefaultLimits) {
  EXPECT_TRUE(ParseSystemOneRequest(Options(256)));
  EXPECT_TRUE(ParseSystemOneRequest(Options(1024)));
  EXPECT_FALSE(ParseSystemOneRequest(Options(10'000)));
  EXPECT_FALSE(ParseSystemOneRequest(Nested(10'000)));
  EXPECT_FALSE(ParseSystemOneRequest(Nested(5'000'000)));
  EXPECT_FALSE(ParseSystemOneRequest(WithState(std::string(100 << 20, ' ') + "\"\"")));
}

std::vector<Answer> AnswersOf(const SystemOneRequest& request,
                              const std::vector<std::vector<double>>& probabilities) {
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < request.questions.size(); ++i) {
    answers.push_back(MakeAnswer(request.questions[i], probabilities[i]));
    answers.back().head = "label";
    answers.back().label_mass = .75;
    answers.back().logprobs = {-1.5, -2};
  }
  return answers;
}

TEST(SystemOneTest, WritesTheDocumentedShape) {
  const auto request = ParseSystemOneRequest(kPairA);
  ASSERT_TRUE(request);
  const auto answers = AnswersOf(*request, {{.20, .72, .08}, {.05, .15, .50, .30}, {.03, .97}});
  const std::string text = WriteSystemOneResponse(
      {.model = "demo-1.0.0",
       .questions = request->questions,
       .answers = answers,
       .usage = {.prompt_tokens = 141, .cached_tokens = 7, .forward_passes = 1},
       .timings = {.load_ms = 1, .prefill_ms = 2.5, .decode_ms = 0}});
  const Json body = Json::parse(text);
  std::vector<std::string> keys;
  for (const auto& [key, value] : body.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"model", "answers", "usage", "x_answers", "x_cost"}));
  EXPECT_EQ(body["model"], "demo-1.0.0");
  const Json& wish = body["answers"]["wish"];
  EXPECT_EQ(wish.dump().substr(0, 68),
            R"({"type":"choice","choice":"exchange","probabilities":{"refund":0.2,")");
  EXPECT_NEAR(wish["confidence"].get<double>(), .58, 1e-12);
  const Json& mood = body["answers"]["mood"];
  EXPECT_NEAR(mood["score"].get<double>(), 2.05, 1e-12);
  EXPECT_NEAR(mood["confidence"].get<double>(), .45, 1e-12);
  EXPECT_EQ(mood["legend"].dump(), R"({"0":"calm","1":"bothered","2":"cross","3":"furious"})");
  EXPECT_EQ(body["answers"]["damaged"].dump(), R"({"type":"noul","noul":0.97})");
  EXPECT_EQ(body["usage"].dump(), R"({"input_tokens":141,"output_tokens":0})");
  EXPECT_EQ(body["x_answers"]["wish"]["label_mass"], .75);
  EXPECT_EQ(body["x_answers"]["wish"]["head"], "label");
  EXPECT_EQ(
      body["x_cost"].dump(),
      R"({"prompt_tokens":141,"cached_tokens":7,"generated_tokens":0,"forced_tokens":0,"forward_passes":1,"load":1.0,"prefill":2.5,"decode":0.0})");
}

TEST(SystemOneTest, NamesAndLevelsComeBackByteForByte) {
  const std::string text =
      R"({"state":["row 1"],"questions":{
  "🎯 q.1":{"type":"choice","criteria":{"예":null,"no \"way\"\n\u0000":null}},
  "lvl":{"type":"score","criteria":[{"label":"low","w":1.50},["mid"],"high\/"]}}})";
  const auto request = ParseSystemOneRequest(text);
  ASSERT_TRUE(request) << ToString(request.error());
  const auto answers = AnswersOf(*request, {{.5, .5}, {1. / 3, 1. / 3, 1 - 2. / 3}});
  const std::string written = WriteSystemOneResponse(
      {.questions = request->questions, .answers = answers}, /*strict=*/true);
  EXPECT_NE(written.find(R"("legend":{"0":{"label":"low","w":1.50},"1":["mid"],"2":"high/"})"),
            std::string::npos)
      << written;
  const Json body = Json::parse(written);
  EXPECT_FALSE(body.contains("x_cost"));
  EXPECT_FALSE(body.contains("x_answers"));
  const Json& choice = body["answers"]["🎯 q.1"];
  EXPECT_EQ(choice["choice"], "예") << "the first of equals";
  const std::string name("no \"way\"\n\0", 10);
  ASSERT_TRUE(choice["probabilities"].contains(name));
  EXPECT_EQ(body["answers"]["lvl"]["probabilities"]["0"].get<double>(), 1. / 3) << "full precision";
}

TEST(SystemOneTest, RecordedClientRequests) {
  ADJUDGE_DATA_OR_SKIP(path, "requests/typesafe-sdk-0.7.5.json");
  const Json recorded = Json::parse(testing::ReadFile(path));
  int parsed = 0;
  for (const auto& [name, requests] : recorded.items()) {
    for (const Json& request : requests) {
      if (request["method"] != "POST" || !request["body"].is_object()) continue;
      if (!request["body"].contains("questions")) continue;
      const auto result = ParseSystemOneRequest(request["body"].dump());
      const bool refused = name.find("list") != std::string::npos ||
                           name.find("map") != std::string::npos ||
                           name.find("unknown") != std::string::npos;
      EXPECT_EQ(result.has_value(), !refused)
          << name << ": " << (result ? "" : ToString(result.error()));
      ++parsed;
    }
  }
  EXPECT_GT(parsed, 0);
}

}  // namespace
}  // namespace adjudge
