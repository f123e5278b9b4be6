#include "base/task_group.h"

#include "base/error.h"
#include "base/scheduler.h"

namespace pistachio {

TaskGroup::TaskGroup(const TaskContext& parent) : source_(parent.token), context_{parent.scheduler, source_.token()} {}

RootTask TaskGroup::run_child(TaskGroup& group, Task<void> task) {
  try {
    co_await task;
  } catch (...) {
    group.record_error(std::current_exception());
  }
}

std::coroutine_handle<> TaskGroup::make_child(Task<void> task) {
  RootTask child = run_child(*this, std::move(task));
  running_.fetch_add(1, std::memory_order_relaxed);
  return child.release(context_, *this);
}

void TaskGroup::spawn(Task<void> task) {
  context_.scheduler->schedule_last(make_child(std::move(task)));
}

void TaskGroup::start_body(Task<void> body) {
  context_.scheduler->schedule(make_child(std::move(body)));
}

void TaskGroup::record_error(std::exception_ptr error) {
  std::string reason = "a task of the same group failed";
  bool is_cancellation = false;
  try {
    std::rethrow_exception(error);
  } catch (const Cancelled& cancelled) {
    is_cancellation = true;
    reason = cancelled.message();
  } catch (const std::exception& failure) {
    reason += std::string(": ") + failure.what();
  } catch (...) {
  }
  {
    std::lock_guard lock(mutex_);
    if (error_ == nullptr || (error_is_cancellation_ && !is_cancellation)) {
      error_ = std::move(error);
      error_is_cancellation_ = is_cancellation;
    }
  }
  source_.cancel(std::move(reason));
}

void TaskGroup::on_root_ended() noexcept {
  if (running_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  SuspendedTask joiner = joiner_;
  joiner.schedule();
}

bool TaskGroup::Join::await_suspend(SuspendedTask task) noexcept {
  group_.joiner_ = task;
  return group_.running_.fetch_sub(1, std::memory_order_acq_rel) != 1;
}

void TaskGroup::rethrow_first_error() {
  std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

Task<void> when_all(std::vector<Task<void>> tasks) {
  auto body = [&](TaskGroup& group) -> Task<void> {
    for (Task<void>& task : tasks) group.spawn(std::move(task));
    co_return;
  };
  co_await with_task_group(body);
}

}  // namespace pistachio
