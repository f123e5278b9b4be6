// Structured concurrency: a group's children never outlive the with_task_group that awaits them. The first error, of the body or of a
// child, cancels the others; it is rethrown after all have ended. Other errors take precedence over Cancelled: a child that was cancelled
// because a sibling failed never hides the sibling's error. spawn() may be called by the body and by children, on any worker.
// Memory: one coroutine frame per child besides its own.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/callable_argument.h"
#include "base/root_task.h"
#include "base/task.h"

namespace pistachio {

class TaskGroup final : private RootCompletion {
 public:
  explicit TaskGroup(const TaskContext& parent);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts the task on the scheduler immediately; children start in the order they were spawned.
  void spawn(Task<void> task);
  // Body and children get Cancelled with this reason at their next co_await.
  void cancel(std::string reason) { source_.cancel(std::move(reason)); }
  CancelToken token() const { return source_.token(); }

  // For with_task_group: waits for all children, also when cancelled.
  class Join {
   public:
    using AwaitedWhenCancelled = void;
    explicit Join(TaskGroup& group) : group_(group) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(SuspendedTask task) noexcept;
    void await_resume() { group_.rethrow_first_error(); }

   private:
    TaskGroup& group_;
  };
  Join join() { return Join(*this); }
  void start_body(Task<void> body);
  void record_error(std::exception_ptr error);

 private:
  static RootTask run_child(TaskGroup& group, Task<void> task);
  std::coroutine_handle<> make_child(Task<void> task);
  void on_root_ended() noexcept final;
  void rethrow_first_error();

  CancelSource source_;
  TaskContext context_;
  // Running children, plus one until join() is awaited.
  std::atomic<int64_t> running_ = 1;
  SuspendedTask joiner_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::exception_ptr error_;
  bool error_is_cancellation_ = false;
};

template <typename Body>
Task<void> run_task_group(KeptCallable<Body> body) {
  const TaskContext& parent = co_await current_context();
  TaskGroup group(parent);
  try {
    group.start_body(body(group));
  } catch (...) {
    group.record_error(std::current_exception());
  }
  TaskGroup::Join join = group.join();
  co_await join;
}

// `auto body = [&](TaskGroup& group) -> Task<void> {...}; co_await with_task_group(body);` A named body is kept by reference.
template <typename Body>
Task<void> with_task_group(Body&& body) {
  static_assert(is_safe_in_co_await<Body>, "name the body and pass it as an lvalue: GCC 12 would destroy it twice (task.h)");
  return run_task_group<Body>(std::forward<Body>(body));
}

template <typename T>
Task<void> store_result(Task<T> task, std::optional<T>& result) {
  T value = co_await task;
  result.emplace(std::move(value));
}

// Runs all tasks concurrently; results are in the order of the tasks.
template <typename T>
Task<std::vector<T>> when_all(std::vector<Task<T>> tasks) {
  std::vector<std::optional<T>> results(tasks.size());
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (size_t i = 0; i < tasks.size(); ++i) group.spawn(store_result(std::move(tasks[i]), results[i]));
    co_return;
  };
  co_await with_task_group(body);
  std::vector<T> values;
  values.reserve(results.size());
  for (std::optional<T>& result : results) values.push_back(std::move(*result));
  co_return values;
}

Task<void> when_all(std::vector<Task<void>> tasks);

}  // namespace pistachio
