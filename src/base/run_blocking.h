// `auto read = [&] { return pread(...); }; ssize_t count = co_await run_blocking(read);` runs a blocking call on the scheduler's
// blocking pool and resumes the task on a worker with the result (or the exception). If cancelled while queued, the call does not run;
// once it runs, the task waits for its end, so that its references stay valid. A named callable is kept by reference, see
// callable_argument.h. `need` is the priority: blocking_pool.h.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/blocking_pool.h"
#include "base/callable_argument.h"
#include "base/task.h"

namespace pistachio {

// The part that does not depend on the callable: queueing, cancellation, waking.
class BlockingCallBase : public BlockingJob {
 public:
  using BlockingJob::BlockingJob;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(SuspendedTask task);

 protected:
  virtual void call() noexcept = 0;
  // Throws Cancelled if the call was removed from the queue.
  void finish_wait();

 private:
  void run_job() noexcept final;
  void on_cancel();

  SuspendedTask task_;
  bool removed_ = false;
  std::optional<CancelCallback> cancel_callback_;
};

template <typename Callable>
class BlockingCall final : public BlockingCallBase {
 public:
  using Result = std::invoke_result_t<Callable&>;
  BlockingCall(Callable&& callable, int64_t need) : BlockingCallBase(need), callable_(static_cast<Callable&&>(callable)) {}
  Result await_resume() {
    finish_wait();
    return result_.take();
  }

 private:
  void call() noexcept final {
    try {
      if constexpr (std::is_void_v<Result>) {
        std::invoke(callable_);
      } else {
        result_.return_value(std::invoke(callable_));
      }
    } catch (...) {
      result_.unhandled_exception();
    }
  }

  KeptCallable<Callable> callable_;
  TaskResult<Result> result_;
};

template <typename Callable>
BlockingCall<Callable> run_blocking(Callable&& callable, int64_t need = 0) {
  static_assert(is_safe_in_co_await<Callable>, "name the callable and pass it as an lvalue: GCC 12 would destroy it twice (task.h)");
  return BlockingCall<Callable>(std::forward<Callable>(callable), need);
}

}  // namespace pistachio
