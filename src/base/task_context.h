// The context of every running task: the scheduler that resumes it and the token that may cancel it. A context is owned by the root of a
// tree of tasks (Scheduler::run, a task group) and outlives all tasks that point to it. SuspendedTask is an awaitable's
// handle to the task that waits in it. Both are plain values, usable from any thread.
#pragma once

#include <coroutine>

#include "base/cancel_token.h"

namespace pistachio {

class Scheduler;

struct TaskContext {
  Scheduler* scheduler = nullptr;
  CancelToken token;
};

// A suspended coroutine. Schedule it exactly once; after that the awaitable it waited in may be destroyed.
struct SuspendedTask {
  const TaskContext* context = nullptr;
  std::coroutine_handle<> handle;

  // Makes it ready to run on a worker; never runs it within the call.
  void schedule() const;
};

// `const TaskContext& context = co_await current_context();`
class CurrentContext {
 public:
  bool await_ready() const noexcept { return false; }
  bool await_suspend(SuspendedTask task) noexcept {
    context_ = task.context;
    return false;
  }
  const TaskContext& await_resume() const noexcept { return *context_; }

 private:
  const TaskContext* context_ = nullptr;
};

inline CurrentContext current_context() {
  return {};
}

}  // namespace pistachio
