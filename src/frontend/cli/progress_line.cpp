#include "frontend/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <system_error>

#include "frontend/cli/standard_output.h"
#include "frontend/cli/text_table.h"

namespace pistachio {

ProgressLine::ProgressLine(ProgressMode mode, const ScanCounters& counters) : counters_(counters) {
  bool wanted = mode == ProgressMode::On || (mode == ProgressMode::Auto && isatty(STDERR_FILENO) == 1);
  if (!wanted) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // No thread to spare: scan without a progress line.
  }
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void ProgressLine::run() {
  auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  bool shown = false;
  while (!ended_.wait_for(lock, std::chrono::milliseconds(200), [this] { return is_over_; })) {
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    int64_t rows = counters_.rows_scanned;
    int64_t total = counters_.rows_total;
    double share = total > 0 ? 100.0 * static_cast<double>(rows) / static_cast<double>(total) : 0.0;
    print_to_standard_error("\r\x1b[K{:3.0f} %  {} rows, {:.1f} M rows/s", share, with_thousands(rows),
               static_cast<double>(rows) / seconds / 1e6);
    std::fflush(stderr);
    shown = true;
  }
  if (shown) print_to_standard_error("\r\x1b[K");
}

}  // namespace pistachio
