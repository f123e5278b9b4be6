// Adds the time until the end of the scope to a counter shared by several threads, and to the query's trace if there is one. Only for
// scopes without co_await.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/span_recorder.h"

namespace pistachio {

class AddedTime {
 public:
  AddedTime(std::atomic<int64_t>& nanoseconds, const SpanTarget& spans)
      : nanoseconds_(nanoseconds), spans_(spans), begin_(std::chrono::steady_clock::now()) {}
  AddedTime(std::atomic<int64_t>& nanoseconds, const SpanTarget&& spans) = delete;  // it would not outlive this
  ~AddedTime() {
    const auto end = std::chrono::steady_clock::now();
    nanoseconds_ += std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin_).count();
    if (spans_.recorder != nullptr) spans_.recorder->add(spans_.step, begin_, end);
  }
  AddedTime(const AddedTime&) = delete;
  AddedTime& operator=(const AddedTime&) = delete;

 private:
  std::atomic<int64_t>& nanoseconds_;
  const SpanTarget& spans_;
  const std::chrono::steady_clock::time_point begin_;
};

}  // namespace pistachio
