#include "tests/testing/cli_case.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace adjudge::testing {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr const char* kTemplate =
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}";

fs::path TinyFolder() { return SourceFolder() / "tests" / "golden" / "tiny"; }

// A model folder with a chat template, made from the tiny one.
void WriteChatModel(const fs::path& to, const std::string& chat_template = kTemplate) {
  fs::copy(TinyFolder() / "llama-f32", to);
  json config = json::parse(ReadFile(to / "tokenizer_config.json"));
  config["chat_template"] = chat_template;
  std::ofstream(to / "tokenizer_config.json") << config.dump();
}

// The tiny model with every weight in the second half of its file one byte over and over: 0xff
// makes a NaN of it, 0x7e a number so great that sums overflow.
void WriteSpoiltModel(const fs::path& to, char byte) {
  WriteChatModel(to);
  std::string bytes = ReadFile(to / "model.safetensors");
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end(), byte);
  std::ofstream(to / "model.safetensors", std::ios::binary) << bytes;
}

struct Files {
  TempFolder temp;
  Files() {
    const std::string whole = ReadFile(TinyModel());
    temp.Write("empty.gguf", "");
    temp.Write("short.gguf", whole.substr(0, whole.size() - 5000));
    temp.Write("head.gguf", whole.substr(0, 300));
    temp.Write("text.gguf", "This is no model.\n");
    WriteChatModel(temp.path() / "chat");
    WriteChatModel(temp.path() / "unparsed", "{% for m in");
    WriteChatModel(temp.path() / "raising", "{{ raise_exception('no\n\x1b[2J\xe2\x80\xae') }}");
    WriteSpoiltModel(temp.path() / "nan", '\xff');
    WriteSpoiltModel(temp.path() / "huge", '\x7e');
    mkfifo((temp.path() / "pipe").c_str(), 0600);
    WriteChatModel(temp.path() / "piped");
    fs::remove(temp.path() / "piped" / "tokenizer.model");
    mkfifo((temp.path() / "piped" / "tokenizer.json").c_str(), 0600);
  }
};

const Files& SharedFiles() {
  static const Files files;
  return files;
}

void Replace(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string Filled(std::string text) {
  Replace(text, "{tiny}", TinyModel());
  Replace(text, "{chat}", SharedFiles().temp.path() / "chat");
  Replace(text, "{temp}", SharedFiles().temp.path());
  if (const auto model = ModelPath("default")) Replace(text, "{default}", *model);
  return text;
}

// The head of a long text, for messages.
std::string Head(const std::string& text) {
  constexpr std::size_t kShown = 1500;
  return text.size() <= kShown ? text : text.substr(0, kShown) + " ...";
}

bool NeedsDefaultModel(const CliCase& row) {
  for (const std::string& argument : row.arguments) {
    if (argument.find("{default}") != std::string::npos) return true;
  }
  return false;
}

void CheckFields(const CliCase& row, const ProgramResult& result) {
  if (row.fields.empty()) return;
  const json output = json::parse(result.output, nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(output.is_discarded()) << "not JSON: " << Head(result.output) << Head(result.errors);
  for (const auto& [pointer, expected] : row.fields) {
    const json::json_pointer at(pointer);
    ASSERT_TRUE(output.contains(at)) << pointer << " is not in " << Head(result.output);
    if (expected == "*") continue;
    EXPECT_EQ(output[at], json::parse(expected)) << pointer;
  }
}

}  // namespace

void PrintTo(const CliCase& row, std::ostream* out) { *out << row.name; }

std::string CliCaseName(const ::testing::TestParamInfo<CliCase>& info) { return info.param.name; }

void CheckCliCase(const CliCase& row) {
  if (NeedsDefaultModel(row) && !ModelPath("default")) GTEST_SKIP() << "no model: default";
  ProgramRun run;
  run.command = {AdjudgePath()};
  for (const std::string& argument : row.arguments) run.command.push_back(Filled(argument));
  run.input = row.input;
  const ProgramResult result = RunProgram(run);
  EXPECT_EQ(result.exit_code, row.exit_code) << Head(result.output) << Head(result.errors);
  for (const std::string& part : row.in_output) {
    EXPECT_NE(result.output.find(Filled(part)), std::string::npos)
        << "no \"" << part << "\" in: " << Head(result.output);
  }
  for (const std::string& part : row.not_in_output) {
    EXPECT_EQ(result.output.find(Filled(part)), std::string::npos)
        << "\"" << part << "\" is in: " << Head(result.output);
  }
  for (const std::string& part : row.in_errors) {
    EXPECT_NE(result.errors.find(Filled(part)), std::string::npos)
        << "no \"" << part << "\" in: " << result.errors;
  }
  EXPECT_TRUE(row.exit_code == 0 || !result.errors.empty());
  for (const char c : result.errors) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20)
        << "a control character in: " << result.errors;
  }
  CheckFields(row, result);
}

std::string AdjudgePath() { return (ProgramFolder() / "adjudge").string(); }

std::string FilledArgument(std::string argument) { return Filled(std::move(argument)); }

std::string TinyModel() { return (TinyFolder() / "llama-f32.gguf").string(); }

}  // namespace adjudge::testing
