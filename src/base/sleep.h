// `co_await sleep_for(duration)`: the task waits on the scheduler's timer; no thread sleeps. Cancellation ends the wait at once.
// The awaitable lives in the frame of the waiting task; timer thread and cancelling thread race for it, the first one wakes the task.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "base/cancel_token.h"
#include "base/task_context.h"
#include "base/timer_queue.h"

namespace pistachio {

class Sleep {
 public:
  explicit Sleep(SteadyTime until) : until_(until) {}
  bool await_ready() const { return until_ <= std::chrono::steady_clock::now(); }
  bool await_suspend(SuspendedTask task);
  void await_resume();

 private:
  void wake();

  const SteadyTime until_;
  SuspendedTask task_;
  // Two steps must happen before the task resumes: timer or cancellation fires, and await_suspend is done with this object. The second one
// schedules the task.
  std::atomic<int> steps_left_ = 2;
  std::atomic<bool> woken_ = false;
  std::optional<Timer> timer_;
  std::optional<CancelCallback> cancel_callback_;
};

inline Sleep sleep_until(SteadyTime until) {
  return Sleep(until);
}

template <typename Rep, typename Period>
Sleep sleep_for(std::chrono::duration<Rep, Period> duration) {
  return Sleep(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(duration));
}

}  // namespace pistachio
