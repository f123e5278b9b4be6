#include "base/ready_queue.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pistachio {

void ReadyQueue::push_first(std::coroutine_handle<> handle) {
  std::lock_guard lock(mutex_);
  if (front_) rest_.push_back(front_);
  front_ = handle;
}

void ReadyQueue::push_last(std::coroutine_handle<> handle) {
  std::lock_guard lock(mutex_);
  rest_.push_back(handle);
}

std::coroutine_handle<> ReadyQueue::pop() {
  std::lock_guard lock(mutex_);
  if (front_ && (rest_.empty() || turns_in_front_ < kMaxTurnsInFront)) {
    turns_in_front_ = std::min(turns_in_front_ + 1, kMaxTurnsInFront);  // a task alone in the queue may have any number of turns
    return std::exchange(front_, {});
  }
  turns_in_front_ = 0;
  if (rest_.empty()) return {};
  std::coroutine_handle<> handle = rest_.front();
  rest_.pop_front();
  return handle;
}

std::coroutine_handle<> ReadyQueue::steal_into(ReadyQueue& thief) {
  std::array<std::coroutine_handle<>, kMaxStolen> stolen;
  size_t count = 0;
  {
    std::lock_guard lock(mutex_);
    // The front task is stolen last: its worker is about to run it, unless its current task takes long.
    if (rest_.empty()) return std::exchange(front_, {});
    count = std::min((rest_.size() + 1) / 2, kMaxStolen);
    std::copy_n(rest_.begin(), count, stolen.begin());
    rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (count > 1) {
    std::lock_guard lock(thief.mutex_);
    thief.rest_.insert(thief.rest_.end(), stolen.begin() + 1, stolen.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return stolen[0];
}

bool ReadyQueue::empty() const {
  std::lock_guard lock(mutex_);
  return !front_ && rest_.empty();
}

}  // namespace pistachio
