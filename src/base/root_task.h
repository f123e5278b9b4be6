// RootTask: the coroutine at the root of a tree of tasks. It is started on a scheduler instead of being awaited, lets no exception escape,
// and notifies a RootCompletion after its frame (with the task inside) is destroyed. Used only by Scheduler::run and task groups.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "base/task.h"

namespace pistachio {

class RootCompletion {
 public:
  // Called on the worker that ran the last step, after the RootTask is destroyed.
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

  // Releases ownership: whoever resumes the handle runs the coroutine, which destroys itself at its end.
  std::coroutine_handle<> release(const TaskContext& context, RootCompletion& completion) {
    handle_.promise().set_context(&context);
    handle_.promise().completion_ = &completion;
    return std::exchange(handle_, {});
  }

 private:
  explicit RootTask(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

// A root that stores the outcome of a task in `result`.
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
