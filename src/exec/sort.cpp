#include "exec/sort.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "columns/row_selection.h"
#include "data/concatenate_columns.h"
#include "exec/held_chunks.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/text_ranks.h"

namespace pistachio {

namespace {

// Doubles as integers of the same order: -0.0 as 0.0, all NaNs alike and above everything.
at::Tensor floating_word(const at::Tensor& values) {
  at::Tensor numbers = (values.to(at::kDouble) + 0.0);
  at::Tensor bits = numbers.view(at::kLong);
  at::Tensor word = at::where(bits.lt(0), bits.bitwise_xor(INT64_MAX), bits);
  return word.masked_fill(numbers.isnan(), INT64_MAX);
}

// Words of one key, most significant first, ascending; without regard to NULLs.
std::vector<at::Tensor> value_words(const Column& column) {
  Column plain = decode_dictionary(column);
  if (plain.type().is_text()) {
    if (column.is_dictionary()) {
      const Column& entries = *column.dictionary_column();
      return {kernels::text_ranks(entries.bytes(), entries.begins(), entries.ends()).index_select(0, column.codes())};
    }
    return {kernels::text_ranks(plain.bytes(), plain.begins(), plain.ends())};
  }
  if (plain.type().is_floating()) return {floating_word(plain.values())};
  if (plain.type().kind() == TypeKind::Interval) {
    at::Tensor high = plain.values().select(1, 1);
    at::Tensor days = high.bitwise_right_shift(32) * 30 + high.bitwise_left_shift(32).bitwise_right_shift(32);
    return {plain.values().select(1, 0) + days * (int64_t{86'400} * 1'000'000)};
  }
  if (plain.type().is_wide()) {
    // The low word is unsigned: its order as signed is that with the top bit flipped.
    return {plain.values().select(1, 1).contiguous(), plain.values().select(1, 0).bitwise_xor(INT64_MIN)};
  }
  return {plain.values().to(at::kLong)};
}

void add_words(const Column& column, const SortKey& key, std::vector<at::Tensor>& words) {
  if (column.has_validity()) {
    // 1 for what comes later.
    at::Tensor later = key.nulls_first ? column.validity() : column.validity().logical_not();
    words.push_back(later.to(at::kLong));
  }
  for (at::Tensor& word : value_words(column)) {
    if (key.descending) word = word.bitwise_not();
    if (column.has_validity()) word = word.masked_fill(column.validity().logical_not(), 0);
    words.push_back(std::move(word));
  }
}

}  // namespace

SortOperator::SortOperator(OperatorPtr input, std::vector<SortKey> keys, std::optional<int64_t> limit, std::vector<LogicalType> types)
    : Operator(input->layout()), input_(std::move(input)), keys_(std::move(keys)), limit_(limit), types_(std::move(types)) {}

at::Tensor SortOperator::order_of(const Chunk& rows) const {
  std::vector<ExpressionPtr> expressions;
  for (const SortKey& key : keys_) expressions.push_back(key.expression);
  std::vector<Column> columns = ExpressionEvaluator(expressions, layout_).evaluate(rows);
  std::vector<at::Tensor> words;
  for (size_t i = 0; i < keys_.size(); ++i) add_words(columns[i], keys_[i], words);
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
