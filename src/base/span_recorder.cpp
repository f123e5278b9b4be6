#include "base/span_recorder.h"

#include <utility>

namespace pistachio {

namespace {

int64_t nanoseconds_of(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

void SpanRecorder::add(uint32_t step, Time begin, Time end) {
  std::lock_guard lock(mutex_);
  if (spans_.size() == kMaxSpans) return;
  const uint32_t thread = threads_.try_emplace(std::this_thread::get_id(), static_cast<uint32_t>(threads_.size())).first->second;
  spans_.push_back({step, thread, nanoseconds_of(begin - origin_), nanoseconds_of(end - begin)});
}

std::vector<Span> SpanRecorder::take() {
  std::lock_guard lock(mutex_);
  return std::exchange(spans_, {});
}

}  // namespace pistachio
