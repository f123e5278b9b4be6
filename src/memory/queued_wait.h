// QueuedWait: base of awaitables that queue up in an object guarded by a lock (channel, memory governor) and that cancellation can remove
// from the queue. The lock of that object decides every race: whoever finds the wait in the queue removes it and wakes the task, once.
// A wait lives in the frame of the waiting task. WaitQueue and WakeList are intrusive lists: no allocation under the lock.
#pragma once

#include <cstdint>
#include <optional>

#include "base/cancel_token.h"
#include "base/task_context.h"

namespace pistachio {

class QueuedWait {
 public:
  QueuedWait() = default;
  QueuedWait(const QueuedWait&) = delete;
  QueuedWait& operator=(const QueuedWait&) = delete;

  bool await_suspend(SuspendedTask task) {
    task_ = task;
    cancel_callback_.emplace(task.context->token, [this] { leave_queue(); });
    // Once queued, the task may resume at any moment: do not touch this object afterwards.
    return join_queue();
  }

 protected:
  virtual ~QueuedWait() = default;
  // Takes the owner's lock; then, unless was_cancelled(), either completes and settles the wait (false) or queues it (true).
  virtual bool join_queue() = 0;
  // Takes the owner's lock, then cancels the wait (WaitQueue::cancel). Called by the thread that cancels the token.
  virtual void leave_queue() = 0;

  // Under the owner's lock.
  bool was_cancelled() const { return state_ == State::Cancelled; }
  // The wait is complete and can no longer be cancelled, so that what it received is not lost.
  void settle() { state_ = State::Settled; }

  // For await_resume. Throws Cancelled if cancellation ended the wait.
  void finish_wait() {
    cancel_callback_.reset();
    if (state_ == State::Cancelled) task_.context->token.throw_if_cancelled();
  }

 private:
  template <typename Wait>
  friend class WaitQueue;
  friend class WakeList;
  enum class State { New, Queued, Settled, Cancelled };

  SuspendedTask task_;
  std::optional<CancelCallback> cancel_callback_;
  // Guarded by the owner's lock.
  State state_ = State::New;
  QueuedWait* previous_ = nullptr;
  QueuedWait* next_ = nullptr;
};

// Tasks to be scheduled by the destructor. Declare it before the lock guard, so that they are scheduled after the lock is released.
class WakeList {
 public:
  WakeList() = default;
  WakeList(const WakeList&) = delete;
  WakeList& operator=(const WakeList&) = delete;
  ~WakeList() {
    while (first_ != nullptr) {
      SuspendedTask task = first_->task_;
      first_ = first_->next_;  // read first: a scheduled wait may be destroyed at once
      task.schedule();
    }
  }

 private:
  template <typename Wait>
  friend class WaitQueue;
  void add(QueuedWait& wait) {
    wait.next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = &wait;
    last_ = &wait;
  }

  QueuedWait* first_ = nullptr;
  QueuedWait* last_ = nullptr;
};

// First in, first out. Guarded by the owner's lock.
template <typename Wait>
class WaitQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  int64_t size() const { return size_; }
  Wait* first() const { return static_cast<Wait*>(first_); }
  Wait* after(const Wait& wait) const { return static_cast<Wait*>(wait.next_); }

  void push(Wait& wait) { insert_before(nullptr, wait); }
  // Null: at the end.
  void insert_before(Wait* successor, Wait& wait) {
    QueuedWait* previous = successor != nullptr ? successor->previous_ : last_;
    wait.previous_ = previous;
    wait.next_ = successor;
    (previous != nullptr ? previous->next_ : first_) = &wait;
    (successor != nullptr ? static_cast<QueuedWait*>(successor)->previous_ : last_) = &wait;
    wait.state_ = QueuedWait::State::Queued;
    ++size_;
  }

  void wake(Wait& wait, WakeList& woken) {
    unlink(wait);
    wait.state_ = QueuedWait::State::Settled;
    woken.add(wait);
  }

  // True if the wait was in the queue.
  bool cancel(Wait& wait, WakeList& woken) {
    const bool was_queued = wait.state_ == QueuedWait::State::Queued;
    if (was_queued) {
      unlink(wait);
      woken.add(wait);
    }
    if (wait.state_ != QueuedWait::State::Settled) wait.state_ = QueuedWait::State::Cancelled;
    return was_queued;
  }

 private:
  void unlink(QueuedWait& wait) {
    (wait.previous_ != nullptr ? wait.previous_->next_ : first_) = wait.next_;
    (wait.next_ != nullptr ? wait.next_->previous_ : last_) = wait.previous_;
    wait.previous_ = wait.next_ = nullptr;
    --size_;
  }

  QueuedWait* first_ = nullptr;
  QueuedWait* last_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace pistachio
