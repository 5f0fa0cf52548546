#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "cli/outcome.h"

namespace adjudge::cli {
namespace {

// A signal handler can only reach what is global.
std::atomic<bool> g_raised{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void OnInterrupt(int /*signal*/) { g_raised.store(true); }

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
  g_raised = false;
  Install();
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
  g_raised = false;
  Install();
}

}  // namespace adjudge::cli
