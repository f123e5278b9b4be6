#include "exec/core/row_order.h"

#include <algorithm>

#include "exec/core/sort_words.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/sort_order.h"

namespace pistachio {

namespace {

std::vector<ExpressionPtr> expressions_of(const std::vector<SortKey>& keys) {
  std::vector<ExpressionPtr> expressions;
  for (const SortKey& key : keys) expressions.push_back(key.expression);
  return expressions;
}

}  // namespace

RowOrder::RowOrder(std::vector<SortKey> keys, const std::vector<ColumnId>& layout)
    : keys_(std::move(keys)), evaluator_(expressions_of(keys_), layout) {}

Chunk RowOrder::key_values(const Chunk& rows, const CancelToken& token) const {
  return Chunk(evaluator_.evaluate(rows, token), rows.rows(), rows.device());
}

int64_t RowOrder::bytes_per_row() const {
  constexpr int64_t ranking_bytes = 40;
  bool any_text = std::any_of(keys_.begin(), keys_.end(), [](const SortKey& key) { return key.expression->type().is_text(); });
  return 16 * static_cast<int64_t>(keys_.size()) + (any_text ? ranking_bytes : 0);
}

std::vector<at::Tensor> RowOrder::words_of(const Chunk& key_values, const at::Tensor& stop) const {
  std::vector<at::Tensor> words;
  for (size_t i = 0; i < keys_.size(); ++i)
    append_sort_words(key_values.column(i), keys_[i].descending, keys_[i].nulls_first, words, stop);
  return words;
}

at::Tensor RowOrder::order_of(const Chunk& rows, const CancelToken& token) const {
  return order_of_keys(key_values(rows, token), token);
}

at::Tensor RowOrder::order_of_keys(const Chunk& key_values, const CancelToken& token) const {
  return call_stoppable(token, [&](const at::Tensor& stop) { return kernels::sort_order(words_of(key_values, stop), stop); });
}

}  // namespace pistachio
