#include "base/blocking_pool.h"

#include "base/check.h"
#include "base/error.h"
#include "base/start_thread.h"

namespace pistachio {

BlockingPool::BlockingPool(int max_threads) : max_threads_(max_threads) {
  ENSURE_GE(max_threads, 1);
}

BlockingPool::~BlockingPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool BlockingPool::submit(BlockingJob& job) {
  std::lock_guard lock(mutex_);
  if (job.refused_) return false;
  if (queued_ >= idle_threads_ && static_cast<int>(threads_.size()) < max_threads_) {
    try {
      threads_.push_back(start_thread("reads", "lower the settings threads and io_threads", [this] { run_thread(); }));
    } catch (const UserError&) {
      if (threads_.empty()) throw;  // else the existing threads will run the job
    }
  }
  enqueue(job);
  changed_.notify_one();
  return true;
}

void BlockingPool::enqueue(BlockingJob& job) {
  BlockingJob* previous = last_;
  if (last_ != nullptr && job.need_ < last_->need_) {
    previous = nullptr;
    for (BlockingJob* queued = first_; queued->need_ <= job.need_; queued = queued->next_) previous = queued;
  }
  BlockingJob*& link = previous != nullptr ? previous->next_ : first_;
  job.next_ = link;
  link = &job;
  if (job.next_ == nullptr) last_ = &job;
  ++queued_;
}

bool BlockingPool::refuse(BlockingJob& job) {
  std::lock_guard lock(mutex_);
  job.refused_ = true;
  BlockingJob* previous = nullptr;
  for (BlockingJob* queued = first_; queued != nullptr; previous = queued, queued = queued->next_) {
    if (queued != &job) continue;
    (previous != nullptr ? previous->next_ : first_) = job.next_;
    if (last_ == &job) last_ = previous;
    --queued_;
    return true;
  }
  return false;
}

void BlockingPool::run_thread() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_threads_;
    changed_.wait(lock, [&] { return first_ != nullptr || stop_; });
    --idle_threads_;
    if (first_ == nullptr) return;
    BlockingJob* job = first_;
    first_ = job->next_;
    if (first_ == nullptr) last_ = nullptr;
    --queued_;
    lock.unlock();
    job->run_job();
    lock.lock();
  }
}

}  // namespace pistachio
