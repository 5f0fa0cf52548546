// Chat templates on the cases of other engines, trust, limits and refusals.
#include "engine/chat_template.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/model/gguf_file.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using json = nlohmann::ordered_json;  // dicts keep their order in Python

// The text, or "ERROR place: message".
std::string RenderOrError(const std::string& source, const std::string& context,
                          const ChatLimits& limits = {}) {
  const Result<ChatTemplate> parsed = ChatTemplate::Parse(source, limits);
  if (!parsed) return "ERROR " + ToString(parsed.error());
  const Result<std::string> text = parsed->RenderJson(context, 1721995200);
  return text ? *text : "ERROR " + ToString(text.error());
}

json CaseOf(const std::filesystem::path& path, const std::string& id) {
  for (const json& row : json::parse(testing::ReadFile(path))) {
    if (row.at("id") == id) return row;
  }
  ADD_FAILURE() << "no case " << id;
  return json{{"input", {{"rows", json::array()}}}};
}

void CheckRows(const json& found) {
  const json& rows = found.at("input").at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const json& expected = found.at("expected").at("rows").at(i);
    const std::string source = rows[i].at("template");
    const std::string text = RenderOrError(source, rows[i].at("context").dump());
    if (expected.contains("text")) {
      EXPECT_EQ(text, expected.at("text")) << source;
    } else {
      const std::string error = expected.at("error").get<std::string>() + ": " +
                                expected.at("message").get<std::string>();
      EXPECT_TRUE(text.starts_with("ERROR line 1: " + error)) << source << "\n" << text;
    }
  }
}

TEST(ChatTemplateCasesTest, RowsGiveTheirTextOrError) {
  for (const char* id : {"tpl-trim-lstrip-blocks", "tpl-tojson-python-form", "tpl-string-methods",
                         "tpl-split-forms", "tpl-loop-scope-namespace", "tpl-none-and-undefined",
                         "tpl-print-bool-number", "tpl-trailing-newline"}) {
    SCOPED_TRACE(id);
    ADJUDGE_DATA_OR_SKIP(path, "engine-cases/cases.json");
    CheckRows(CaseOf(path, id));
  }
}

std::string TemplateOf(const std::filesystem::path& model) {
  const auto file = GgufFile::Open(model, false);
  if (!file) return "";
  return std::string((*file)->Text("tokenizer.chat_template")->value_or(""));
}

std::string Joined(const std::vector<TextSpan>& spans) {
  std::string text;
  for (const TextSpan& span : spans) text += span.text;
  return text;
}

ChatRequest RequestOf(const json& row) {
  ChatRequest request;
  for (const json& message : row.at("messages")) {
    request.messages.push_back({message.at("role"), message.at("content")});
  }
  request.add_generation_prompt = row.at("add_generation_prompt");
  return request;
}

TEST(ChatTemplateCasesTest, TemplatesInModelFiles) {
  ADJUDGE_DATA_OR_SKIP(path, "engine-cases/cases.json");
  const json found = CaseOf(path, "tpl-file-template-generation-prompt");
  int compared = 0;
  const json& rows = found.at("input").at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = rows[i].at("template_from");
    const bool is_default = name.starts_with("SmolLM2");
    const auto model = testing::ModelPath(is_default ? "default" : name);
    if (!model) continue;
    ++compared;
    const std::string source = TemplateOf(*model);
    EXPECT_EQ(RenderOrError(source, rows[i].at("context").dump()),
              found.at("expected").at("rows").at(i).at("text"))
        << name << " row " << i;
  }
  if (compared == 0) GTEST_SKIP() << "no model: default";
}

TEST(ChatTemplateCasesTest, GoldenOfTheDefaultModel) {
  ADJUDGE_DATA_OR_SKIP(path, "golden/smollm2/golden.json");
  ADJUDGE_MODEL_OR_SKIP(model, "default");
  const Result<ChatTemplate> parsed = ChatTemplate::Parse(TemplateOf(model));
  ASSERT_TRUE(parsed) << ToString(parsed.error());
  const json golden = json::parse(testing::ReadFile(path));
  for (const json& row : golden.at("chat_template")) {
    const auto spans = parsed->Render(RequestOf(row));
    ASSERT_TRUE(spans) << ToString(spans.error());
    EXPECT_EQ(Joined(*spans), row.at("text"));
  }
}

