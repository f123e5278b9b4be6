#include "exec/operators/shared_rows.h"

#include "exec/core/row_collector.h"
#include "exec/core/transform_sink.h"

namespace pistachio {

namespace {

Chunk take_columns(const Chunk& chunk, const std::vector<size_t>& places) {
  std::vector<Column> columns;
  for (size_t place : places) columns.push_back(chunk.column(place));
  return Chunk(std::move(columns), chunk.rows(), chunk.device());
}

}  // namespace

Task<void> SharedRows::compute(RunContext& context) {
  if (begun_.exchange(true)) {
    Task<std::optional<int>> waiting = computed_->receive();
    co_await waiting;
    co_return;
  }
  Task<void> collecting = collect(context);
  try {
    co_await collecting;
  } catch (...) {
    computed_->fail(std::current_exception());
    throw;
  }
  computed_->close();
}

Task<void> SharedRows::collect(RunContext& context) {
  RowCollector collector(context.memory.make_child("common table"), context.lanes);
  Task<void> producing = plan_->produce(context, collector);
  co_await producing;
  for (HeldChunks& lane : collector.lanes()) {
    for (Chunk& chunk : lane.take_chunks()) chunks_.push_back(std::move(chunk));
    for (Reservation& part : lane.take_memory()) memory_.push_back(std::move(part));
  }
}

Task<void> pass_kept(OperatorMetrics& metrics, RunContext& context, ChunkSink& sink, const std::vector<Chunk>& chunks,
                     const std::vector<size_t>& places) {
  auto pass_one = [&](int lane, int64_t index) -> Task<void> {
    if (sink.is_full()) co_return;
    Task<void> passing = pass_on(metrics, sink, lane, take_columns(chunks[static_cast<size_t>(index)], places));
    co_await passing;
  };
  Task<void> all = for_each_lane(context, static_cast<int64_t>(chunks.size()), pass_one);
  co_await all;
}

Task<void> SharedReadOperator::produce(RunContext& context, ChunkSink& sink) {
  if (rows_->is_read_once()) {
    TransformSink choose(metrics_, sink, [this](const Chunk& chunk) { return take_columns(chunk, places_); });
    Task<void> producing = rows_->plan().produce(context, choose);
    co_await producing;
    co_return;
  }
  Task<void> computing = rows_->compute(context);
  co_await computing;
  Task<void> passing = pass_kept(metrics_, context, sink, rows_->chunks(), places_);
  co_await passing;
}

}  // namespace pistachio
