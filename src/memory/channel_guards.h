// Guards that end a channel on every exit of a scope, so that the other side never waits for a task that is gone. They live in the frame
// of the task (or, with several senders, of the task that starts them) and are used by one thread at a time.
#pragma once

#include <exception>
#include <utility>

#include "base/error.h"
#include "base/task.h"
#include "memory/channel.h"

namespace pistachio {

// Sending side: close() at the end of the scope, fail() if an exception leaves it. A destructor cannot access the exception, so the other
// side gets Cancelled; a task group prefers the real error. Use close_when_done where the receiver needs the error itself.
template <typename T>
class [[nodiscard]] SenderGuard {
 public:
  explicit SenderGuard(Channel<T>& channel) : channel_(channel) {}
  SenderGuard(const SenderGuard&) = delete;
  SenderGuard& operator=(const SenderGuard&) = delete;
  ~SenderGuard() {
    if (std::uncaught_exceptions() > 0) {
      channel_.fail(std::make_exception_ptr(Cancelled("the sender of the channel failed")));
    } else {
      channel_.close();
    }
  }

 private:
  Channel<T>& channel_;
};

// Receiving side: close_receiver() on every exit of the scope.
template <typename T>
class [[nodiscard]] ReceiverGuard {
 public:
  explicit ReceiverGuard(Channel<T>& channel) : channel_(channel) {}
  ReceiverGuard(const ReceiverGuard&) = delete;
  ReceiverGuard& operator=(const ReceiverGuard&) = delete;
  ~ReceiverGuard() { channel_.close_receiver(); }

 private:
  Channel<T>& channel_;
};

// Runs the sending task; then closes the channel, or fails it with the task's error, which is rethrown.
template <typename T>
Task<void> close_when_done(Channel<T>& channel, Task<void> sending) {
  try {
    co_await sending;
  } catch (...) {
    channel.fail(std::current_exception());
    throw;
  }
  channel.close();
}

}  // namespace pistachio