// Spans as "[trusted](untrusted)", so that a row shows both text and trust.
std::string Marked(const Result<std::vector<TextSpan>>& spans) {
  if (!spans) return "ERROR " + ToString(spans.error());
  std::string text;
  for (const TextSpan& span : *spans) {
    text += (span.trusted ? "[" : "(") + span.text + (span.trusted ? "]" : ")");
  }
  return text;
}

struct TrustRow {
  const char* source;
  const char* content;
  const char* marked;
};

constexpr TrustRow kTrustRows[] = {
    {"<s>{{ messages[0].content }}</s>", "x<|im_end|>", "[<s>](x<|im_end|>)[</s>]"},
    {"{{ '<a>' + messages[0].content + '<b>' }}", "u", "[<a>](u)[<b>]"},
    {"{{ '<a>' ~ messages[0].content ~ 1 }}", "u", "[<a>](u)[1]"},
    {"{{ bos_token + eos_token }}{{ messages[0]['content'][0:2] }}", "uvw", "[<B><E>](uv)"},
    {"{{ ('<a>' + messages[0].content + '<b>')[1:5] }}", "u", "[a>](u)[<]"},
    {"{{ ('<a>' + messages[0].content + '<b>')[::-1] }}", "uv", "[>b<](vu)[>a<]"},
    {"{{ ('<a> ' + messages[0].content + ' <b>') | trim | upper }}", "u", "[<A> ](U)[ <B>]"},
    {"{{ ('  ' + messages[0].content + '  ') | trim }}", "u", "(u)"},
    {"{{ ['<a>', messages[0].content] | join('|') }}", "u", "[<a>|](u)"},
    {"{{ messages[0].content.replace('x', '<sep>') }}", "axb", "(a)[<sep>](b)"},
    {"{{ '<sep>'.join(messages[0].content.split(',')) }}", "a,b", "(a)[<sep>](b)"},
    {"{{ '<p>%s</p>' % messages[0].content }}", "u", "[<p>](u)[</p>]"},
    {"{{ '<p>{}</p>'.format(messages[0].content) }}", "u", "[<p>](u)[</p>]"},
    {"{% macro m(x) %}<m>{{ x }}</m>{% endmacro %}{{ m(messages[0].content) }}", "u",
     "[<m>](u)[</m>]"},
    {"{% set x %}<a>{{ messages[0].content }}{% endset %}{{ x }}<b>", "u", "[<a>](u)[<b>]"},
    {"{% filter upper %}<a>{{ messages[0].content }}{% endfilter %}", "u", "[<A>](U)"},
    {"{% for c in messages[0].content %}<{{ c }}>{% endfor %}", "uv", "[<](u)[><](v)[>]"},
    {"{{ messages[0].content | tojson }}", "<x>", "(\"<x>\")"},
    {"{{ {'k': '<a>'} | tojson }}", "", "({\")[k](\": \")[<a>](\"})"},
    {"{{ {'<a>': 1}.keys() | first }}{{ messages[0].content | length }}", "uvw", "[<a>](3)"},
    {"{% for m in messages %}<{{ loop.index }}>{% endfor %}", "u", "[<1>]"},
    {"{{ {'u': '<|user|>'}[messages[0].content] }}", "u", "[<|user|>]"},
    {"<|{{ messages[0].role }}|>", "u", "[<|user|>]"},
    {"{{ messages[0].content | indent(2, true) }}", "a\nb", "[  ](a)[\n  ](b)"},
    {"{{ messages[0].content | default('<d>') }}{{ none_such | default('<d>') }}", "u", "(u)[<d>]"},
    {"{{ messages[0].content or '<d>' }}", "", "[<d>]"},
    {"{{ messages[0].content * 2 }}{{ '<a>' * 2 }}", "u", "(uu)[<a><a>]"},
    {"{{ messages[0].content | e }}", "<", "(&lt;)"},
    {"{{ [messages[0].content, '<a>'] }}", "u", "(['u', ')[<a>]('])"},
    {"{{ strftime_now('<%Y>') }}", "u", "[<1970>]"},
};

