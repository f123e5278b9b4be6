// The scheduler of coroutine tasks: workers with local queues and work stealing, timers, and a small pool of threads for blocking calls.
// Owned by the engine (or a test); its tasks hold a pointer to it. run() may be called concurrently by threads that are not workers.
// Workers never block in a task: they run ready tasks or sleep. With one worker, tasks that use neither timers nor blocking calls run
// in a deterministic order. Memory: queues of handles only; the frames belong to the tasks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/root_task.h"
#include "base/task.h"

namespace pistachio {

class BlockingPool;
class Timer;
class TimerQueue;
class WorkerPool;

struct SchedulerOptions {
  int workers = 1;
  // Upper bound; threads start on demand.
  int blocking_threads = 4;
  // Called on every worker thread before its first task, with the worker's number.
  std::function<void(int)> on_worker_start;
};

class Scheduler {
 public:
  explicit Scheduler(SchedulerOptions options);
  // Every run() must have returned.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Runs the task and everything it starts and waits for the end; returns the result or rethrows. Not from a worker: that would block it.
  template <typename T>
  T run(Task<T> task, CancelToken token = {}) {
    TaskResult<T> result;
    run_root(run_into(result, std::move(task)), std::move(token));
    return result.take();
  }

  int workers() const;

  // For awaitables. Woken tasks go first on the worker that woke them (their data is in its cache); requeued ones go last, also behind
  // those that other threads woke: network, timers, blocking calls.
  void schedule(std::coroutine_handle<> handle);
  void schedule_last(std::coroutine_handle<> handle);
  TimerQueue& timers() { return *timers_; }
  BlockingPool& blocking_pool() { return *blocking_pool_; }
  // Cancels the token when its deadline passes, as long as the returned timer lives. Null if the token has no deadline.
  std::unique_ptr<Timer> watch_deadline(const CancelToken& token);

 private:
  void run_root(RootTask root, CancelToken token);

  std::unique_ptr<WorkerPool> worker_pool_;
  std::unique_ptr<TimerQueue> timers_;
  std::unique_ptr<BlockingPool> blocking_pool_;
};

// `co_await reschedule();` lets the ready tasks of this worker and those woken by other threads run first.
class Reschedule {
 public:
  bool await_ready() const noexcept { return false; }
  bool await_suspend(SuspendedTask task);
  void await_resume() const noexcept {}
};

inline Reschedule reschedule() {
  return {};
}

}  // namespace pistachio
