// Ctrl-C: the first one asks the work to stop, the second one ends the program.
#pragma once

#include <atomic>

namespace adjudge::cli {

// While it lives, SIGINT sets the flag instead of ending the program; the signal's second coming
// before Clear() ends it as usual. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // From now on SIGINT ends the program at once with kFailed and a word on standard error: what
  // main sets for work that has no part worth keeping. An Interrupt goes before it while it lives.
  static void EndAtOnce();

  const std::atomic<bool>* flag() const;
  bool raised() const;
  void Clear();  // ready for the next piece of work

  // Waits until the descriptor has something to read (or has ended); false when SIGINT came first,
  // or before the call.
  bool WaitToRead(int fd) const;
};

}  // namespace adjudge::cli
