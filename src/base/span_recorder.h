// Spans of work of a query, by step and thread, for its trace (setting `trace`). One recorder per query and rank, only if a trace is
// wanted. Thread-safe: a span covers a kernel call or more, never a row, so one lock will do. Memory: at most kMaxSpans spans of 32 bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace pistachio {

struct Span {
  uint32_t step = 0;    // of the plan
  uint32_t thread = 0;  // numbered from 0 in the order of their first spans
  int64_t begin = 0;    // nanoseconds since the recorder was made
  int64_t nanoseconds = 0;
};

class SpanRecorder {
 public:
  static constexpr size_t kMaxSpans = 1 << 20;
  using Time = std::chrono::steady_clock::time_point;

  // Beyond kMaxSpans, spans are dropped.
  void add(uint32_t step, Time begin, Time end);
  // In the order of their ends.
  std::vector<Span> take();

 private:
  const Time origin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::thread::id, uint32_t> threads_;
  std::vector<Span> spans_;
};

// Where the spans of a step go; nowhere by default.
struct SpanTarget {
  SpanRecorder* recorder = nullptr;
  uint32_t step = 0;
};

}  // namespace pistachio
