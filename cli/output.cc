#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/printable.h"

namespace adjudge::cli {

Output::Output() : is_terminal_(isatty(STDOUT_FILENO) == 1) {}

bool Output::Write(std::string_view bytes) {
  if (error_ != 0) return false;
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) {
    error_ = errno != 0 ? errno : EIO;
  }
  return error_ == 0;
}

bool Output::WriteText(std::string_view text) {
  return is_terminal_ ? Write(Printable(text, KeepLines::kYes)) : Write(text);
}

bool Output::Flush() {
  if (error_ != 0) return false;
  errno = 0;
  if (std::fflush(stdout) != 0) error_ = errno != 0 ? errno : EIO;
  return error_ == 0;
}

int Output::Finish(int code) {
  Flush();
  if (error_ == 0) return code;
  if (error_ != EPIPE) {
    Say(std::string("adjudge: cannot write to standard output: ") + std::strerror(error_));
  }
  return kFailed;
}

void Say(std::string_view words) {
  constexpr std::size_t kMaxBytes = 2000;
  // A cut inside a character would show as an escape of its first bytes.
  std::size_t cut = std::min(words.size(), kMaxBytes);
  while (cut < words.size() && cut > 0 && (static_cast<unsigned char>(words[cut]) & 0xC0) == 0x80) {
    --cut;
  }
  std::string line = Printable(words.substr(0, cut));
  if (cut < words.size()) line += "...";
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void SayLines(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

bool StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace adjudge::cli
