#include "exec/core/operator.h"

#include <algorithm>

#include "base/task_group.h"

namespace pistachio {

namespace {

// Assumed row width in bytes where the real one is not known yet.
constexpr int64_t kTypicalRowBytes = 64;

}  // namespace

int64_t RunContext::chunk_rows() const {
  if (device.is_cpu()) return settings().chunk_rows;
  return std::max(settings().chunk_rows, settings().device_chunk_bytes / kTypicalRowBytes);
}

ExchangeSchedule ExchangeSchedule::of(const Settings& settings) {
  ExchangeSchedule made;
  made.one_message = settings.join_schedule == JoinSchedule::Blocking;
  made.hold_rows = made.one_message || settings.join_schedule == JoinSchedule::Tuned || !settings.overlap;
  made.build_first = made.hold_rows || settings.join_schedule == JoinSchedule::Chunked || !settings.reader_combining;
  return made;
}

Task<void> pass_on(OperatorMetrics& metrics, ChunkSink& sink, int lane, Chunk chunk) {
  if (chunk.rows() == 0) co_return;
  metrics.rows += chunk.rows();
  metrics.chunks += 1;
  Task<void> consuming = sink.consume(lane, std::move(chunk));
  co_await consuming;
}

Task<void> pass_on_in_steps(OperatorMetrics& metrics, ChunkSink& sink, int lane, Chunk rows, int64_t step) {
  for (int64_t begin = 0; begin < rows.rows() && !sink.is_full(); begin += step) {
    Task<void> passing = pass_on(metrics, sink, lane, rows.slice(begin, std::min(step, rows.rows() - begin)));
    co_await passing;
  }
}

Task<void> for_each_lane(RunContext& context, int64_t count, std::function<Task<void>(int lane, int64_t index)> body) {
  std::atomic<int64_t> next = 0;
  auto run_lane = [&](int lane) -> Task<void> {
    while (true) {
      int64_t index = next++;
      if (index >= count) co_return;
      Task<void> one = body(lane, index);
      co_await one;
    }
  };
  std::vector<Task<void>> lanes;
  int64_t used = std::min<int64_t>(context.lanes, count);
  for (int lane = 0; lane < used; ++lane) lanes.push_back(run_lane(lane));
  Task<void> all = when_all(std::move(lanes));
  co_await all;
}

}  // namespace pistachio
