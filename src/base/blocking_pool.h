// Threads for calls that block (file systems, name lookup), so that workers never do. Jobs are intrusive: they live in the frame of the
// task that waits for them (run_blocking.h), so the pool allocates nothing per job. Owned by the scheduler; submit and refuse may be called
// from any thread. A thread is started when a job finds none idle, up to the limit, and ends with the pool. Jobs are ordered by their
// `need` (smaller runs sooner), then by arrival.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace pistachio {

class BlockingJob {
 public:
  explicit BlockingJob(int64_t need = 0) : need_(need) {}
  virtual ~BlockingJob() = default;
  // Called on a thread of the pool. May destroy the job; must not throw.
  virtual void run_job() noexcept = 0;

 private:
  friend class BlockingPool;
  const int64_t need_;
  // Guarded by the pool's lock.
  BlockingJob* next_ = nullptr;
  bool refused_ = false;
};

class BlockingPool {
 public:
  explicit BlockingPool(int max_threads);
  // All jobs must have ended.
  ~BlockingPool();

  // False, without effect, if the job was refused before.
  bool submit(BlockingJob& job);
  // Removes the job from the queue, or makes a later submit fail. True if it was in the queue; false also if it is running or has ended.
  bool refuse(BlockingJob& job);

 private:
  void enqueue(BlockingJob& job);
  void run_thread();

  const int max_threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  BlockingJob* first_ = nullptr;
  BlockingJob* last_ = nullptr;
  int queued_ = 0;
  int idle_threads_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pistachio
