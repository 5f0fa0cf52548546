#include "cli/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>

#include "cli/outcome.h"

namespace adjudge::cli {
namespace {

// A signal handler can only reach what is global.
std::atomic<bool> g_raised{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// Readable once g_raised is set: what a wait for input watches too, since a signal that comes just
// before a read would not end it.
int g_wake = -1;

extern "C" void OnInterrupt(int /*signal*/) {
  g_raised.store(true);
  const std::uint64_t one = 1;
  // The counter is far from full, so this cannot fail.
  if (g_wake >= 0 && write(g_wake, &one, sizeof one) < 0) return;
}

extern "C" void OnInterruptEnd(int /*signal*/) {
  constexpr char kWords[] = "adjudge: cancelled\n";
  // Nothing else may be called here; a word that cannot be written is lost.
  if (write(STDERR_FILENO, kWords, sizeof kWords - 1) < 0) _exit(kFailed);
  _exit(kFailed);
}

void Install() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  // Back to the default after the first, so that a second one ends the program; no SA_RESTART, so
  // that a read of standard input returns.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  if (g_wake < 0) g_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Clear();
}

Interrupt::~Interrupt() { EndAtOnce(); }

void Interrupt::EndAtOnce() {
  struct sigaction action = {};
  action.sa_handler = OnInterruptEnd;
  sigaction(SIGINT, &action, nullptr);
}

const std::atomic<bool>* Interrupt::flag() const { return &g_raised; }

bool Interrupt::raised() const { return g_raised.load(); }

void Interrupt::Clear() {
  std::uint64_t count = 0;
  if (g_wake >= 0 && read(g_wake, &count, sizeof count) < 0) count = 0;  // it was not raised
  g_raised = false;
  Install();
}

bool Interrupt::WaitToRead(int fd) const {
  std::array<pollfd, 2> waits = {pollfd{fd, POLLIN, 0}, pollfd{g_wake, POLLIN, 0}};
  while (!raised()) {
    if (poll(waits.data(), waits.size(), -1) > 0 && waits[0].revents != 0) return !raised();
  }
  return false;
}

}  // namespace adjudge::cli
