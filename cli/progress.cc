#include "cli/progress.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/output.h"

namespace adjudge::cli {
namespace {

constexpr auto kBarEvery = std::chrono::milliseconds(100);
constexpr int kBarWidth = 30;

}  // namespace

Progress::Progress(std::string what, std::int64_t total, bool quiet,
                   std::chrono::seconds line_every)
    : what_(std::move(what)),
      total_(std::max<std::int64_t>(total, 1)),
      quiet_(quiet),
      line_every_(line_every),
      terminal_(StderrIsTerminal()),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::Update(std::int64_t done) {
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  if (now - last_ < (terminal_ ? Clock::duration(kBarEvery) : Clock::duration(line_every_))) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const auto count = static_cast<long long>(done);
  const auto total = static_cast<long long>(total_);
  if (!terminal_) {
    std::fprintf(stderr, "%s: %lld of %lld, %.0f s\n", what_.c_str(), count, total, seconds);
    return;
  }
  const int filled = static_cast<int>(std::min(done, total_) * kBarWidth / total_);
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(kBarWidth - filled), '-');
  std::fprintf(stderr, "\r%s [%s] %lld/%lld, %.0f s\033[K", what_.c_str(), bar.c_str(), count,
               total, seconds);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace adjudge::cli