TEST(ChatTemplateTrustTest, FollowsEveryCharacter) {
  for (const TrustRow& row : kTrustRows) {
    const Result<ChatTemplate> parsed = ChatTemplate::Parse(row.source);
    ASSERT_TRUE(parsed) << row.source << " " << ToString(parsed.error());
    ChatRequest request;
    request.messages = {{"user", row.content}};
    request.bos_token = "<B>";
    request.eos_token = "<E>";
    EXPECT_EQ(Marked(parsed->Render(request)), row.marked) << row.source;
  }
}

TEST(ChatTemplateTrustTest, VariablesAreUntrustedAndWin) {
  const Result<ChatTemplate> parsed = ChatTemplate::Parse(
      "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
      "{{ tools is none }}{{ documents is none }}{{ n }}");
  ASSERT_TRUE(parsed);
  ChatRequest request;
  request.bos_token = "<B>";
  request.variables_json =
      R"({"messages": [{"role": "tool", "content": "<x>"}, {"role": "im_end", "content": ""}],
          "bos_token": "<s>", "n": 5, "documents": []})";
  EXPECT_EQ(Marked(parsed->Render(request)), "(<s>)[<|tool|>](<x>)[<|](im_end)[|>](TrueFalse5)");
  request.variables_json = "[1]";
  EXPECT_EQ(Marked(parsed->Render(request)),
            "ERROR variables_json: expected a JSON object of variables, found list");
}

struct ErrorRow {
  const char* source;
  const char* error;  // how "place: message" begins
};

constexpr ErrorRow kParseErrors[] = {
    {"a\n{% include 'x' %}", "line 2: not supported: the tag 'include'"},
    {"{% import 'x' as y %}", "line 1: not supported: the tag 'import'"},
    {"{% from 'x' import y %}", "line 1: not supported: the tag 'from'"},
    {"{% extends 'x' %}", "line 1: not supported: the tag 'extends'"},
    {"{% block b %}{% endblock %}", "line 1: not supported: the tag 'block'"},
    {"{% autoescape true %}{% endautoescape %}", "line 1: not supported: the tag 'autoescape'"},
    {"\n\n{% for x in y recursive %}{% endfor %}", "line 3: not supported: a recursive for loop"},
    {"{% do x %}", "line 1: TemplateSyntaxError: Encountered unknown tag 'do'."},
    {"{% if x %}", "line 1: TemplateSyntaxError: Unexpected end of template."},
    {"{% if x %}\n{% endfor %}",
     "line 2: TemplateSyntaxError: Encountered unknown tag 'endfor'. Jinja was looking for the "
     "following tags: 'elif' or 'else' or 'endif'."},
    {"{{ x | nope }}", "line 1: not supported: the filter 'nope'"},
    {"{{ x | xmlattr }}", "line 1: not supported: the filter 'xmlattr'"},
    {"{{ x is nope }}", "line 1: not supported: the test 'nope'"},
    {"{{ x is defined is none }}", "line 1: TemplateSyntaxError: You cannot chain"},
    {"{{ }}", "line 1: TemplateSyntaxError: expected an expression, got end of print statement"},
    {"{{ (1 }}", "line 1: TemplateSyntaxError: unexpected '}', expected ')'"},
    {"{{ 1 ! 2 }}", "line 1: TemplateSyntaxError: unexpected char '!' at 5"},
    {"{{ 'x }}", "line 1: TemplateSyntaxError: unexpected char"},
    {"{# x", "line 1: TemplateSyntaxError: Missing end of comment tag"},
    {"{% raw %} x", "line 1: TemplateSyntaxError: Missing end of raw directive"},
    {"{{ 99999999999999999999 }}", "line 1: not supported: an integer that does not fit"},
    {"{{ '\\ud800' }}", "line 1: not supported: a lone surrogate"},
    {"{{ '\\x4' }}", "line 1: TemplateSyntaxError: truncated \\x escape"},
    {"{{ naïve }}", "line 1: not supported: a name that is not ASCII"},
    {"{% set true = 1 %}", "line 1: TemplateSyntaxError: can't assign to 'true'"},
    {"{% set a.b.c = 1 %}", "line 1: TemplateSyntaxError: expected end of statement block"},
    {"{% for loop in x %}{% endfor %}", "line 1: TemplateSyntaxError: Can't assign to special"},
    {"{% break %}", "line 1: TemplateSyntaxError: 'break' outside of a loop"},
    {"{% for x in y %}{% macro m() %}{% continue %}{% endmacro %}{% endfor %}",
     "line 1: TemplateSyntaxError: 'continue' outside of a loop"},
    {"{% macro m(a, a) %}{% endmacro %}", "line 1: TemplateSyntaxError: duplicate argument a"},
    {"{% macro m(a=1, b) %}{% endmacro %}", "line 1: TemplateSyntaxError: non-default argument"},
    {"{% call x %}{% endcall %}", "line 1: TemplateSyntaxError: expected call"},
    {"{{ f(a=1, a=2) }}", "line 1: TemplateSyntaxError: keyword argument repeated: a"},
    {"{{ f(a=1, 2) }}", "line 1: TemplateSyntaxError: invalid syntax for function call"},
    {"\xff", "chat template: expected UTF-8, found an invalid byte at offset 0"},
};

