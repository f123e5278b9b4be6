#include "exec/window/window_operator.h"

#include "columns/row_selection.h"
#include "exec/core/memory_relief.h"
#include "exec/window/spilled_windows.h"
#include "exec/window/window_buckets.h"
#include "exec/window/window_results.h"

namespace pistachio {

namespace {

WindowResults timed_results(const WindowPlan& plan, const Chunk& rows, const CancelToken& token, OperatorMetrics& metrics) {
  WorkTimer timer(metrics);
  return evaluate_window(plan, rows, token);
}

// Rows [begin, begin + count) of the order: what is passed on of them, and the results.
Chunk part_of(const WindowPlan& plan, const Chunk& rows, const WindowResults& results, int64_t begin, int64_t count) {
  const at::Tensor order = results.order.slice(0, begin, begin + count);
  std::vector<Column> columns;
  for (size_t place : plan.plan.kept) columns.push_back(take_rows(rows.column(place), order));
  for (const Column& result : results.columns) columns.push_back(result.slice(begin, count));
  return Chunk(std::move(columns), count, rows.device());
}

}  // namespace

WindowOperator::WindowOperator(OperatorPtr input, std::vector<ColumnId> layout, PhysicalWindow plan, std::vector<LogicalType> types)
    : Operator(std::move(layout)), input_(std::move(input)), plan_(std::move(plan), input_->layout(), std::move(types)) {}

Task<void> emit_window(RunContext& context, const WindowPlan& plan, const Chunk& rows, int lane, OperatorMetrics& metrics,
                       ChunkSink& sink) {
  if (rows.rows() == 0) co_return;
  const TaskContext& task = co_await current_context();
  auto evaluate = [&] { return timed_results(plan, rows, task.token, metrics); };
  Task<WindowResults> evaluating = with_relief(context, evaluate);
  const WindowResults results = co_await evaluating;
  auto make = [&](int64_t begin, int64_t count) { return part_of(plan, rows, results, begin, count); };
  Task<void> passing = make_and_pass_on(context, metrics, sink, lane, rows.rows(), context.chunk_rows(), make);
  co_await passing;
}

Task<void> WindowOperator::produce(RunContext& context, ChunkSink& sink) {
  const auto rows = std::make_shared<WindowRows>(context, plan_, metrics_);
  context.spill.add(rows);
  RetainingSink retaining(*rows);
  Task<void> reading = input_->produce(context, retaining);
  co_await reading;
  Task<void> closing = rows->close();
  co_await closing;
  metrics_.bytes = rows->bytes();
  if (rows->has_spilled()) {
    SpilledWindows spilled(plan_, context, rows->account(), metrics_, sink);
    Task<void> computing = spilled.run(rows->partitions());
    co_await computing;
    co_return;
  }
  const TaskContext& task = co_await current_context();
  WindowBuckets buckets(context, plan_);
  Task<void> dividing = buckets.divide(rows->take_pieces(), metrics_);
  co_await dividing;
  auto compute_bucket = [&](int lane, int64_t bucket) -> Task<void> {
    const int64_t count = buckets.rows_of(bucket);
    if (count == 0 || sink.is_full()) co_return;
    const int64_t bytes = buckets.bytes_of(bucket) + count * plan_.bytes_per_row();
    const Reservation memory = rows->account().reserve_now(bytes, ReservationKind::Held);
    Task<void> preparing = prepare_memory(context, bytes);
    co_await preparing;
    const Chunk own = buckets.take(bucket, task.token);
    Task<void> emitting = emit_window(context, plan_, own, lane, metrics_, sink);
    co_await emitting;
  };
  Task<void> computing = for_each_lane(context, buckets.count(), compute_bucket);
  co_await computing;
}

}  // namespace pistachio
