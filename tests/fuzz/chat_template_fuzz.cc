// Chat templates: the input is a template, a NUL byte and a JSON object of variables.
#include <cstdint>
#include <string>

#include "engine/base/check.h"
#include "engine/chat_template.h"

namespace {

// A character that only the message holds: it may never come out as trusted.
constexpr const char* kMark = "\xEE\x84\xA3";  // U+E123

void CheckSpans(const adjudge::ChatTemplate& parsed, const std::string& variables) {
  adjudge::ChatRequest request;
  request.messages = {{"system", std::string("s") + kMark}, {"user", std::string(kMark) + " u"}};
  request.bos_token = "<s>";
  request.eos_token = "</s>";
  const auto spans = parsed.Render(request);
  for (std::size_t i = 0; spans && i < spans->size(); ++i) {
    const adjudge::TextSpan& span = (*spans)[i];
    ADJUDGE_CHECK(!span.text.empty());
    ADJUDGE_CHECK(i == 0 || (*spans)[i - 1].trusted != span.trusted);
    ADJUDGE_CHECK(!span.trusted || span.text.find(kMark) == std::string::npos);
  }
  request.variables_json = variables;
  (void)parsed.Render(request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  const std::string source = input.substr(0, input.find('\0'));
  const std::string variables =
      source.size() < input.size() ? input.substr(source.size() + 1) : "{}";
  adjudge::ChatLimits limits;
  limits.max_source_bytes = 1 << 14;
  limits.max_depth = 40;
  limits.max_steps = 20'000;
  limits.max_output_bytes = 1 << 16;
  const auto parsed = adjudge::ChatTemplate::Parse(source, limits);
  if (!parsed) {
    ADJUDGE_CHECK(!parsed.error().message.empty());
    return 0;
  }
  const auto text = parsed->RenderJson(variables);
  ADJUDGE_CHECK(!text || text->size() <= limits.max_output_bytes);
  ADJUDGE_CHECK(text || !text.error().place.empty());
  // "\ue123" in the template, or its number, would be the template's own mark.
  const bool own = source.find("123") != std::string::npos ||
                   source.find("57635") != std::string::npos ||
                   source.find(kMark) != std::string::npos;
  if (!own) CheckSpans(*parsed, variables);
  return 0;
}
