#include "base/scheduler.h"

#include <condition_variable>
#include <mutex>

#include "base/blocking_pool.h"
#include "base/check.h"
#include "base/timer_queue.h"
#include "base/worker_pool.h"

namespace pistachio {

namespace {

class RunCompletion final : public RootCompletion {
 public:
  void on_root_ended() noexcept final {
    // Notified under the lock: this object may be destroyed as soon as the lock is released.
    std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

}  // namespace

Scheduler::Scheduler(SchedulerOptions options)
    : worker_pool_(std::make_unique<WorkerPool>(options.workers, std::move(options.on_worker_start))),
      timers_(std::make_unique<TimerQueue>()),
      blocking_pool_(std::make_unique<BlockingPool>(options.blocking_threads)) {}

Scheduler::~Scheduler() = default;

int Scheduler::workers() const {
  return worker_pool_->size();
}

void Scheduler::schedule(std::coroutine_handle<> handle) {
  worker_pool_->schedule(handle);
}

void Scheduler::schedule_last(std::coroutine_handle<> handle) {
  worker_pool_->schedule_last(handle);
}

std::unique_ptr<Timer> Scheduler::watch_deadline(const CancelToken& token) {
  std::optional<SteadyTime> deadline = token.deadline();
  if (!deadline) return nullptr;
  if (*deadline <= std::chrono::steady_clock::now()) {
    token.expire();
    return nullptr;
  }
  return std::make_unique<Timer>(*timers_, *deadline, [token] { token.expire(); });
}

void Scheduler::run_root(RootTask root, CancelToken token) {
  ENSURE(!WorkerPool::on_worker_thread(), "Scheduler::run blocks and must not be called from a worker");
  std::unique_ptr<Timer> deadline = watch_deadline(token);
  const TaskContext context{this, std::move(token)};
  RunCompletion completion;
  schedule_last(root.release(context, completion));
  completion.wait();
}

void SuspendedTask::schedule() const {
  context->scheduler->schedule(handle);
}

bool Reschedule::await_suspend(SuspendedTask task) {
  task.context->scheduler->schedule_last(task.handle);
  return true;
}

}  // namespace pistachio
