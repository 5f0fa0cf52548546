#include "engine/chat_template.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "engine/template/interpreter.h"
#include "engine/template/json_reader.h"
#include "engine/template/parser.h"
#include "engine/template/print.h"
#include "engine/template/unicode.h"

namespace adjudge {
namespace {

using jinja::Budget;
using jinja::Dict;
using jinja::Kind;
using jinja::Value;

// Roles that a template may join into the name of a special token ("<|" + role + "|>"). They are
// words of the interface, not of the user, so they count as the template's own text.
constexpr std::string_view kRoles[] = {"system",    "user",     "assistant",   "tool",
                                       "developer", "function", "observation", "model"};

bool IsKnownRole(std::string_view role) {
  return std::find(std::begin(kRoles), std::end(kRoles), role) != std::end(kRoles);
}

Status CheckUtf8(std::string_view text, const std::string& place) {
  const std::size_t bad = jinja::FindInvalidUtf8(text);
  if (bad == std::string_view::npos) return {};
  return Fail(ErrorCode::kMalformed,
              "expected UTF-8, found an invalid byte at offset " + std::to_string(bad), place);
}

Result<Value> MessageValue(const Value& role, Value content, Budget& budget) {
  auto message = std::make_shared<Dict>();
  ADJUDGE_RETURN_IF_ERROR(message->Set(Value::String("role"), role, budget));
  ADJUDGE_RETURN_IF_ERROR(message->Set(Value::String("content"), std::move(content), budget));
  return Value::Of(Kind::kDict, std::move(message));
}

Result<Value> MessagesValue(const std::vector<ChatMessage>& messages, Budget& budget) {
  std::vector<Value> items;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string place = "/messages/" + std::to_string(i);
    ADJUDGE_RETURN_IF_ERROR(CheckUtf8(messages[i].role, place + "/role"));
    ADJUDGE_RETURN_IF_ERROR(CheckUtf8(messages[i].content, place + "/content"));
    const Value role = Value::String(messages[i].role, IsKnownRole(messages[i].role));
    ADJUDGE_ASSIGN_OR_RETURN(Value message,
                             MessageValue(role, Value::String(messages[i].content, false), budget));
    items.push_back(std::move(message));
  }
  return jinja::MakeList(std::move(items), budget);
}

// Messages given as JSON: the same with the known roles trusted.
Result<Value> TrustRoles(const Value& messages, Budget& budget) {
  if (!messages.is(Kind::kList)) return messages;
  std::vector<Value> items;
  for (const Value& message : messages.sequence().items) {
    if (!message.is(Kind::kDict)) {
      items.push_back(message);
      continue;
    }
    auto copy = std::make_shared<Dict>();
    for (const auto& [key, value] : message.dict().entries) {
      const bool role = key.is_text() && key.text().bytes == "role" && value.is_text() &&
                        IsKnownRole(value.text().view());
      ADJUDGE_RETURN_IF_ERROR(
          copy->Set(key, role ? Value::String(value.text().view(), true) : value, budget));
    }
    items.push_back(Value::Of(Kind::kDict, std::move(copy)));
  }
  return jinja::MakeList(std::move(items), budget);
}

Result<Value> ObjectOf(std::string_view json, const char* what, Budget& budget) {
  Result<Value> value = jinja::ReadJson(json, budget);
  if (!value) {
    Error error = std::move(value).error();
    error.place = error.place.empty() ? what : std::string(what) + ", " + error.place;
    return tl::unexpected<Error>(std::move(error));
  }
  if (value->is(Kind::kDict)) return value;
  return Fail(ErrorCode::kInvalidArgument,
              std::string("expected a JSON object of variables, found ") +
                  std::string(jinja::TypeName(*value)),
              what);
}

std::vector<TextSpan> Spans(const jinja::Text& text) {
  std::vector<TextSpan> spans;
  for (std::size_t begin = 0; begin < text.bytes.size();) {
    const std::size_t end = text.trust.RunEnd(begin);
    spans.push_back({text.bytes.substr(begin, end - begin), text.trust.At(begin)});
    begin = end;
  }
  return spans;
}

}  // namespace

struct ChatTemplate::Impl {
  jinja::Template source;
  ChatLimits limits;

  using Variables = std::unordered_map<std::string, Value>;

  Result<jinja::TextPtr> Run(const Variables& variables, std::int64_t now, Budget& budget) const {
    std::vector<Value> values(source.names.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto found = variables.find(source.names[i]);
      if (found != variables.end()) values[i] = found->second;
    }
    return jinja::Interpreter(source, std::move(values), now, budget).Run();
  }
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

Result<ChatTemplate> ChatTemplate::Parse(std::string_view source, const ChatLimits& limits) {
  if (source.size() > limits.max_source_bytes) {
    return Fail(ErrorCode::kLimit, "a template of " + std::to_string(source.size()) +
                                       " bytes, more than max_source_bytes = " +
                                       std::to_string(limits.max_source_bytes));
  }
  ADJUDGE_RETURN_IF_ERROR(CheckUtf8(source, "chat template"));
  auto impl = std::make_unique<Impl>();
  impl->limits = limits;
  ADJUDGE_ASSIGN_OR_RETURN(impl->source, jinja::ParseTemplate(source, limits));
  return ChatTemplate(std::move(impl));
}

Result<std::vector<TextSpan>> ChatTemplate::Render(const ChatRequest& request) const {
  Budget budget(impl_->limits);
  Impl::Variables variables;
  ADJUDGE_ASSIGN_OR_RETURN(variables["messages"], MessagesValue(request.messages, budget));
  variables["add_generation_prompt"] = Value::Bool(request.add_generation_prompt);
  ADJUDGE_RETURN_IF_ERROR(CheckUtf8(request.bos_token, "bos_token"));
  ADJUDGE_RETURN_IF_ERROR(CheckUtf8(request.eos_token, "eos_token"));
  variables["bos_token"] = Value::String(request.bos_token, true);
  variables["eos_token"] = Value::String(request.eos_token, true);
  // Templates in the wild count on these being none, rather than undefined, where there are none.
  variables["tools"] = Value::None();
  variables["documents"] = Value::None();
  if (!request.variables_json.empty()) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value more,
                             ObjectOf(request.variables_json, "variables_json", budget));
    for (const auto& [key, value] : more.dict().entries) {
      variables[key.text().bytes] = value;
    }
    ADJUDGE_ASSIGN_OR_RETURN(variables["messages"], TrustRoles(variables["messages"], budget));
  }
  ADJUDGE_ASSIGN_OR_RETURN(const jinja::TextPtr text,
                           impl_->Run(variables, request.now_unix_seconds, budget));
  return Spans(*text);
}

Result<std::string> ChatTemplate::RenderJson(std::string_view context_json,
                                             std::int64_t now_unix_seconds) const {
  Budget budget(impl_->limits);
  ADJUDGE_ASSIGN_OR_RETURN(const Value context, ObjectOf(context_json, "context_json", budget));
  Impl::Variables variables;
  for (const auto& [key, value] : context.dict().entries) variables[key.text().bytes] = value;
  ADJUDGE_ASSIGN_OR_RETURN(const jinja::TextPtr text,
                           impl_->Run(variables, now_unix_seconds, budget));
  return text->bytes;
}

}  // namespace adjudge
