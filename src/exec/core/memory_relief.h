// Calls of kernels whose temporaries found no memory, although the rows that operators retain are within their share: retained rows are
// spilled, and the call is repeated.
#pragma once

#include <optional>
#include <type_traits>

#include "base/error.h"
#include "exec/core/operator.h"
#include "memory/fitting_ranges.h"
#include "spill/query_spill.h"

namespace pistachio {

// Throws OutOfMemory unless `bytes` can be allocated at this moment; for calls that cannot be repeated. Reservations do not tell: they do
// not cover what kernels and scans allocate for a moment.
void ensure_free_memory(const RunContext& context, int64_t bytes);
bool finds_free_memory(const RunContext& context, int64_t bytes);
// Before a call that cannot be repeated and may need `bytes`: spills retained rows until they can be allocated, or nothing more can
// be spilled. The call may need less.
Task<void> prepare_memory(const RunContext& context, int64_t bytes);

// What make(begin, count) returns for the next rows of `ranges`; after a call that ran out of memory, retained rows are spilled and it is
// called for fewer rows. `make` is called as `body` below.
template <typename Make>
Task<std::invoke_result_t<const Make&, int64_t, int64_t>> make_next(const RunContext& context, FittingRanges& ranges, const Make& make) {
  std::optional<std::invoke_result_t<const Make&, int64_t, int64_t>> made = ranges.try_next(make);
  while (!made) {
    Task<void> relieving = context.spill.relieve();
    co_await relieving;
    made = ranges.try_next(make);
  }
  co_return std::move(*made);
}

// The result of body(), which has no effect if it throws OutOfMemory and waits for nothing. Not for callers that hold the query's turn to
// spill. Throws OutOfMemory if spilling does not help.
template <typename Body>
Task<std::invoke_result_t<const Body&>> with_relief(const RunContext& context, const Body& body) {
  FittingRanges once(1);
  auto call = [&](int64_t, int64_t) { return body(); };
  Task<std::invoke_result_t<const Body&>> making = make_next(context, once, call);
  co_return co_await making;
}

// Passes on `rows` rows as make(begin, count) returns them, at most `step` at a time, until the sink is full. `make` is called as `body`
// above.
template <typename Make>
Task<void> make_and_pass_on(const RunContext& context, OperatorMetrics& metrics, ChunkSink& sink, int lane, int64_t rows, int64_t step,
                            const Make& make) {
  FittingRanges ranges(rows, step);
  auto timed = [&](int64_t begin, int64_t count) {
    WorkTimer timer(metrics);
    return make(begin, count);
  };
  while (!ranges.is_done() && !sink.is_full()) {
    Task<Chunk> making = make_next(context, ranges, timed);
    Chunk made = co_await making;
    Task<void> passing = pass_on(metrics, sink, lane, std::move(made));
    co_await passing;
  }
}

}  // namespace pistachio
