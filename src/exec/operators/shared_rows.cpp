#include "exec/operators/shared_rows.h"

#include "exec/core/transform_sink.h"

namespace pistachio {

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
  rows_ = std::make_shared<ReplayableRows>(context, context.memory.make_child("common table"), types_, plan_->metrics());
  context.spill.add(rows_);
  RetainingSink retaining(*rows_);
  Task<void> producing = plan_->produce(context, retaining);
  co_await producing;
  Task<void> finishing = rows_->finish();
  co_await finishing;
}

Task<void> SharedReadOperator::produce(RunContext& context, ChunkSink& sink) {
  if (rows_->is_read_once()) {
    TransformSink choose(context, metrics_, sink, [this](const Chunk& chunk) { return columns_at(chunk, places_); });
    Task<void> producing = rows_->plan().produce(context, choose);
    co_await producing;
    co_return;
  }
  Task<void> computing = rows_->compute(context);
  co_await computing;
  Task<void> passing = rows_->rows().replay(metrics_, sink, places_);
  co_await passing;
}

}  // namespace pistachio
