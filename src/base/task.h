// Task<T>: a lazy coroutine that returns a T or throws. It starts when awaited, runs on the workers of the scheduler its root was started
// on (possibly a different one after every co_await), inherits context and cancellation from the awaiting task, and resumes it when done.
// Move-only, awaited at most once; the object owns the coroutine frame (heap). Runs on one thread at a time.
//
//   Task<int64_t> count_rows(Reader& reader) {
//     int64_t rows = 0;
//     while (std::optional<Chunk> chunk = co_await reader.next()) rows += chunk->rows();
//     co_return rows;
//   }
//
// Every co_await throws Cancelled, before it does anything, once the token of the task is cancelled.
//
// GCC 12 destroys some temporaries of a co_await expression twice: closures that own something and braced aggregates. So bind awaited
// objects and arguments to names, above all lambdas. `co_await f(x)`, `co_await f(std::move(x))` with named x are safe;
// `co_await f([owner] {...})` and `co_await f(Options{...})` are not. Functions in base that take a callable check it at compile time.
#pragma once

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/resume_chain.h"
#include "base/task_promise.h"

namespace pistachio {

template <typename T = void>
class Task;

// The outcome of a task: none yet, a value, or an exception.
template <typename T>
class TaskResult {
 public:
  template <typename Value>
  void return_value(Value&& value) {
    outcome_.template emplace<1>(std::forward<Value>(value));
  }
  void unhandled_exception() { outcome_.template emplace<2>(std::current_exception()); }
  T take() {
    if (outcome_.index() == 2) std::rethrow_exception(std::exchange(std::get<2>(outcome_), nullptr));
    ENSURE_EQ(outcome_.index(), 1u);
    return std::move(std::get<1>(outcome_));
  }

 private:
  std::variant<std::monostate, T, std::exception_ptr> outcome_;
};

template <>
class TaskResult<void> {
 public:
  void return_void() {}
  void unhandled_exception() { error_ = std::current_exception(); }
  void take() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::exception_ptr error_;
};

template <typename T>
class TaskPromise : public TaskPromiseBase, public TaskResult<T> {
 public:
  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<TaskPromise> finished) noexcept { resume_next(finished.promise().continuation_); }
    void await_resume() noexcept {}
  };

  Task<T> get_return_object() { return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept { return {}; }
  FinalAwaiter final_suspend() noexcept { return {}; }
  void set_continuation(std::coroutine_handle<> continuation) { continuation_ = continuation; }

 private:
  std::coroutine_handle<> continuation_;
};

template <typename T>
class [[nodiscard]] Task {
 public:
  static_assert(!std::is_reference_v<T>, "a task gives a value; use a pointer to hand out an object that lives elsewhere");
  using promise_type = TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  // Runs the child with the parent's context. Does not own it: the Task object does.
  class ChildAwaiter {
   public:
    ChildAwaiter(Handle child, const TaskContext* context) : child_(child) { child_.promise().set_context(context); }
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> parent) {
      child_.promise().set_continuation(parent);
      resume_next(child_);
    }
    T await_resume() { return child_.promise().take(); }

   private:
    Handle child_;
  };

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})), awaited_(other.awaited_) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(awaited_, other.awaited_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool valid() const { return static_cast<bool>(handle_); }

  // Called by co_await (TaskPromiseBase::await_transform).
  ChildAwaiter await_as_child(const TaskContext* context) {
    ENSURE(handle_ && !awaited_, "a task is awaited at most once");
    awaited_ = true;
    return ChildAwaiter(handle_, context);
  }

 private:
  friend promise_type;
  explicit Task(Handle handle) : handle_(handle) {}

  Handle handle_;
  bool awaited_ = false;
};

}  // namespace pistachio
