// Sink of stateless operators that turn one chunk into one chunk.
#pragma once

#include "exec/core/operator.h"

namespace pistachio {

// `transform(chunk)` returns the chunk to pass on; it is called on several lanes concurrently.
template <typename Transform>
class TransformSink final : public ChunkSink {
 public:
  TransformSink(OperatorMetrics& metrics, ChunkSink& next, Transform transform)
      : metrics_(metrics), next_(next), transform_(std::move(transform)) {}

  Task<void> consume(int lane, Chunk chunk) override {
    Chunk made = timed(std::move(chunk));
    Task<void> passing = pass_on(metrics_, next_, lane, std::move(made));
    co_await passing;
  }
  bool is_full() const override { return next_.is_full(); }

 private:
  Chunk timed(Chunk chunk) {
    WorkTimer timer(metrics_);
    return transform_(std::move(chunk));
  }

  OperatorMetrics& metrics_;
  ChunkSink& next_;
  Transform transform_;
};

}  // namespace pistachio
