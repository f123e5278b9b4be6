#include "exec/core/row_order.h"

#include "base/error.h"
#include "exec/core/sort_words.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/stop_flag.h"

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

Chunk RowOrder::key_values(const Chunk& rows) const {
  return Chunk(evaluator_.evaluate(rows), rows.rows(), rows.device());
}

std::vector<at::Tensor> RowOrder::words_of(const Chunk& key_values, const at::Tensor& stop) const {
  std::vector<at::Tensor> words;
  for (size_t i = 0; i < keys_.size(); ++i)
    append_sort_words(key_values.column(i), keys_[i].descending, keys_[i].nulls_first, words, stop);
  return words;
}

at::Tensor RowOrder::order_of(const Chunk& rows, const CancelToken& token) const {
  kernels::StopFlag stop;
  CancelCallback stop_with_token(token, [&stop] { stop.set(); });
  try {
    return kernels::sort_order(words_of(key_values(rows), stop.tensor()), stop.tensor());
  } catch (const Cancelled&) {
    token.throw_if_cancelled();  // with its reason
    throw;
  }
}

}  // namespace pistachio
