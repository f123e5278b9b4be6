#include "exec/operators/key_table.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

#include "columns/column_compare.h"
#include "columns/column_hash.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/join_probe.h"

namespace pistachio {

namespace {

constexpr int64_t kBucketsPerStrip = 1 << 18;

// Rows whose keys can match: no NULL among the keys that are not null-safe. Undefined: all rows.
at::Tensor matchable(const std::vector<Column>& columns, const std::vector<JoinKey>& keys) {
  at::Tensor valid;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].null_safe) valid = both_valid(valid, columns[i].validity());
  }
  return valid;
}

// Whether equal hashes imply equal keys. NULLs that cannot match are excluded from both sides and need no check.
bool hashes_decide(const std::vector<Column>& columns, const std::vector<JoinKey>& keys) {
  return columns.size() == 1 && hash_is_exact(columns[0].type()) && !(keys[0].null_safe && columns[0].has_validity());
}

}  // namespace

class KeyTable::KeySearch final : public JoinCandidates::Search {
 public:
  KeySearch(const KeyTable& owner, std::vector<Column> keys) : owner_(owner), rows_(keys[0].rows()), keys_(std::move(keys)) {
    hashes_ = hash_rows(keys_);
    valid_ = matchable(keys_, owner.keys_);
    exact_ = owner.exact_ && hashes_decide(keys_, owner.keys_);
    if (!exact_) std::transform(keys_.begin(), keys_.end(), keys_.begin(), decode_dictionary);
  }

  std::optional<RowPairs> next(int64_t most) override {
    if (next_ >= rows_) return std::nullopt;
    RowPairs pairs;
    int64_t after = 0;
    std::tie(pairs.left, pairs.right, after) =
        kernels::join_probe(owner_.table_.offsets, owner_.table_.order, owner_.table_.hashes, hashes_, valid_, next_, most);
    if (!exact_ && pairs.left.numel() > 0) {
      at::Tensor equal = verify(pairs);
      if (kernels::count_true(equal) < equal.numel()) pairs = {kernels::compress(pairs.left, equal), kernels::compress(pairs.right, equal)};
    }
    next_ = after;
    return pairs;
  }

 private:
  at::Tensor verify(const RowPairs& pairs) const {
    at::Tensor equal;
    for (size_t i = 0; i < keys_.size(); ++i) {
      Column left = take_rows(keys_[i], pairs.left);
      Column right = take_rows(owner_.build_keys_[i], pairs.right);
      at::Tensor same = owner_.keys_[i].null_safe ? same_rows(left, right) : compare_columns(left, Comparison::Equal, right);
      equal = equal.defined() ? equal.logical_and(same) : same;
    }
    return equal;
  }

  const KeyTable& owner_;
  int64_t rows_;
  std::vector<Column> keys_;
  at::Tensor hashes_;
  at::Tensor valid_;
  bool exact_ = false;
  int64_t next_ = 0;
};

KeyTable::KeyTable(std::vector<JoinKey> keys, std::vector<Column> build_keys, const MemoryAccount& account, KeyMatches matches)
    : keys_(std::move(keys)), build_keys_(std::move(build_keys)) {
  exact_ = hashes_decide(build_keys_, keys_);
  if (exact_) ranks_ = RankTable::make(build_keys_[0], matches, account);
  if (!ranks_) memory_ = account.reserve_now(build_keys_[0].rows() * JoinTable::kBytesPerRow, ReservationKind::Held);
  int64_t key_bytes = 0;
  for (size_t i = 0; i < keys_.size(); ++i) {
    bool is_kept_anyway = keys_[i].right->kind() == ExpressionKind::Column && !build_keys_[i].is_dictionary();
    if (!is_kept_anyway) key_bytes += build_keys_[i].memory_bytes();
  }
  key_memory_ = account.reserve_now(key_bytes, ReservationKind::Held);
}

void KeyTable::build(const CancelToken& token) {
  if (ranks_) {
    ranks_->build(token);
    build_keys_.clear();
    return;
  }
  const RowHashes hashes = [&](int64_t begin, int64_t rows) { return key_hashes(begin, rows, token); };
  take(build_join_table(hashes, build_keys_[0].rows(), matchable(build_keys_, keys_), token));
}

Task<void> KeyTable::build_on_lanes(RunContext& context, OperatorMetrics& metrics) {
  const TaskContext& task = co_await current_context();
  if (ranks_) {
    Task<void> ranking = ranks_->build_on_lanes(context, metrics);
    co_await ranking;
    build_keys_.clear();
    co_return;
  }
  const RowHashes hashes = [&](int64_t begin, int64_t rows) { return key_hashes(begin, rows, task.token); };
  Task<JoinTable> building = build_join_table_on_lanes(context, hashes, build_keys_[0].rows(), matchable(build_keys_, keys_), metrics);
  take(co_await building);
}

at::Tensor KeyTable::key_hashes(int64_t begin, int64_t rows, const CancelToken& token) const {
  std::vector<Column> keys;
  for (const Column& key : build_keys_) keys.push_back(key.slice(begin, rows));
  return hash_rows(keys, token);
}

void KeyTable::take(JoinTable table) {
  table_ = std::move(table);
  if (!exact_) std::transform(build_keys_.begin(), build_keys_.end(), build_keys_.begin(), decode_dictionary);
}

std::unique_ptr<JoinCandidates::Search> KeyTable::search(std::vector<Column> left_keys) const {
  if (ranks_) return ranks_->search(left_keys[0]);
  return std::make_unique<KeySearch>(*this, std::move(left_keys));
}

double KeyTable::mean_candidates() const {
  int64_t rows = table_.order.numel();
  if (rows == 0) return 0;
  const int64_t buckets = table_.offsets.numel() - 1;
  // In strips on the host: temporary tensors for all buckets of a large table would take more memory than the table.
  const int64_t step = table_.offsets.is_cpu() ? kBucketsPerStrip : buckets;
  double candidates = 0;
  for (int64_t begin = 0; begin < buckets; begin += step) {
    const at::Tensor counts = table_.offsets.slice(0, begin, std::min(begin + step, buckets) + 1).diff().to(at::kDouble);
    candidates += counts.mul(counts).sum().item<double>();
  }
  return candidates / static_cast<double>(rows);
}

}  // namespace pistachio
