// RootTask: the coroutine at the root of a tree of tasks. It is started on a scheduler instead of being awaited, never throws out, and
// tells a RootCompletion when it ended, after its frame (with the task inside) is gone. Used by Scheduler::run and by task groups only.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "base/task.h"

namespace pistachio {

class RootCompletion {
 public:
  // Called on the worker that ran the last step. The RootTask is gone by then.
  virtual void on_root_ended() noexcept = 0;

 protected:
  ~RootCompletion() = default;
};

class [[nodiscard]] RootTask {
 public:
  class promise_type : public TaskPromiseBase {
   public:
    struct FinalAwaiter {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> finished) noexcept {
        RootCompletion* completion = finished.promise().completion_;
        finished.destroy();
        completion->on_root_ended();
      }
      void await_resume() noexcept {}
    };

    RootTask get_return_object() { return RootTask(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    FinalAwaiter final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }  // bodies of roots catch everything

   private:
    friend class RootTask;
    RootCompletion* completion_ = nullptr;
  };

  RootTask(RootTask&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  ~RootTask() {
    if (handle_) handle_.destroy();
  }

  // Gives the coroutine away: whoever resumes the handle runs it, and it destroys itself at its end.
  std::coroutine_handle<> release(const TaskContext& context, RootCompletion& completion) {
    handle_.promise().set_context(&context);
    handle_.promise().completion_ = &completion;
    return std::exchange(handle_, {});
  }

 private:
  explicit RootTask(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

// A root that puts the outcome of a task into `result`.
template <typename T>
RootTask run_into(TaskResult<T>& result, Task<T> task) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await task;
    } else {
      T value = co_await task;
      result.return_value(std::move(value));
    }
  } catch (...) {
    result.unhandled_exception();
  }
}

}  // namespace pistachio
