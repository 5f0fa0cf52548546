#include "cli/interrupt.h"

#include <csignal>

namespace adjudge::cli {
namespace {

// A signal handler can only reach what is global.
std::atomic<bool> g_raised{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void OnInterrupt(int /*signal*/) { g_raised.store(true); }

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

Interrupt::~Interrupt() { std::signal(SIGINT, SIG_DFL); }

const std::atomic<bool>* Interrupt::flag() const { return &g_raised; }

bool Interrupt::raised() const { return g_raised.load(); }

void Interrupt::Clear() {
  g_raised = false;
  Install();
}

}  // namespace adjudge::cli
