#include "exec/core/top_filter.h"

#include <ATen/core/Tensor.h>

#include "base/error.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "exec/core/sort_words.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/sort_order.h"

namespace pistachio {

void TopFilter::begin(const std::vector<SortKey>& keys, int64_t limit, const MemoryAccount& account) {
  std::lock_guard lock(mutex_);
  key_ = keys.front();
  is_only_key_ = keys.size() == 1;
  limit_ = limit;
  account_.emplace(account);
  for (BestKeys* best : {&retained_, &announced_}) {
    *best = {};
    best->keys.emplace(account);
  }
  threshold_.reset();
}

void TopFilter::add_retained(const Column& keys, const CancelToken& token) {
  add(retained_, keys, token);
}

void TopFilter::add_announced(const Column& keys, const CancelToken& token) {
  add(announced_, keys, token);
}

void TopFilter::add(BestKeys& best, const Column& keys, const CancelToken& token) {
  const Column first = keys.rows() > limit_ ? first_of(keys, token) : keys;
  std::lock_guard lock(mutex_);
  if (!best.keys) return;
  try {
    add_locked(best, first, token);
  } catch (const OutOfMemory&) {
    drop_keys();
  }
}

void TopFilter::add_locked(BestKeys& best, const Column& first, const CancelToken& token) {
  best.keys->add(Chunk({first}, first.rows()));
  // Waits for a share of new rows, so that the cost per row does not grow with the limit.
  if (best.keys->rows() < (best.worst ? best.rows_at_last_choice + limit_ / 8 + 1 : limit_)) return;
  const Chunk all = concatenate_chunks(best.keys->chunks(), {key_.expression->type()}, at::kCPU, token);
  const Column kept = first_of(all.column(0), token);
  best.keys.emplace(*account_);
  best.keys->add(Chunk({kept}, kept.rows()));
  best.rows_at_last_choice = kept.rows();
  best.worst = value_at(kept, kept.rows() - 1);
  choose_threshold();
}

// The first n in the order of the sort.
Column TopFilter::first_of(const Column& keys, const CancelToken& token) const {
  const at::Tensor order = call_stoppable(token, [&](const at::Tensor& stop) {
    std::vector<at::Tensor> words;
    append_sort_words(keys, key_.descending, key_.nulls_first, words, stop);
    return kernels::sort_order(words, stop);
  });
  return take_rows(keys, order.slice(0, 0, limit_));
}

// Rows equal to the worst retained one are as good as it, and enough of them are there already, if there are no other keys. One that was only
// announced must itself pass.
void TopFilter::choose_threshold() {
  const bool is_announced = announced_.worst && (!retained_.worst || comes_before(*announced_.worst, *retained_.worst));
  threshold_ = is_announced ? threshold_at(*announced_.worst, true) : threshold_at(*retained_.worst, !is_only_key_);
}

bool TopFilter::comes_before(const ScalarValue& left, const ScalarValue& right) const {
  if (left.is_null || right.is_null) return left.is_null != right.is_null && left.is_null == key_.nulls_first;
  return key_.descending ? compare(left, right) > 0 : compare(left, right) < 0;
}

std::shared_ptr<const ScanThreshold> TopFilter::threshold_at(const ScalarValue& worst, bool passes_ties) const {
  ScanThreshold made{ColumnFilter{.constant = worst}, key_.nulls_first};
  if (!worst.is_null) {
    made.filter.comparison = key_.descending ? (passes_ties ? Comparison::GreaterEqual : Comparison::Greater)
                                             : (passes_ties ? Comparison::LessEqual : Comparison::Less);
  } else if (key_.nulls_first) {
    made.filter.kind = ColumnFilter::Kind::Never;
    made.passes_nulls = passes_ties;
  } else {
    // NULLs are last: all rows pass, or all but them.
    if (passes_ties) return nullptr;
    made.filter.kind = ColumnFilter::Kind::NotNull;
  }
  return std::make_shared<const ScanThreshold>(std::move(made));
}

void TopFilter::drop_keys() {
  for (BestKeys* best : {&retained_, &announced_}) best->keys.reset();
}

void TopFilter::stop_counting() {
  std::lock_guard lock(mutex_);
  drop_keys();
}

void TopFilter::end() {
  std::lock_guard lock(mutex_);
  for (BestKeys* best : {&retained_, &announced_}) *best = {};
  account_.reset();
}

std::shared_ptr<const ScanThreshold> TopFilter::threshold() const {
  std::lock_guard lock(mutex_);
  return threshold_;
}

}  // namespace pistachio
