// Progress of long work on standard error: a bar on a terminal, now and then a line elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace adjudge::cli {

class Progress {
 public:
  // `quiet` shows nothing. `total` in whatever unit the work has.
  // Elsewhere than on a terminal there is at most one line in `line_every`.
  Progress(std::string what, std::int64_t total, bool quiet,
           std::chrono::seconds line_every = std::chrono::seconds(10));
  // Wipes the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(std::int64_t done);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::int64_t total_;
  bool quiet_;
  std::chrono::seconds line_every_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

}  // namespace adjudge::cli
