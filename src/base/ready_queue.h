// The ready tasks of one worker (or, as the injection queue, those that came from other threads or gave way to others). First in, first
// out, with a front slot for the task woken last, whose data is still in this core's cache. The front slot is skipped after a few
// consecutive turns, so that two tasks that keep waking each other do not starve the rest. Any thread may push and steal; guarded by a lock
// held for a few instructions, which is short compared to tasks that process chunks.
#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <mutex>

namespace pistachio {

class ReadyQueue {
 public:
  // Into the front slot; the task that was there moves to the end.
  void push_first(std::coroutine_handle<> handle);
  void push_last(std::coroutine_handle<> handle);
  // Null when empty.
  std::coroutine_handle<> pop();
  // Moves up to half of the tasks, the oldest ones, to `thief`, except the first, which is returned. Null when empty.
  std::coroutine_handle<> steal_into(ReadyQueue& thief);
  bool empty() const;

 private:
  static constexpr int kMaxTurnsInFront = 3;
  static constexpr size_t kMaxStolen = 32;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::coroutine_handle<> front_;
  std::deque<std::coroutine_handle<>> rest_;
  int turns_in_front_ = 0;
};

}  // namespace pistachio
