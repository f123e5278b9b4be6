// Timed callbacks, for deadlines and sleeping tasks. One thread, started with the first timer, sleeps until the earliest one is due and
// calls it. Owned by the scheduler. Timers are added and removed from any thread. Memory: one map entry per timer.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/cancel_token.h"

namespace pistachio {

class TimerQueue;

// Calls `on_time` once on the timer thread; it must be short and must not throw. The destructor removes the timer and, if the callback
// is running, waits for its end, so that its captures may be destroyed afterwards.
class Timer {
 public:
  Timer(TimerQueue& queue, SteadyTime when, std::function<void()> on_time);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  friend class TimerQueue;
  using Position = std::multimap<SteadyTime, Timer*>::iterator;

  TimerQueue& queue_;
  std::function<void()> on_time_;
  // Guarded by the queue's lock.
  Position position_;
  bool pending_ = true;
};

class TimerQueue {
 public:
  TimerQueue() = default;
  // All timers must be gone.
  ~TimerQueue();

 private:
  friend class Timer;
  void add(Timer& timer, SteadyTime when);
  void remove(Timer& timer);
  void run_thread();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable callback_ended_;
  // Guarded by mutex_.
  std::multimap<SteadyTime, Timer*> timers_;
  Timer* running_ = nullptr;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pistachio
