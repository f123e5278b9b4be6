#include "exec/operators/sort.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

#include "columns/row_selection.h"
#include "exec/core/fault_hook.h"
#include "exec/core/row_collector.h"

namespace pistachio {

SortOperator::SortOperator(OperatorPtr input, std::vector<SortKey> keys, std::optional<int64_t> limit, std::vector<LogicalType> types)
    : Operator(input->layout()), input_(std::move(input)), order_(std::move(keys), layout_), limit_(limit), types_(std::move(types)) {}

// Keeps all rows, or of each lane at least the best ones.
class SortOperator::Collector final : public RowCollector {
 public:
  Collector(SortOperator& owner, RunContext& context)
      : RowCollector(context.memory.make_child("sort"), context.lanes),
        owner_(owner),
        device_(context.device),
        most_(std::max<int64_t>(4 * owner.limit_.value_or(0), context.chunk_rows())) {}

  Task<void> consume(int lane, Chunk chunk) override {
    const TaskContext& task = co_await current_context();
    WorkTimer timer(owner_.metrics_);
    HeldChunks& own = lanes_[static_cast<size_t>(lane)];
    own.add(chunk);
    auto best = [&](const Chunk& all) { return owner_.order_.order_of(all, task.token).slice(0, 0, *owner_.limit_); };
    if (owner_.limit_ && own.rows() > most_) keep_only(own, owner_.types_, device_, task.token, best);
  }

 private:
  SortOperator& owner_;
  at::Device device_;
  int64_t most_;
};

Task<void> SortOperator::produce(RunContext& context, ChunkSink& sink) {
  Collector collector(*this, context);
  Task<void> reading = input_->produce(context, collector);
  co_await reading;
  metrics_.bytes = collector.bytes();
  const TaskContext& task = co_await current_context();
  RowCollector::Rows all = collector.take_all(types_, context.device, task.token);
  if (all.chunk.rows() == 0) co_return;
  reach(context, FaultPoint::SortRows);
  Reservation words = collector.account().reserve_now(all.chunk.rows() * order_.bytes_per_row(), ReservationKind::Held);
  at::Tensor order = timed_order_of(all.chunk, task.token);
  if (limit_) order = order.slice(0, 0, *limit_);
  int64_t step = context.chunk_rows();
  for (int64_t begin = 0; begin < order.numel() && !sink.is_full(); begin += step) {
    at::Tensor rows = order.slice(0, begin, std::min(begin + step, order.numel()));
    Task<void> passing = pass_on(metrics_, sink, 0, take_rows(all.chunk, rows));
    co_await passing;
  }
}

at::Tensor SortOperator::timed_order_of(const Chunk& rows, const CancelToken& token) {
  WorkTimer timer(metrics_);
  return order_.order_of(rows, token);
}

}  // namespace pistachio
