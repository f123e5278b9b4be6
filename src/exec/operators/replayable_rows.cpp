#include "exec/operators/replayable_rows.h"

#include <ATen/core/Tensor.h>

namespace pistachio {

Task<int64_t> ReplayableRows::write(Chunk rows) {
  if (!on_disk_) on_disk_ = std::make_unique<SpilledChunks>(context_.spill.make_file());
  const int64_t before = on_disk_->bytes();
  Task<void> adding = on_disk_->add(std::move(rows));
  co_await adding;
  co_return on_disk_->bytes() - before;
}

Task<void> ReplayableRows::finish() {
  Task<void> closing = close();
  co_await closing;
  if (!has_spilled()) in_memory_ = take_pieces();
}

Task<void> ReplayableRows::replay(OperatorMetrics& metrics, ChunkSink& sink, const std::vector<size_t>& places) {
  if (!has_spilled()) {
    Task<void> passing = pass_kept(metrics, context_, sink, in_memory_.chunks, places);
    co_await passing;
    co_return;
  }
  auto pass_piece = [&](int lane, int64_t piece) -> Task<void> {
    if (sink.is_full()) co_return;
    Task<Chunk> reading = on_disk_->read(static_cast<size_t>(piece), context_.device);
    const Chunk rows = co_await reading;
    Task<void> passing = pass_on_in_steps(metrics, sink, lane, columns_at(rows, places), context_.chunk_rows());
    co_await passing;
  };
  Task<void> all = for_each_lane(context_, static_cast<int64_t>(on_disk_->pieces().size()), pass_piece);
  co_await all;
}

Chunk columns_at(const Chunk& chunk, const std::vector<size_t>& places) {
  std::vector<Column> columns;
  for (size_t place : places) columns.push_back(chunk.column(place));
  return Chunk(std::move(columns), chunk.rows(), chunk.device());
}

Task<void> pass_kept(OperatorMetrics& metrics, RunContext& context, ChunkSink& sink, const std::vector<Chunk>& chunks,
                     const std::vector<size_t>& places) {
  auto pass_one = [&](int lane, int64_t index) -> Task<void> {
    if (sink.is_full()) co_return;
    Task<void> passing = pass_on(metrics, sink, lane, columns_at(chunks[static_cast<size_t>(index)], places));
    co_await passing;
  };
  Task<void> all = for_each_lane(context, static_cast<int64_t>(chunks.size()), pass_one);
  co_await all;
}

}  // namespace pistachio
