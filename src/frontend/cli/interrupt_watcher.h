// Turns Ctrl-C into cancellation: SIGINT and SIGTERM are blocked in every thread, and one thread of this object waits for them and cancels
// the source; a second signal, or a command that has not ended a few seconds after the first, ends the process at once. Make it before any
// other thread starts.
#pragma once

#include <atomic>
#include <thread>

#include "base/cancel_token.h"

namespace pistachio {

constexpr int kInterruptedExitCode = 130;

class InterruptWatcher {
 public:
  InterruptWatcher();
  ~InterruptWatcher();
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

  CancelToken token() const { return source_.token(); }
  bool was_interrupted() const { return interrupted_; }

 private:
  CancelSource source_;
  std::atomic<bool> interrupted_ = false;
  std::thread thread_;
};

}  // namespace pistachio
