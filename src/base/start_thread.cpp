#include "base/start_thread.h"

#include <fmt/format.h>
#include <pthread.h>

#include <mutex>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace pistachio {

namespace {

// std::thread cannot set the stack size: while this object lives, new threads of the process get this one. Unrelated threads started
// meanwhile get a larger stack than they need, which is harmless.
class StackOfNewThreads {
 public:
  explicit StackOfNewThreads(int64_t bytes) : lock_(mutex()) {
    ENSURE_EQ(pthread_getattr_default_np(&before_), 0);
    pthread_attr_t wanted;
    ENSURE_EQ(pthread_getattr_default_np(&wanted), 0);
    pthread_attr_setstacksize(&wanted, static_cast<size_t>(bytes));
    pthread_setattr_default_np(&wanted);
    pthread_attr_destroy(&wanted);
  }
  ~StackOfNewThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  StackOfNewThreads(const StackOfNewThreads&) = delete;
  StackOfNewThreads& operator=(const StackOfNewThreads&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex only;
    return only;
  }

  std::lock_guard<std::mutex> lock_;
  pthread_attr_t before_;
};

}  // namespace

std::thread start_thread(std::string_view purpose, std::string_view remedy, std::function<void()> body, int64_t stack_bytes) {
  try {
    if (stack_bytes == 0) return std::thread(std::move(body));
    StackOfNewThreads stack(stack_bytes);
    return std::thread(std::move(body));
  } catch (const std::system_error& problem) {
    throw UserError(fmt::format("cannot start a thread for {}: {}; {}", purpose, problem.code().message(), remedy));
  }
}

}  // namespace pistachio
