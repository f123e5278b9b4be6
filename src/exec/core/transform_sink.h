// Sink of stateless operators that turn one chunk into one chunk. If memory runs short meanwhile, retained rows are spilled and the chunk
// is processed in halves.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "exec/core/operator.h"
#include "spill/query_spill.h"

namespace pistachio {

// `transform(chunk)` returns the chunk to pass on; it is called on several lanes concurrently, and again for a part of the same chunk.
template <typename Transform>
class TransformSink final : public ChunkSink {
 public:
  TransformSink(RunContext& context, OperatorMetrics& metrics, ChunkSink& next, Transform transform)
      : context_(context), metrics_(metrics), next_(next), transform_(std::move(transform)) {}

  Task<void> consume(int lane, Chunk chunk) override {
    std::vector<Chunk> parts;  // the next one last
    parts.push_back(std::move(chunk));
    while (!parts.empty()) {
      Chunk part = std::move(parts.back());
      parts.pop_back();
      std::optional<Chunk> made = try_transform(part);
      if (!made) {
        Task<void> relieving = context_.spill.relieve();
        co_await relieving;
        const int64_t half = part.rows() / 2;
        parts.push_back(part.slice(half, part.rows() - half));
        parts.push_back(part.slice(0, half));
        continue;
      }
      part = {};
      Task<void> passing = pass_on(metrics_, next_, lane, std::move(*made));
      co_await passing;
    }
  }
  bool is_full() const override { return next_.is_full(); }

 private:
  // With so few rows, something else takes the memory.
  static constexpr int64_t kLeastRows = 1024;

  // Nullopt if the chunk is too large for the memory that is left.
  std::optional<Chunk> try_transform(const Chunk& chunk) {
    WorkTimer timer(metrics_);
    try {
      return transform_(chunk);
    } catch (const OutOfMemory&) {
      if (chunk.rows() < 2 * kLeastRows) throw;
      return std::nullopt;
    }
  }

  RunContext& context_;
  OperatorMetrics& metrics_;
  ChunkSink& next_;
  Transform transform_;
};

}  // namespace pistachio
