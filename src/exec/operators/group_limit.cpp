#include "exec/operators/group_limit.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "columns/row_selection.h"
#include "exec/core/memory_relief.h"
#include "exec/core/row_collector.h"
#include "exec/core/row_order.h"
#include "exec/core/sort_words.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// bool [n]: which rows, taken in order, are the first of their group.
at::Tensor group_begins(const std::vector<at::Tensor>& group_words, const at::Tensor& order) {
  int64_t rows = order.numel();
  at::Tensor begins = at::zeros({rows}, order.options().dtype(at::kBool));
  begins.slice(0, 0, 1).fill_(true);
  at::Tensor after_first = begins.slice(0, 1);
  for (const at::Tensor& word : group_words) {
    at::Tensor sorted = word.index_select(0, order);
    after_first.logical_or_(sorted.slice(0, 1).ne(sorted.slice(0, 0, rows - 1)));
  }
  return begins;
}

}  // namespace

// From time to time drops the rows beyond the last wanted position of their group.
class GroupLimitOperator::Collector final : public RowCollector {
 public:
  Collector(GroupLimitOperator& owner, RunContext& context)
      : RowCollector(context.memory.make_child("group limit"), context.lanes),
        owner_(owner),
        context_(context),
        least_(4 * context.chunk_rows()),
        most_(static_cast<size_t>(context.lanes), least_) {
    const PhysicalGroupLimit& plan = owner.plan_;
    if (plan.limit && *plan.limit <= std::numeric_limits<int64_t>::max() - plan.offset) wanted_ = *plan.limit + plan.offset;
  }

  Task<void> consume(int lane, Chunk chunk) override {
    size_t own = static_cast<size_t>(lane);
    {
      WorkTimer timer(owner_.metrics_);
      lanes_[own].add(chunk);
    }
    if (!wanted_ || lanes_[own].rows() <= most_[own]) co_return;
    const TaskContext& task = co_await current_context();
    auto choose = [&] {
      WorkTimer timer(owner_.metrics_);
      auto best = [&](const Chunk& all) { return owner_.rows_at(all, 0, wanted_, task.token); };
      return chosen_rows(lanes_[own], owner_.types_, context_.device, task.token, best);
    };
    Task<Chunk> choosing = with_relief(context_, choose);
    const Chunk kept = co_await choosing;
    keep_only(lanes_[own], kept);
    // Drops again once the rows have doubled, which keeps the total work linear in the input.
    most_[own] = std::max(least_, 2 * lanes_[own].rows());
  }

 private:
  GroupLimitOperator& owner_;
  RunContext& context_;
  int64_t least_;
  std::vector<int64_t> most_;  // per lane: number of rows beyond which rows are dropped
  std::optional<int64_t> wanted_;
};

GroupLimitOperator::GroupLimitOperator(OperatorPtr input, PhysicalGroupLimit plan, std::vector<LogicalType> types)
    : Operator(input->layout()), input_(std::move(input)), plan_(std::move(plan)), types_(std::move(types)) {
  ENSURE(!plan_.groups.empty());
  for (ColumnId group : plan_.groups) {
    auto found = std::find(layout_.begin(), layout_.end(), group);
    ENSURE(found != layout_.end());
    group_places_.push_back(static_cast<size_t>(found - layout_.begin()));
  }
}

at::Tensor GroupLimitOperator::rows_at(const Chunk& rows, int64_t first, std::optional<int64_t> count, const CancelToken& token) const {
  std::vector<at::Tensor> group_words;
  at::Tensor order = call_stoppable(token, [&](const at::Tensor& stop) {
    for (size_t place : group_places_) append_sort_words(rows.column(place), false, false, group_words, stop);
    std::vector<at::Tensor> words = group_words;
    RowOrder by_keys(plan_.keys, layout_);
    for (at::Tensor& word : by_keys.words_of(by_keys.key_values(rows, token), stop)) words.push_back(std::move(word));
    return kernels::sort_order(words, stop);
  });
  at::Tensor numbers = at::arange(order.numel(), order.options());
  at::Tensor first_of_group = std::get<0>(numbers.masked_fill(group_begins(group_words, order).logical_not(), 0).cummax(0));
  at::Tensor places = numbers - first_of_group;
  at::Tensor wanted = places.ge(first);
  if (count) wanted.logical_and_((places - first).lt(*count));
  return order.masked_select(wanted);
}

Task<void> GroupLimitOperator::produce(RunContext& context, ChunkSink& sink) {
  if (plan_.limit == 0) co_return;
  Collector collector(*this, context);
  Task<void> reading = input_->produce(context, collector);
  co_await reading;
  metrics_.bytes = collector.bytes();
  const TaskContext& task = co_await current_context();
  RowCollector::Rows all = collector.take_all(types_, context.device, task.token);
  if (all.chunk.rows() == 0) co_return;
  int64_t words = static_cast<int64_t>(plan_.groups.size() + plan_.keys.size() + 2);
  Reservation for_words = collector.account().reserve_now(all.chunk.rows() * 16 * words, ReservationKind::Held);
  auto choose = [&] { return rows_at(all.chunk, plan_.offset, plan_.limit, task.token); };
  Task<at::Tensor> choosing = with_relief(context, choose);
  const at::Tensor rows = co_await choosing;
  auto make = [&](int64_t begin, int64_t count) { return take_rows(all.chunk, rows.slice(0, begin, begin + count)); };
  Task<void> passing = make_and_pass_on(context, metrics_, sink, 0, rows.numel(), context.chunk_rows(), make);
  co_await passing;
}

}  // namespace pistachio
