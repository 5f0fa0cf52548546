#include "tests/testing/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>

namespace adjudge::testing {
namespace {

struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  }
  ~Pipe() {
    Close(0);
    Close(1);
  }
  void Close(std::size_t end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

[[noreturn]] void Exec(const ProgramRun& run, const Pipe& in, const Pipe& out, const Pipe& err) {
  std::signal(SIGPIPE, SIG_DFL);
  int output = out.ends[1];
  if (!run.output_path.empty()) output = open(run.output_path.c_str(), O_WRONLY);
  dup2(in.ends[0], STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(err.ends[1], STDERR_FILENO);
  for (const auto& [name, value] : run.environment) {
    if (value.empty()) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  std::vector<char*> arguments;
  for (const std::string& argument : run.command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

// Appends what can be read; closes the end when there is no more.
void ReadSome(Pipe& from, std::string& to) {
  std::array<char, 1 << 16> buffer;
  const ssize_t n = read(from.ends[0], buffer.data(), buffer.size());
  if (n > 0) {
    to.append(buffer.data(), static_cast<std::size_t>(n));
  } else {
    from.Close(0);
  }
}

void WriteSome(Pipe& to, const std::string& input, bool keep_open, std::size_t& written) {
  const ssize_t n = write(to.ends[1], input.data() + written,
                          std::min<std::size_t>(input.size() - written, 4096));
  if (n > 0) written += static_cast<std::size_t>(n);
  if (n < 0 || (written == input.size() && !keep_open)) to.Close(1);
}

// The program handles SIGINT and sleeps.
bool WaitsForInput(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  bool sleeps = false;
  bool catches = false;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) sleeps = line.find('S') != std::string::npos;
    if (line.starts_with("SigCgt:")) {
      const unsigned long long mask = std::stoull(line.substr(7), nullptr, 16);
      catches = (mask >> (SIGINT - 1) & 1) != 0;
    }
  }
  std::ifstream call("/proc/" + std::to_string(pid) + "/wchan");
  std::string where;
  std::getline(call, where);
  // Some systems tell no place; there the state must do.
  return sleeps && catches &&
         (where.find("pipe") != std::string::npos || where.find("poll") != std::string::npos ||
          where.size() < 2);
}

}  // namespace

ProgramResult RunProgram(const ProgramRun& run) {
  std::signal(SIGPIPE, SIG_IGN);  // a program need not read its input
  ProgramResult result;
  Pipe in, out, err;
  const pid_t pid = fork();
  if (pid == 0) Exec(run, in, out, err);
  in.Close(0);
  out.Close(1);
  err.Close(1);
  if (run.close_output) out.Close(0);
  std::size_t written = 0;
  if (run.input.empty() && !run.interrupt_when_waiting) in.Close(1);
  bool interrupted = false;
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(run.timeout_seconds);
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    std::array<pollfd, 3> waits = {pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0},
                                   pollfd{in.ends[1], POLLOUT, 0}};
    if (run.interrupt_when_waiting && written == run.input.size()) waits[2].fd = -1;
    poll(waits.data(), waits.size(), run.interrupt_when_waiting ? 10 : 100);
    if (waits[0].revents != 0) ReadSome(out, result.output);
    if (waits[1].revents != 0) ReadSome(err, result.errors);
    if (waits[2].revents != 0) WriteSome(in, run.input, run.interrupt_when_waiting, written);
    const bool enough = static_cast<int>(result.output.size()) >= run.interrupt_after_bytes;
    if (run.interrupt_when_waiting && !interrupted && enough && WaitsForInput(pid)) {
      kill(pid, SIGINT);
      interrupted = true;
    }
    if (run.interrupt_after_bytes >= 0 && !run.interrupt_when_waiting && !interrupted && enough) {
      kill(pid, SIGINT);
      interrupted = true;
    }
    if (run.interrupt_after_error_bytes >= 0 && !interrupted &&
        static_cast<int>(result.errors.size()) >= run.interrupt_after_error_bytes) {
      kill(pid, SIGINT);
      interrupted = true;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
      return result;
    }
  }
  int status = 0;
  waitpid(pid, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace adjudge::testing