TEST(ChatTemplateErrorTest, RefusedWhenParsed) {
  for (const ErrorRow& row : kParseErrors) {
    const Result<ChatTemplate> parsed = ChatTemplate::Parse(row.source);
    ASSERT_FALSE(parsed) << row.source;
    EXPECT_TRUE(ToString(parsed.error()).starts_with(row.error)) << row.source << "\n"
                                                                 << ToString(parsed.error());
  }
}

constexpr ErrorRow kRenderErrors[] = {
    {"a\n\n{{ x.y.z }}", "line 3: UndefinedError: 'x' is undefined (in .y)"},
    {"{{ raise_exception('No system role') }}",
     "line 1: TemplateError: No system role (in a call)"},
    {"{{ [1][5].x }}", "line 1: UndefinedError: list object has no element 5"},
    {"{{ {}.x.y }}", "line 1: UndefinedError: 'dict object' has no attribute 'x'"},
    {"{{ [].append(1) }}", "line 1: SecurityError: access to attribute 'append' of 'list' object"},
    {"{{ {}.update({}) }}", "line 1: SecurityError: access to attribute 'update' of 'dict'"},
    {"{{ ''.__class__.x }}", "line 1: SecurityError: access to attribute '__class__' of 'str'"},
    {"{{ 'a'.encode() }}", "line 1: not supported: the method str.encode (in a call)"},
    {"{{ range }}", "line 1: not supported: printing a function (in {{ ... }})"},
    {"{{ [1] | map('string') }}", "line 1: not supported: printing a generator"},
    {"{{ 9223372036854775807 + 1 }}", "line 1: OverflowError: an integer that does not fit"},
    {"{{ 2 ** 63 }}", "line 1: OverflowError: an integer that does not fit"},
    {"{{ -9223372036854775807 * 2 }}", "line 1: OverflowError"},
    {"{{ 1 // 0 }}", "line 1: ZeroDivisionError: integer division or modulo by zero"},
    {"{{ ('<b>' | safe) + '<' }}", "line 1: not supported: operator + on a text marked safe"},
    {"{{ strftime_now('%Q') }}", "line 1: not supported: the code %Q of strftime_now"},
    {"{% set ns = namespace() %}{% set ns.x = [ns] %}",
     "line 1: not supported: a list with state inside a namespace"},
    {"{% set x = 1 %}{% set x.y = 2 %}",
     "line 1: TemplateRuntimeError: cannot assign attribute on non-namespace object"},
    {"{% for a, b in [[1]] %}{% endfor %}", "line 1: ValueError: not enough values to unpack"},
    {"{% for a in 5 %}{% endfor %}", "line 1: TypeError: 'int' object is not iterable"},
    {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
     "line 1: TypeError: macro 'm' takes not more than 1 argument(s)"},
    {"{{ big }}", "context_json: an integer that does not fit in 64 bits"},
};

TEST(ChatTemplateErrorTest, RefusedWhenRendered) {
  for (const ErrorRow& row : kRenderErrors) {
    const bool big = std::string(row.source) == "{{ big }}";
    const std::string text =
        RenderOrError(row.source, big ? R"({"big": 123456789012345678901})" : "{}");
    EXPECT_TRUE(text.starts_with(std::string("ERROR ") + row.error)) << row.source << "\n" << text;
  }
}

