// Progress of long work on standard error: a bar on a terminal, now and then a line elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace adjudge::cli {

class Progress {
 public:
  // `quiet` shows nothing. `total` in whatever unit the work has.
  Progress(std::string what, std::int64_t total, bool quiet);
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
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

}  // namespace adjudge::cli
