// Uses a plain pthread, since std::thread cannot set the stack size. See large_stack.h.
#include "base/large_stack.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cstring>
#include <exception>

#include "base/check.h"

namespace pistachio {

namespace {

struct Job {
  const std::function<void()>& work;
  std::exception_ptr failure;
};

void* run_job(void* argument) {
  auto* job = static_cast<Job*>(argument);
  try {
    job->work();
  } catch (...) {
    job->failure = std::current_exception();
  }
  return nullptr;
}

class ThreadAttributes {
 public:
  ThreadAttributes() { ENSURE_EQ(pthread_attr_init(&attributes_), 0); }
  ~ThreadAttributes() { pthread_attr_destroy(&attributes_); }
  ThreadAttributes(const ThreadAttributes&) = delete;
  ThreadAttributes& operator=(const ThreadAttributes&) = delete;
  pthread_attr_t* get() { return &attributes_; }

 private:
  pthread_attr_t attributes_;
};

}  // namespace

void run_on_large_stack(int64_t stack_bytes, const std::function<void()>& work) {
  constexpr int64_t page = 1 << 16;
  ThreadAttributes attributes;
  ENSURE_EQ(pthread_attr_setstacksize(attributes.get(), static_cast<size_t>((stack_bytes + page - 1) / page * page)), 0);
  Job job{work, nullptr};
  pthread_t thread;
  const int problem = pthread_create(&thread, attributes.get(), run_job, &job);
  if (problem != 0) {
    throw OutOfMemory(fmt::format("no thread with a stack of {} bytes could be started: {}", stack_bytes, std::strerror(problem)));
  }
  pthread_join(thread, nullptr);
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace pistachio
