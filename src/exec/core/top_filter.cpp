#include "exec/core/top_filter.h"

#include <ATen/core/Tensor.h>

#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "exec/core/sort_words.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/sort_order.h"

namespace pistachio {

void TopFilter::begin(const std::vector<SortKey>& keys, int64_t limit, const MemoryAccount& account) {
  std::lock_guard lock(mutex_);
  keys_ = &keys;
  limit_ = limit;
  account_.emplace(account);
  best_.emplace(account);
  rows_at_last_choice_ = 0;
  threshold_.reset();
}

void TopFilter::add(const Column& keys, const CancelToken& token) {
  std::lock_guard lock(mutex_);
  best_->add(Chunk({keys}, keys.rows()));
  // A share of new rows, so that the cost per row does not grow with the limit.
  const int64_t wanted = rows_at_last_choice_ == 0 ? limit_ : rows_at_last_choice_ + limit_ / 8 + 1;
  if (best_->rows() >= wanted) keep_best(token);
}

void TopFilter::keep_best(const CancelToken& token) {
  const SortKey& key = keys_->front();
  const Chunk all = concatenate_chunks(best_->chunks(), {key.expression->type()}, at::kCPU, token);
  const at::Tensor order = call_stoppable(token, [&](const at::Tensor& stop) {
    std::vector<at::Tensor> words;
    append_sort_words(all.column(0), key.descending, key.nulls_first, words, stop);
    return kernels::sort_order(words, stop);
  });
  const Chunk kept = take_rows(all, order.slice(0, 0, limit_));
  best_.emplace(*account_);
  best_->add(kept);
  rows_at_last_choice_ = kept.rows();
  threshold_ = threshold_at(value_at(kept.column(0), kept.rows() - 1));
}

std::shared_ptr<const ScanThreshold> TopFilter::threshold_at(const ScalarValue& worst) const {
  const SortKey& key = keys_->front();
  // Without other keys, rows equal to the worst are as good as it, and there are enough already.
  const bool has_ties = keys_->size() > 1;
  ScanThreshold made{ColumnFilter{.constant = worst}, key.nulls_first};
  if (!worst.is_null) {
    made.filter.comparison = key.descending ? (has_ties ? Comparison::GreaterEqual : Comparison::Greater)
                                            : (has_ties ? Comparison::LessEqual : Comparison::Less);
  } else if (key.nulls_first) {
    made.filter.kind = ColumnFilter::Kind::Never;
    made.passes_nulls = has_ties;
  } else {
    // NULLs are last: all rows pass, or all but them.
    if (has_ties) return nullptr;
    made.filter.kind = ColumnFilter::Kind::NotNull;
  }
  return std::make_shared<const ScanThreshold>(std::move(made));
}

void TopFilter::end() {
  std::lock_guard lock(mutex_);
  best_.reset();
  account_.reset();
  keys_ = nullptr;
}

std::shared_ptr<const ScanThreshold> TopFilter::threshold() const {
  std::lock_guard lock(mutex_);
  return threshold_;
}

}  // namespace pistachio
