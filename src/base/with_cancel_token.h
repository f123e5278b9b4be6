// `co_await with_cancel_token(task, token)`: runs a task under a token other than the surrounding one, and drives that token's deadline.
// For time limits inside a query: create a CancelSource with a deadline whose parent is the current token. The surrounding token
// cancels the task only if it is an ancestor of the other token. Runs on the workers of the surrounding task; the new context lives in
// this frame.
#pragma once

#include <memory>
#include <utility>

#include "base/scheduler.h"
#include "base/timer_queue.h"

namespace pistachio {

// Awaits a task under a context of the caller's choice.
template <typename T>
class AwaitUnderContext {
 public:
  AwaitUnderContext(Task<T>& task, const TaskContext& context) : task_(task), context_(context) {}
  typename Task<T>::ChildAwaiter await_as_child(const TaskContext*) { return task_.await_as_child(&context_); }

 private:
  Task<T>& task_;
  const TaskContext& context_;
};

template <typename T>
Task<T> with_cancel_token(Task<T> task, CancelToken token) {
  const TaskContext& surroundings = co_await current_context();
  const TaskContext context{surroundings.scheduler, token};
  token.throw_if_cancelled();
  std::unique_ptr<Timer> deadline = context.scheduler->watch_deadline(token);
  AwaitUnderContext<T> awaiting(task, context);
  if constexpr (std::is_void_v<T>) {
    co_await awaiting;
  } else {
    T value = co_await awaiting;
    co_return value;
  }
}

}  // namespace pistachio
