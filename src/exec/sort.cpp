#include "exec/sort.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "columns/row_selection.h"
#include "data/concatenate_columns.h"
#include "exec/held_chunks.h"
#include "exec/sort_words.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/sort_order.h"

namespace pistachio {

SortOperator::SortOperator(OperatorPtr input, std::vector<SortKey> keys, std::optional<int64_t> limit, std::vector<LogicalType> types)
    : Operator(input->layout()), input_(std::move(input)), keys_(std::move(keys)), limit_(limit), types_(std::move(types)) {}

at::Tensor SortOperator::order_of(const Chunk& rows) const {
  std::vector<ExpressionPtr> expressions;
  for (const SortKey& key : keys_) expressions.push_back(key.expression);
  std::vector<Column> columns = ExpressionEvaluator(expressions, layout_).evaluate(rows);
  std::vector<at::Tensor> words;
  for (size_t i = 0; i < keys_.size(); ++i) append_sort_words(columns[i], keys_[i].descending, keys_[i].nulls_first, words);
  return kernels::sort_order(words);
}

Task<void> SortOperator::produce(RunContext& context, ChunkSink& sink) {
  MemoryAccount account = context.memory.make_child("sort");
  std::vector<HeldChunks> held;
  for (int lane = 0; lane < context.lanes; ++lane) held.emplace_back(account);
  class Collect final : public ChunkSink {
   public:
    Collect(SortOperator& owner, const MemoryAccount& account, int64_t chunk_rows, std::vector<HeldChunks>& held)
        : owner_(owner), account_(account), most_(std::max<int64_t>(4 * owner.limit_.value_or(0), chunk_rows)), held_(held) {}
    Task<void> consume(int lane, Chunk chunk) override {
      WorkTimer timer(owner_.metrics_);
      HeldChunks& own = held_[static_cast<size_t>(lane)];
      own.add(chunk);
      if (owner_.limit_ && own.rows() > most_) shrink(own);
      co_return;
    }

   private:
    // Keeps the best rows of what there is.
    void shrink(HeldChunks& own) {
      Chunk all = concatenate_chunks(own.chunks(), owner_.types_);
      at::Tensor best = owner_.order_of(all).slice(0, 0, *owner_.limit_);
      Chunk kept = take_rows(all, best);
      own = HeldChunks(account_);
      own.add(kept);
    }

    SortOperator& owner_;
    const MemoryAccount& account_;
    int64_t most_;
    std::vector<HeldChunks>& held_;
  } collect(*this, account, context.settings().chunk_rows, held);
  Task<void> reading = input_->produce(context, collect);
  co_await reading;

  std::vector<Chunk> chunks;
  int64_t bytes = 0;
  for (HeldChunks& lane : held) {
    bytes += lane.bytes();
    chunks.insert(chunks.end(), lane.chunks().begin(), lane.chunks().end());
  }
  metrics_.bytes = bytes;
  if (chunks.empty()) co_return;
  Reservation joined = account.reserve_now(bytes, ReservationKind::Held);
  Chunk all = concatenate_chunks(chunks, types_);
  chunks.clear();
  held.clear();
  Reservation words = account.reserve_now(all.rows() * 16 * static_cast<int64_t>(keys_.size()), ReservationKind::Held);
  at::Tensor order = order_of(all);
  if (limit_) order = order.slice(0, 0, *limit_);
  int64_t step = context.settings().chunk_rows;
  for (int64_t begin = 0; begin < order.numel() && !sink.is_full(); begin += step) {
    at::Tensor rows = order.slice(0, begin, std::min(begin + step, order.numel()));
    Task<void> passing = pass_on(metrics_, sink, 0, take_rows(all, rows));
    co_await passing;
  }
}

}  // namespace pistachio
