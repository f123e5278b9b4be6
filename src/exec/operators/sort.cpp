#include "exec/operators/sort.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

#include "columns/row_selection.h"
#include "exec/core/fault_hook.h"
#include "exec/core/row_collector.h"
#include "exec/core/top_filter.h"
#include "exec/operators/sortable_rows.h"
#include "kernels/ops/compress.h"
#include "physical/top_filters.h"

namespace pistachio {

SortOperator::SortOperator(OperatorPtr input, const PhysicalSort& sort, std::vector<LogicalType> types)
    : Operator(input->layout()),
      input_(std::move(input)),
      order_(sort.keys, layout_),
      limit_(sort.limit),
      has_threshold_(has_threshold(sort)),
      filter_(sort.filter),
      types_(std::move(types)) {}

namespace {

// With a LIMIT up to this, only the best rows are kept, in memory; with a larger one all rows are sorted.
constexpr int64_t kMostKept = 1 << 20;
// Rows that a lane adds to the best ones, at least, before it drops the others.
constexpr int64_t kRowsBetweenChoices = 1 << 10;

// Passes on the first rows only.
class FirstRows final : public ChunkSink {
 public:
  FirstRows(ChunkSink& next, int64_t rows) : next_(next), left_(rows) {}
  bool is_full() const override { return left_ == 0 || next_.is_full(); }
  Task<void> consume(int lane, Chunk chunk) override {
    const int64_t rows = std::min(left_, chunk.rows());
    left_ -= rows;
    if (rows < chunk.rows()) chunk = chunk.slice(0, rows);
    if (rows > 0) {
      Task<void> passing = next_.consume(lane, std::move(chunk));
      co_await passing;
    }
  }

 private:
  ChunkSink& next_;
  int64_t left_;
};

}  // namespace

// Retains the best rows of each lane, and possibly more.
class SortOperator::BestRows final : public RowCollector {
 public:
  // `filter`: null if there is no threshold.
  BestRows(SortOperator& owner, RunContext& context, TopFilter* filter)
      : RowCollector(context.memory.make_child("sort"), context.lanes),
        owner_(owner),
        device_(context.device),
        most_(4 * *owner.limit_ + kRowsBetweenChoices),
        filter_(filter) {
    if (filter_ != nullptr) filter_->begin(owner.order_.keys(), *owner.limit_, account_);
  }

  Task<void> consume(int lane, Chunk chunk) override {
    const TaskContext& task = co_await current_context();
    WorkTimer timer(owner_.metrics_);
    HeldChunks& own = lanes_[static_cast<size_t>(lane)];
    const Chunk candidates = best_of(chunk, task.token);
    if (candidates.rows() == 0) co_return;
    own.add(candidates);
    auto best = [&](const Chunk& all) { return owner_.order_.order_of(all, task.token).slice(0, 0, *owner_.limit_); };
    if (own.rows() > most_) keep_only(own, owner_.types_, device_, task.token, best);
  }

 private:
  // The rows of a chunk that may be among the first ones.
  Chunk best_of(Chunk chunk, const CancelToken& token) {
    const int64_t limit = *owner_.limit_;
    Chunk keys = owner_.order_.key_values(chunk, token);
    if (const auto threshold = filter_ == nullptr ? nullptr : filter_->threshold(); threshold != nullptr) {
      const FilterOutcome passing = evaluate_threshold(keys.column(0), *threshold);
      if (passing.none) return {};
      if (!passing.all) {
        const int64_t rows = kernels::count_true(passing.mask);
        chunk = select_rows(chunk, passing.mask, rows);
        keys = select_rows(keys, passing.mask, rows);
      }
    }
    if (chunk.rows() > limit) {
      const at::Tensor first = owner_.order_.order_of_keys(keys, token).slice(0, 0, limit);
      chunk = take_rows(chunk, first);
      keys = take_rows(keys, first);
    }
    if (filter_ != nullptr && chunk.rows() > 0) filter_->add_retained(keys.column(0), token);
    return chunk;
  }

  SortOperator& owner_;
  at::Device device_;
  int64_t most_;
  TopFilter* filter_;
};

Task<void> SortOperator::produce(RunContext& context, ChunkSink& sink) {
  Task<void> sorting = limit_ && *limit_ <= kMostKept ? sort_best(context, sink) : sort_all(context, sink);
  co_await sorting;
}

Task<void> SortOperator::sort_best(RunContext& context, ChunkSink& sink) {
  TopFilter own;
  TopFilter* filter = filter_ ? context.top_filters->at(*filter_).get() : &own;
  if (!has_threshold_ || !context.device.is_cpu() || !context.settings().top_filters) filter = nullptr;
  BestRows best(*this, context, filter);
  Task<void> reading = input_->produce(context, best);
  co_await reading;
  if (filter != nullptr) filter->end();
  metrics_.bytes = best.bytes();
  const TaskContext& task = co_await current_context();
  const RowCollector::Rows all = best.take_all(types_, context.device, task.token);
  Task<void> emitting = emit_sorted(context, all.chunk, best.account(), sink);
  co_await emitting;
}

Task<void> SortOperator::sort_all(RunContext& context, ChunkSink& sink) {
  const auto rows = std::make_shared<SortableRows>(context, order_, types_, metrics_);
  context.spill.add(rows);
  RetainingSink retaining(*rows);
  Task<void> reading = input_->produce(context, retaining);
  co_await reading;
  Task<void> closing = rows->close();
  co_await closing;
  metrics_.bytes = rows->bytes();
  if (rows->has_spilled()) {
    reach(context, FaultPoint::SortRows);
    FirstRows first(sink, limit_.value_or(INT64_MAX));
    Task<void> merging = rows->merge(first);
    co_await merging;
    co_return;
  }
  Task<SpillableRows::Rows> taking = rows->take_all();
  const SpillableRows::Rows all = co_await taking;
  Task<void> emitting = emit_sorted(context, all.chunk, rows->account(), sink);
  co_await emitting;
}

Task<void> SortOperator::emit_sorted(RunContext& context, const Chunk& rows, const MemoryAccount& account, ChunkSink& sink) {
  if (rows.rows() == 0) co_return;
  reach(context, FaultPoint::SortRows);
  const TaskContext& task = co_await current_context();
  const Reservation words = account.reserve_now(rows.rows() * order_.bytes_per_row(), ReservationKind::Held);
  at::Tensor order = timed_order_of(rows, task.token);
  if (limit_) order = order.slice(0, 0, *limit_);
  const int64_t step = context.chunk_rows();
  for (int64_t begin = 0; begin < order.numel() && !sink.is_full(); begin += step) {
    const at::Tensor part = order.slice(0, begin, std::min(begin + step, order.numel()));
    Task<void> passing = pass_on(metrics_, sink, 0, take_rows(rows, part));
    co_await passing;
  }
}

at::Tensor SortOperator::timed_order_of(const Chunk& rows, const CancelToken& token) {
  WorkTimer timer(metrics_);
  return order_.order_of(rows, token);
}

}  // namespace pistachio
