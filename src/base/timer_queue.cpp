#include "base/timer_queue.h"

#include <utility>

#include "base/start_thread.h"

namespace pistachio {

Timer::Timer(TimerQueue& queue, SteadyTime when, std::function<void()> on_time) : queue_(queue), on_time_(std::move(on_time)) {
  queue_.add(*this, when);
}

Timer::~Timer() {
  queue_.remove(*this);
}

TimerQueue::~TimerQueue() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TimerQueue::add(Timer& timer, SteadyTime when) {
  std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = start_thread("deadlines", "lower the settings threads and io_threads", [this] { run_thread(); });
  timer.position_ = timers_.emplace(when, &timer);
  if (timer.position_ == timers_.begin()) changed_.notify_all();
}

void TimerQueue::remove(Timer& timer) {
  std::unique_lock lock(mutex_);
  if (timer.pending_) {
    timers_.erase(timer.position_);
  } else {
    callback_ended_.wait(lock, [&] { return running_ != &timer; });
  }
}

void TimerQueue::run_thread() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (timers_.empty()) {
      changed_.wait(lock);
      continue;
    }
    if (SteadyTime next = timers_.begin()->first; next > std::chrono::steady_clock::now()) {
      changed_.wait_until(lock, next);
      continue;
    }
    running_ = timers_.begin()->second;
    running_->pending_ = false;
    timers_.erase(timers_.begin());
    lock.unlock();
    running_->on_time_();
    lock.lock();
    running_ = nullptr;
    callback_ended_.notify_all();
  }
}

}  // namespace pistachio
