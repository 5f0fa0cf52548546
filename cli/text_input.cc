#include "cli/text_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "cli/printable.h"
#include "engine/base/utf8.h"

namespace adjudge::cli {
namespace {

tl::unexpected<Failure> Failed(const std::string& name, const std::string& why) {
  return tl::unexpected<Failure>(Failure(kFailed, name + ": " + why));
}

Outcome<std::string> ReadAll(int fd, const std::string& name, std::size_t max_bytes) {
  std::string bytes;
  char buffer[1 << 16];
  while (true) {
    const std::size_t wanted = std::min(sizeof buffer, max_bytes + 1 - bytes.size());
    const ssize_t n = read(fd, buffer, wanted);
    if (n < 0 && errno == EINTR) return Failed(name, "cancelled");
    if (n < 0) return Failed(name, std::string("cannot read: ") + std::strerror(errno));
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(n));
    if (bytes.size() > max_bytes) {
      return Failed(name, "larger than the limit of " + std::to_string(max_bytes) + " bytes");
    }
  }
}

// The code of a \uXXXX escape at `at`, or -1.
int EscapedCode(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return -1;
  int code = -1;
  const char* end = text.data() + at + 6;
  const auto [after, error] = std::from_chars(text.data() + at + 2, end, code, 16);
  return error == std::errc() && after == end ? code : -1;
}

bool IsHighSurrogate(int code) { return code >= 0xD800 && code < 0xDC00; }
bool IsLowSurrogate(int code) { return code >= 0xDC00 && code < 0xE000; }

std::string NameOf(const std::string& path_or_dash) {
  return path_or_dash == "-" ? "standard input" : Printable(path_or_dash);
}

}  // namespace

std::string Utf8Fault(std::string_view bytes) {
  const auto bad = adjudge::FirstInvalidUtf8(bytes);
  return bad ? "not UTF-8 at byte " + std::to_string(*bad) : std::string();
}

std::string RepairJson(std::string_view text) {
  std::string out = RepairUtf8(text);
  for (std::size_t at = out.find('\\'); at != std::string::npos; at = out.find('\\', at)) {
    const int code = EscapedCode(out, at);
    const bool pair = IsHighSurrogate(code) && IsLowSurrogate(EscapedCode(out, at + 6));
    if (!pair && (IsHighSurrogate(code) || IsLowSurrogate(code))) out.replace(at, 6, "\\ufffd");
    at += pair ? 12 : code >= 0 ? 6 : 2;
  }
  return out;
}

Outcome<std::string> ReadText(const std::string& text_or_dash, BadBytes bad_bytes,
                              std::size_t max_bytes) {
  std::string text = text_or_dash;
  const bool input = text_or_dash == "-";
  if (input) {
    CLI_ASSIGN_OR_RETURN(text, ReadAll(STDIN_FILENO, "standard input", max_bytes));
  }
  const std::string fault = Utf8Fault(text);
  if (fault.empty()) return text;
  if (bad_bytes == BadBytes::kReplace) return RepairUtf8(text);
  return tl::unexpected<Failure>(input ? Failure(kFailed, "standard input: " + fault)
                                       : Failure(kUsage, fault));
}

Outcome<std::string> ReadJsonFile(const std::string& path_or_dash, BadBytes bad_bytes,
                                  std::size_t max_bytes) {
  CLI_ASSIGN_OR_RETURN(std::string text, ReadFileOrInput(path_or_dash, max_bytes));
  if (bad_bytes == BadBytes::kReplace) return RepairJson(text);
  if (const std::string fault = Utf8Fault(text); !fault.empty()) {
    return Failed(NameOf(path_or_dash), fault);
  }
  return text;
}

Outcome<std::string> ReadFileOrInput(const std::string& path_or_dash, std::size_t max_bytes) {
  if (path_or_dash == "-") return ReadAll(STDIN_FILENO, "standard input", max_bytes);
  const int fd = open(path_or_dash.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed(path_or_dash, std::strerror(errno));
  Outcome<std::string> bytes = ReadAll(fd, path_or_dash, max_bytes);
  close(fd);
  return bytes;
}

}  // namespace adjudge::cli
