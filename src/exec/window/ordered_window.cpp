#include "exec/window/ordered_window.h"

#include <utility>

#include "columns/order_words.h"
#include "columns/row_selection.h"
#include "exec/core/sort_words.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/segment_bounds.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// bool [rows]: whether one of the words differs from that at the place before, or `starts` is true already.
at::Tensor with_changes(at::Tensor starts, const std::vector<at::Tensor>& words, const at::Tensor& order) {
  const int64_t rows = order.numel();
  if (rows < 2) return starts;
  at::Tensor behind_first = starts.slice(0, 1);
  for (const at::Tensor& word : words) {
    const at::Tensor sorted = kernels::gather_rows(word, order);
    behind_first.logical_or_(sorted.slice(0, 1).ne(sorted.slice(0, 0, rows - 1)));
  }
  return starts;
}

at::Tensor only_first(const at::Tensor& order) {
  at::Tensor starts = at::zeros({order.numel()}, order.options().dtype(at::kBool));
  starts.slice(0, 0, 1).fill_(true);
  return starts;
}

Segments segments_of(const at::Tensor& starts) {
  auto [begins, ends] = kernels::segment_bounds(starts);
  return {std::move(begins), std::move(ends)};
}

}  // namespace

OrderedWindow::OrderedWindow(const WindowPlan& plan, const Chunk& rows, const CancelToken& token)
    : token_(token), rows_(rows.rows()), values_(plan.expressions.evaluate(rows, token)) {
  std::vector<at::Tensor> words_of_partition;
  std::vector<std::vector<at::Tensor>> words_of_key(plan.order.size());
  const at::TensorOptions numbers = at::TensorOptions(at::kLong).device(rows.device());
  order_ = call_stoppable(token, [&](const at::Tensor& stop) {
    for (const Column& column : plan.partition_columns(rows)) append_sort_words(column, false, false, words_of_partition, stop);
    std::vector<at::Tensor> all = words_of_partition;
    for (size_t i = 0; i < plan.order.size(); ++i) {
      const SortKey& key = plan.plan.order[i];
      append_sort_words(values(plan.order[i]), key.descending, key.nulls_first, words_of_key[i], stop);
      all.insert(all.end(), words_of_key[i].begin(), words_of_key[i].end());
    }
    return all.empty() ? at::arange(rows_, numbers) : kernels::sort_order(all, stop);
  });
  // New memory costs more than what is computed with it: tensors are not kept longer than needed, nor made if nothing needs them.
  starts_.push_back(with_changes(only_first(order_), std::exchange(words_of_partition, {}), order_));
  words_of_key.resize(plan.keys_of_peers());
  for (std::vector<at::Tensor>& words : words_of_key) starts_.push_back(with_changes(starts_.back().clone(), std::exchange(words, {}), order_));
  places_ = at::arange(rows_, numbers);
  if (plan.partition.empty()) {
    partitions_ = {at::zeros({1}, numbers).expand({rows_}), at::full({1}, rows_, numbers).expand({rows_})};
  } else {
    partitions_ = segments_of(starts_[0]);
  }
  peers_.resize(starts_.size());
}

const Segments& OrderedWindow::peers(size_t keys) const {
  if (keys == 0) return partitions_;
  std::optional<Segments>& known = peers_[keys];
  if (!known) known = segments_of(starts_[keys]);
  return *known;
}

Column OrderedWindow::values_in_order(int expression) const {
  return take_rows(values(expression), order_);
}

at::Tensor ranks_of_words(const std::vector<at::Tensor>& words, const CancelToken& token) {
  const at::Tensor order = call_stoppable(token, [&](const at::Tensor& stop) { return kernels::sort_order(words, stop); });
  const at::Tensor sorted = with_changes(only_first(order), words, order).cumsum(0) - 1;
  at::Tensor ranks = at::empty_like(order);
  ranks.scatter_(0, order, sorted);
  return ranks;
}

at::Tensor dense_ranks(const Column& column, const CancelToken& token) {
  const std::vector<at::Tensor> words = call_stoppable(token, [&](const at::Tensor& stop) { return order_words(column, stop); });
  return column.type().is_text() ? words[0] : ranks_of_words(words, token);
}

}  // namespace pistachio
