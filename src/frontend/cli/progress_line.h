// A progress line on stderr for the lifetime of this object. Only on a terminal, unless the setting says otherwise.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "config/settings.h"
#include "storage/scan_statistics.h"

namespace pistachio {

class ProgressLine {
 public:
  ProgressLine(ProgressMode mode, const ScanCounters& counters);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void run();

  const ScanCounters& counters_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace pistachio
