// Sink of stateless operators that turn one chunk into one chunk. If memory runs short meanwhile, retained rows are spilled and the chunk
// is processed in parts.
#pragma once

#include <utility>

#include "exec/core/memory_relief.h"
#include "exec/core/operator.h"

namespace pistachio {

// `transform(chunk)` returns the chunk to pass on; it is called on several lanes concurrently, and again for a part of the same chunk.
template <typename Transform>
class TransformSink final : public ChunkSink {
 public:
  TransformSink(RunContext& context, OperatorMetrics& metrics, ChunkSink& next, Transform transform)
      : context_(context), metrics_(metrics), next_(next), transform_(std::move(transform)) {}

  Task<void> consume(int lane, Chunk chunk) override {
    FittingRanges ranges(chunk.rows());
    auto transform = [&](int64_t begin, int64_t count) {
      WorkTimer timer(metrics_);
      return transform_(count == chunk.rows() ? chunk : chunk.slice(begin, count));
    };
    while (!ranges.is_done()) {
      Task<Chunk> making = make_next(context_, ranges, transform);
      Chunk made = co_await making;
      if (ranges.is_done()) chunk = {};
      Task<void> passing = pass_on(metrics_, next_, lane, std::move(made));
      co_await passing;
    }
  }
  bool is_full() const override { return next_.is_full(); }

 private:
  RunContext& context_;
  OperatorMetrics& metrics_;
  ChunkSink& next_;
  Transform transform_;
};

}  // namespace pistachio