TEST(ChatTemplateErrorTest, BadContexts) {
  const ChatTemplate parsed = *ChatTemplate::Parse("{{ x }}");
  EXPECT_EQ(parsed.RenderJson("[").error().code, ErrorCode::kMalformed);
  EXPECT_EQ(parsed.RenderJson("[").error().place, "context_json, byte 1");
  EXPECT_EQ(parsed.RenderJson("\"\xff\"").error().code, ErrorCode::kMalformed);
  EXPECT_EQ(parsed.RenderJson("3").error().code, ErrorCode::kInvalidArgument);
  ChatRequest request;
  request.messages = {{"user", "ok"}, {"user", "a\xffz"}};
  const auto spans = parsed.Render(request);
  ASSERT_FALSE(spans);
  EXPECT_EQ(spans.error().place, "/messages/1/content");
}

std::string Repeat(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// Sources that would hang, overflow the stack or eat memory.
TEST(ChatTemplateLimitTest, HostileTemplatesAreErrors) {
  const std::vector<std::string> sources = {
      "{{ 'x' * 1000000000 }}",
      "{{ 'x' * 9223372036854775807 }}",
      "{{ [0] * 1000000000 }}",
      "{{ range(1000000000000) }}",
      "{% set ns = namespace(s='xxxxxxxxxxxxxxxx') %}{% for i in range(99) %}"
      "{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
      "{% set ns = namespace(s=['x']) %}{% for i in range(99) %}"
      "{% set ns.s = ns.s + ns.s %}{% endfor %}",
      "{% set ns = namespace(s=[]) %}{% for i in range(99999) %}{% set ns.s = [ns.s] %}{% endfor "
      "%}",
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% macro m(x) %}{{ m([x]) }}{% endmacro %}{{ m(1) }}",
      "{{ '%1000000000d' % 1 }}",
      "{{ '%*d' % (1000000000, 1) }}",
      "{{ '{:1000000000}'.format(1) }}",
      "{{ 'x'.center(1000000000) }}",
      "{{ 'x' | indent(1000000000, true) }}",
      "{{ [[[1]]] | tojson(indent=1000000000) }}",
      "{{ [1] | batch(1000000000, 0) | list }}",
      "{{ [1] | slice(1000000000) | list }}",
      "{{ ('x' * 100000).replace('x', 'y' * 100000) }}",
      "{{ ('x' * 100000).replace('', 'y' * 100000) }}",
      "{{ ('a' * 100000).rfind('b' * 50000) }}",
      "{{ (('x,' * 1000000).split(',') | join('y' * 1000)) }}",
      "{{ " + Repeat("(", 100000) + "1" + Repeat(")", 100000) + " }}",
      "{{ " + Repeat("[", 100000) + Repeat("]", 100000) + " }}",
      "{{ " + Repeat("{1:", 100000) + "1" + Repeat("}", 100000) + " }}",
      "{{ " + Repeat("not ", 100000) + "1 }}",
      "{{ " + Repeat("-", 100000) + "1 }}",
      "{{ " + Repeat("f(", 100000) + Repeat(")", 100000) + " }}",
      "{{ " + Repeat("a[", 100000) + "1" + Repeat("]", 100000) + " }}",
      "{{ " + Repeat("a|d(", 100000) + "1" + Repeat(")", 100000) + " }}",
      "{{ " + Repeat("a is in(", 100000) + "1" + Repeat(")", 100000) + " }}",
      "{{ " + Repeat("1 if 1 else ", 50000) + "1 }}",
      "{{ 1" + Repeat(" if 1", 100000) + " }}",
      Repeat("{% if 1 %}", 50000) + Repeat("{% endif %}", 50000),
      Repeat("{% for a in b %}", 30000),
      "{% set " + Repeat("(", 100000) + "a" + Repeat(")", 100000) + " = 1 %}",
  };
  ChatLimits limits;  // smaller than the usual ones, so that a slow build is not slow here
  limits.max_steps = 500'000;
  limits.max_output_bytes = 8 << 20;
  for (const std::string& source : sources) {
    const std::string text = RenderOrError(source, "{}", limits);
    EXPECT_TRUE(text.starts_with("ERROR ")) << source.substr(0, 120) << "\n" << text.size();
    EXPECT_LT(text.size(), 500U) << source.substr(0, 120);
  }
}

