#include "exec/operators/sort.h"

#include <ATen/core/Tensor.h>

#include "columns/row_selection.h"
#include "exec/core/fault_hook.h"
#include "exec/core/lane_sort.h"
#include "exec/core/memory_relief.h"
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

// With a LIMIT up to this, only the best rows are kept; with a larger one all rows are sorted.
constexpr int64_t kMaxKept = 1 << 20;

}  // namespace

// Retains rows that may be among the first ones.
class SortOperator::BestRows final : public ChunkSink {
 public:
  // `filter`: null if there is no threshold.
  BestRows(SortOperator& owner, SortableRows& rows, TopFilter* filter) : owner_(owner), rows_(rows), filter_(filter) {
    if (filter_ != nullptr) filter_->begin(owner.order_.keys(), *owner.limit_, rows.account());
  }

  Task<void> consume(int, Chunk chunk) override {
    const TaskContext& task = co_await current_context();
    // The threshold needs memory, too, and less of it is left than the rows need.
    if (filter_ != nullptr && rows_.has_spilled()) filter_->stop_counting();
    Chunk candidates = best_of(std::move(chunk), task.token);
    if (candidates.rows() == 0) co_return;
    Task<void> adding = rows_.add(std::move(candidates));
    co_await adding;
    Task<void> reducing = rows_.keep_best();
    co_await reducing;
  }

 private:
  // The rows of a chunk that may be among the first ones.
  Chunk best_of(Chunk chunk, const CancelToken& token) {
    WorkTimer timer(owner_.metrics_);
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
  SortableRows& rows_;
  TopFilter* filter_;
};

Task<void> SortOperator::produce(RunContext& context, ChunkSink& sink) {
  const bool keeps_best = limit_ && *limit_ <= kMaxKept;
  const auto rows = std::make_shared<SortableRows>(context, order_, limit_, types_, metrics_);
  context.spill.add(rows);
  Task<void> retaining = keeps_best ? retain_best(context, *rows) : retain_all(context, *rows);
  co_await retaining;
  Task<void> closing = rows->close();
  co_await closing;
  metrics_.bytes = rows->bytes();
  Task<void> emitting = emit(context, *rows, sink);
  co_await emitting;
}

Task<void> SortOperator::retain_all(RunContext& context, SortableRows& rows) {
  RetainingSink retaining(rows);
  Task<void> reading = input_->produce(context, retaining);
  co_await reading;
}

Task<void> SortOperator::retain_best(RunContext& context, SortableRows& rows) {
  TopFilter own;
  TopFilter* filter = filter_ ? context.top_filters->at(*filter_).get() : &own;
  if (!has_threshold_ || !context.device.is_cpu() || !context.settings().top_filters) filter = nullptr;
  BestRows best(*this, rows, filter);
  Task<void> reading = input_->produce(context, best);
  co_await reading;
  if (filter != nullptr) filter->end();
}

Task<void> SortOperator::emit(RunContext& context, SortableRows& rows, ChunkSink& sink) {
  if (rows.has_spilled()) {
    reach(context, FaultPoint::SortRows);
    Task<void> merging = rows.merge(sink);
    co_await merging;
    co_return;
  }
  Task<std::optional<SpillableRows::Rows>> taking = rows.take_all();
  std::optional<SpillableRows::Rows> all = co_await taking;
  std::optional<at::Tensor> order;
  Reservation words;
  if (all) {
    Task<std::optional<at::Tensor>> sorting = sort(context, rows.account(), all->chunk, words);
    order = co_await sorting;
  }
  if (!order) {
    Task<void> spilling = rows.spill_unconditionally(all ? std::move(*all) : SpillableRows::Rows());
    co_await spilling;
    Task<void> merging = rows.merge(sink);
    co_await merging;
    co_return;
  }
  if (all->chunk.rows() == 0) co_return;
  reach(context, FaultPoint::SortRows);
  const SortedOutput output{.step = context.chunk_rows(), .limit = limit_};
  Task<void> passing = order->defined() ? pass_on_in_order(all->chunk, *order, output, metrics_, sink)
                                        : pass_on_sorted(context, order_, all->chunk, output, metrics_, sink);
  co_await passing;
}

// The order of the rows, and in `words` the reservation for sorting them. Nullopt if there is no memory. An undefined order if there are so
// many rows that all lanes sort them while they are passed on.
Task<std::optional<at::Tensor>> SortOperator::sort(RunContext& context, const MemoryAccount& account, const Chunk& rows,
                                                   Reservation& words) {
  const TaskContext& task = co_await current_context();
  std::optional<at::Tensor> order;
  auto find_order = [&] {
    WorkTimer timer(metrics_);
    return order_.order_of(rows, task.token);
  };
  try {
    words = account.reserve_now(rows.rows() * order_.bytes_per_row(), ReservationKind::Held);
    if (context.needs_all_lanes(rows.rows()) || rows.rows() == 0) co_return at::Tensor();
    Task<at::Tensor> sorting = with_relief(context, find_order);
    order = co_await sorting;
  } catch (const OutOfMemory&) {
    if (!context.spill.is_allowed()) throw;
    words.release();
  }
  co_return order;
}

}  // namespace pistachio
