// Adds the time until the end of the scope to a counter shared by several threads. Only for scopes without co_await.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pistachio {

class AddedTime {
 public:
  explicit AddedTime(std::atomic<int64_t>& nanoseconds) : nanoseconds_(nanoseconds), begin_(std::chrono::steady_clock::now()) {}
  ~AddedTime() {
    nanoseconds_ += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin_).count();
  }
  AddedTime(const AddedTime&) = delete;
  AddedTime& operator=(const AddedTime&) = delete;

 private:
  std::atomic<int64_t>& nanoseconds_;
  const std::chrono::steady_clock::time_point begin_;
};

}  // namespace pistachio