// Long but flat sources are fine: nesting counts, not length.
TEST(ChatTemplateLimitTest, LongChainsAreFine) {
  EXPECT_EQ(RenderOrError("{{ 0" + Repeat(" + 1", 20000) + " }}", "{}"), "20000");
  EXPECT_EQ(RenderOrError("{{ ''" + Repeat(" ~ 'a'", 20000) + " }}", "{}").size(), 20000U);
  EXPECT_EQ(RenderOrError("{{ 1" + Repeat(" and 1", 20000) + " }}", "{}"), "1");
  EXPECT_EQ(RenderOrError("{{ 1" + Repeat(" < 2 > 1", 20000) + " }}", "{}"), "True");
  EXPECT_EQ(RenderOrError("{{ 'a'" + Repeat(" | upper", 20000) + " }}", "{}"), "A");
  EXPECT_EQ(RenderOrError("{% if 0 %}" + Repeat("{% elif 0 %}", 20000) + "{% endif %}", "{}"), "");
}

TEST(ChatTemplateLimitTest, BothSidesOfEachLimit) {
  ChatLimits limits;
  limits.max_source_bytes = 4;
  EXPECT_EQ(RenderOrError("abcd", "{}", limits), "abcd");
  EXPECT_EQ(RenderOrError("abcde", "{}", limits),
            "ERROR a template of 5 bytes, more than max_source_bytes = 4");
  limits = {};
  limits.max_output_bytes = 4;
  EXPECT_EQ(RenderOrError("{{ 'ab' * 2 }}", "{}", limits), "abab");
  EXPECT_EQ(RenderOrError("{{ 'ab' * 3 }}", "{}", limits),
            "ERROR line 1: a text longer than max_output_bytes = 4 (in operator *)");
  EXPECT_EQ(RenderOrError("ab{{ 'abc' }}", "{}", limits),
            "ERROR line 1: a text longer than max_output_bytes = 4 (in the output)");
  limits = {};
  limits.max_steps = 12;
  EXPECT_EQ(RenderOrError("{{ [1, 2, 3] }}", "{}", limits), "[1, 2, 3]");
  EXPECT_EQ(RenderOrError("{{ [1, 2, 3, 4] }}", "{}", limits),
            "ERROR line 1: more than max_steps = 12 steps of work (in {{ ... }})");
  limits = {};
  limits.max_depth = 5;
  EXPECT_EQ(RenderOrError("{{ [[[[1]]]] }}", "{}", limits), "[[[[1]]]]");
  EXPECT_EQ(RenderOrError("{{ [[[[[1]]]]] }}", "{}", limits),
            "ERROR line 1: blocks and expressions nested deeper than max_depth = 5");
  EXPECT_EQ(RenderOrError("{{ x }}", R"({"x": [[[[1]]]]})", limits), "[[[[1]]]]");
  EXPECT_EQ(RenderOrError("{{ x }}", R"({"x": [[[[[1]]]]]})", limits),
            "ERROR context_json: JSON nested deeper than max_depth = 5");
  const std::string recursive =
      "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{% endif %}x{% endmacro %}";
  EXPECT_EQ(RenderOrError(recursive + "{{ m(4) }}", "{}", limits), "xxxxx");
  EXPECT_EQ(RenderOrError(recursive + "{{ m(5) }}", "{}", limits),
            "ERROR line 1: macro calls nested deeper than max_depth = 5 (in a call)");
}

// The deepest nesting allowed must fit the stack of a thread.
TEST(ChatTemplateLimitTest, DeepestNestingFitsTheStack) {
  ChatLimits limits;
  limits.max_depth = 200;
  const std::string deep = Repeat("[", 60) + "m(n - 1) if n else 0" + Repeat("]", 60);
  const std::string source = "{% macro m(n) %}" + Repeat("{% if 1 %}", 60) + "{{ " + deep + " }}" +
                             Repeat("{% endif %}", 60) + "{% endmacro %}{{ m(199) | length }}";
  EXPECT_TRUE(RenderOrError(source, "{}", limits)
                  .starts_with("ERROR line 1: the template's macros and blocks nested deeper"));
}

}  // namespace
}  // namespace adjudge
