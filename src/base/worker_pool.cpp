#include "base/worker_pool.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/check.h"
#include "base/resume_chain.h"
#include "base/start_thread.h"

namespace pistachio {

namespace {

// How often a worker with local tasks polls the injection queue first, so that new work gets its turn.
constexpr uint32_t kTurnsBetweenInjected = 61;

}  // namespace

thread_local WorkerPool::Worker* WorkerPool::current_worker_ = nullptr;

WorkerPool::WorkerPool(int workers, std::function<void(int)> on_worker_start) : on_worker_start_(std::move(on_worker_start)) {
  ENSURE_GE(workers, 1);
  for (int i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->pool = this;
    workers_.back()->number = i;
  }
  try {
    for (std::unique_ptr<Worker>& worker : workers_) {
      const std::string purpose = fmt::format("worker {} of {}", worker->number + 1, workers);
      // Expressions are evaluated recursively.
      worker->thread = start_thread(purpose, "lower the setting threads", [this, &worker] { run_worker(*worker); }, kDeepStackBytes);
    }
  } catch (...) {
    stop();
    throw;
  }
}

WorkerPool::~WorkerPool() {
  stop();
}

void WorkerPool::stop() {
  {
    std::lock_guard lock(idle_mutex_);
    stop_ = true;
  }
  idle_.notify_all();
  for (std::unique_ptr<Worker>& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

bool WorkerPool::on_worker_thread() {
  return current_worker_ != nullptr;
}

void WorkerPool::schedule(std::coroutine_handle<> handle) {
  Worker* worker = current_worker_;
  if (worker != nullptr && worker->pool == this) {
    worker->queue.push_first(handle);
  } else {
    injected_.push_last(handle);
  }
  wake_one();
}

void WorkerPool::schedule_last(std::coroutine_handle<> handle) {
  injected_.push_last(handle);
  const Worker* worker = current_worker_;
  // This worker looks for its next task soon; another one is of use only if there is more than one.
  const bool takes_it = worker != nullptr && worker->pool == this && worker->queue.empty();
  if (!takes_it) wake_one();
}

void WorkerPool::run_worker(Worker& worker) {
  current_worker_ = &worker;
  if (on_worker_start_) on_worker_start_(worker.number);
  while (std::coroutine_handle<> task = next_task(worker)) resume_chain(task);
}

std::coroutine_handle<> WorkerPool::next_task(Worker& worker) {
  if (++worker.turns % kTurnsBetweenInjected == 0) {
    if (std::coroutine_handle<> task = injected_.pop()) return task;
  }
  do {
    if (std::coroutine_handle<> task = worker.queue.pop()) return task;
    if (std::coroutine_handle<> task = search(worker)) return task;
  } while (sleep());
  return {};
}

std::coroutine_handle<> WorkerPool::search(Worker& worker) {
  searching_.fetch_add(1);
  std::coroutine_handle<> task = injected_.pop();
  for (int distance = 1; !task && distance < size(); ++distance) {
    task = workers_[static_cast<size_t>((worker.number + distance) % size())]->queue.steal_into(worker.queue);
  }
  const bool was_last = searching_.fetch_sub(1) == 1;
  // Tasks scheduled meanwhile relied on this search and woke no worker: wake one for them.
  if (task && was_last && has_ready_task()) wake_one();
  return task;
}

bool WorkerPool::has_ready_task() const {
  if (!injected_.empty()) return true;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (!worker->queue.empty()) return true;
  }
  return false;
}

// No lost wake-ups: a worker counts itself as sleeping before it checks the queues for the last time, and a task is in its queue before
// the scheduling thread reads the count. The lock of that queue orders the two, so at least one sees the other.
bool WorkerPool::sleep() {
  std::unique_lock lock(idle_mutex_);
  if (stop_) return false;
  sleeping_.fetch_add(1);
  if (!has_ready_task()) {
    idle_.wait(lock, [&] { return wakeups_ > 0 || stop_; });
    if (wakeups_ > 0) --wakeups_;
  }
  sleeping_.fetch_sub(1);
  return !stop_;
}

void WorkerPool::wake_one() {
  if (sleeping_.load() == 0 || searching_.load() > 0) return;
  {
    std::lock_guard lock(idle_mutex_);
    if (sleeping_.load() <= wakeups_) return;
    ++wakeups_;
  }
  idle_.notify_one();
}

}  // namespace pistachio
