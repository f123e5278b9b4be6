// The worker threads of a scheduler. A worker runs the tasks of its own queue, polls the injection queue now and then, steals from the
// others when its queue is empty, and sleeps when there is no ready task at all. Owned by the Scheduler; schedule functions are called
// from any thread. The only thread-local state is the pointer to the current worker, so that woken tasks go to the queue of the waking
// worker.
#pragma once

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/ready_queue.h"

namespace pistachio {

class WorkerPool {
 public:
  // Throws UserError if the system does not allow that many threads.
  WorkerPool(int workers, std::function<void(int)> on_worker_start);
  // All tasks must have ended.
  ~WorkerPool();

  void schedule(std::coroutine_handle<> handle);
  void schedule_last(std::coroutine_handle<> handle);
  int size() const { return static_cast<int>(workers_.size()); }

  // Whether the calling thread is a worker of any pool.
  static bool on_worker_thread();

 private:
  struct Worker {
    WorkerPool* pool = nullptr;
    int number = 0;
    uint32_t turns = 0;
    ReadyQueue queue;
    std::thread thread;
  };

  // Ends the threads that were started.
  void stop();
  void run_worker(Worker& worker);
  // Null when the pool stops.
  std::coroutine_handle<> next_task(Worker& worker);
  std::coroutine_handle<> search(Worker& worker);
  bool has_ready_task() const;
  bool sleep();
  void wake_one();

  static thread_local Worker* current_worker_;

  std::function<void(int)> on_worker_start_;
  std::vector<std::unique_ptr<Worker>> workers_;
  ReadyQueue injected_;

  // Workers searching for a task outside their queue; while there is one, no other need be woken.
  std::atomic<int> searching_ = 0;
  // Changed under idle_mutex_, read without it.
  std::atomic<int> sleeping_ = 0;
  std::mutex idle_mutex_;
  std::condition_variable idle_;
  // Guarded by idle_mutex_.
  int wakeups_ = 0;
  bool stop_ = false;
};

}  // namespace pistachio
