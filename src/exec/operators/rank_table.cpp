#include "exec/operators/rank_table.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/check.h"
#include "columns/decode_dictionary.h"
#include "exec/core/lane_ranges.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/join_build.h"
#include "kernels/ops/key_ranks.h"
#include "kernels/ops/rank_probe.h"
#include "kernels/ops/summarize.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Values per build row that the range may have: two bits each are 16 bytes, which is less than a hash table takes.
constexpr uint64_t kMaxSparsity = 64;
// A range of this many values is never too large: 64 KiB.
constexpr uint64_t kSmallRange = 1 << 18;
constexpr int64_t kValuesPerWord = 64;
// Row numbers are int32.
constexpr int64_t kMaxRows = std::numeric_limits<int32_t>::max();

bool has_integers(const Column& key) {
  if (key.is_dictionary()) return false;
  switch (key.type().kind()) {
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt:
    case TypeKind::Date: return true;
    default: return false;
  }
}

}  // namespace

class RankTable::RankSearch final : public JoinCandidates::Search {
 public:
  RankSearch(const RankTable& table, const Column& key) : table_(table), values_(key.values()), valid_(key.validity()) {}

  std::optional<RowPairs> next(int64_t most) override {
    if (next_ >= values_.size(0)) return std::nullopt;
    RowPairs pairs;
    const int64_t begin = next_;
    std::tie(pairs.left, pairs.right, next_) =
        kernels::probe_ranks(table_.ranks_, table_.offsets_, table_.order_, values_, valid_, table_.least_, begin, most);
    pairs.has_each_left_row = !table_.offsets_.defined() && begin == 0 && pairs.left.numel() == values_.size(0);
    return pairs;
  }

 private:
  const RankTable& table_;
  const at::Tensor values_;
  const at::Tensor valid_;
  int64_t next_ = 0;
};

std::unique_ptr<RankTable> RankTable::make(const Column& build_key, KeyMatches matches, const MemoryAccount& account) {
  if (!build_key.device().is_cpu() || !has_integers(build_key) || build_key.rows() == 0 || build_key.rows() > kMaxRows) return nullptr;
  const kernels::ColumnSummary summary = kernels::summarize(build_key.values(), build_key.validity());
  if (summary.count == 0) return nullptr;
  const auto least = static_cast<int64_t>(summary.min), greatest = static_cast<int64_t>(summary.max);
  // Unsigned: the distance of two values may exceed int64.
  const uint64_t last = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
  if (last >= std::max(kMaxSparsity * static_cast<uint64_t>(build_key.rows()), kSmallRange)) return nullptr;
  const int64_t words = 2 * (static_cast<int64_t>(last) / kValuesPerWord + 1);
  const int64_t bytes_of_rows = matches == KeyMatches::All ? build_key.rows() * JoinTable::kBytesPerRow : 0;
  Reservation memory = account.reserve_now(words * 8 + bytes_of_rows, ReservationKind::Held);
  return std::unique_ptr<RankTable>(
      new RankTable(build_key, matches, least, at::zeros({words}, build_key.values().options().dtype(at::kLong)), std::move(memory)));
}

RankTable::RankTable(Column build_key, KeyMatches matches, int64_t least, at::Tensor ranks, Reservation memory)
    : build_key_(std::move(build_key)), matches_(matches), least_(least), memory_(std::move(memory)), ranks_(std::move(ranks)) {}

void RankTable::build(const CancelToken& token) {
  const int64_t rows = build_key_->rows();
  add(0, rows);
  if (close() || matches_ == KeyMatches::Any) {
    take_order(matches_ == KeyMatches::Any || place(0, rows));
  } else {
    take_table(build_join_table(rank_hashes(), rows, build_key_->validity(), token));
  }
}

Task<void> RankTable::build_on_lanes(RunContext& context, OperatorMetrics& metrics) {
  const TaskContext& task = co_await current_context();
  const int64_t rows = build_key_->rows();
  if (!context.needs_all_lanes(rows)) {
    WorkTimer timer(metrics);
    build(task.token);
    co_return;
  }
  const LaneRanges ranges(context, rows);
  auto add_range = [&](int, int64_t range) -> Task<void> {
    WorkTimer timer(metrics);
    add(ranges.begin(range), ranges.rows(range));
    co_return;
  };
  Task<void> adding = for_each_lane(context, ranges.count(), add_range);
  co_await adding;
  const bool is_unique = close();
  if (matches_ == KeyMatches::Any) {
    take_order(true);
    co_return;
  }
  if (!is_unique) {
    const RowHashes hashes = rank_hashes();
    Task<JoinTable> building = build_join_table_on_lanes(context, hashes, rows, build_key_->validity(), metrics);
    take_table(co_await building);
    co_return;
  }
  std::atomic<bool> is_in_order = true;
  auto place_range = [&](int, int64_t range) -> Task<void> {
    WorkTimer timer(metrics);
    if (!place(ranges.begin(range), ranges.rows(range))) is_in_order = false;
    co_return;
  };
  Task<void> placing = for_each_lane(context, ranges.count(), place_range);
  co_await placing;
  take_order(is_in_order);
}

void RankTable::add(int64_t begin, int64_t rows) {
  const Column key = build_key_->slice(begin, rows);
  kernels::add_key_ranks(ranks_, key.values(), key.validity(), least_);
}

bool RankTable::close() {
  keys_ = kernels::close_key_ranks(ranks_);
  const int64_t valid = build_key_->has_validity() ? kernels::count_true(build_key_->validity()) : build_key_->rows();
  if (matches_ == KeyMatches::All && keys_ == valid) order_ = at::empty({keys_}, ranks_.options().dtype(at::kInt));
  return keys_ == valid;
}

bool RankTable::place(int64_t begin, int64_t rows) {
  const Column key = build_key_->slice(begin, rows);
  return kernels::place_by_rank(order_, ranks_, key.values(), key.validity(), least_, begin);
}

void RankTable::take_order(bool is_in_order) {
  if (is_in_order) order_.reset();
  release_unused();
}

// The table's buckets are ranges of hashes: with the rank in the top bits, a bucket has the rows of one rank.
RowHashes RankTable::rank_hashes() const {
  const int64_t shift = 64 - kernels::join_bucket_bits(build_key_->rows());
  ENSURE(shift < 64, "{} rows cannot have equal keys", build_key_->rows());
  return [this, shift](int64_t begin, int64_t rows) {
    const Column key = build_key_->slice(begin, rows);
    return kernels::find_key_ranks(ranks_, key.values(), key.validity(), least_).bitwise_left_shift_(shift);
  };
}

void RankTable::take_table(JoinTable table) {
  offsets_ = std::move(table.offsets);
  order_ = table.order.to(at::kInt);
  release_unused();
}

void RankTable::release_unused() {
  int64_t bytes = 0;
  for (const at::Tensor* tensor : {&ranks_, &offsets_, &order_}) bytes += tensor->defined() ? static_cast<int64_t>(tensor->nbytes()) : 0;
  memory_.shrink_to(std::min(bytes, memory_.bytes()));
  if (matches_ == KeyMatches::All) build_key_.reset();
}

std::unique_ptr<JoinCandidates::Search> RankTable::search(const Column& left_key) const {
  return std::make_unique<RankSearch>(*this, decode_dictionary(left_key));
}

at::Tensor RankTable::rows_with_candidates(const Column& left_key) const {
  const Column key = decode_dictionary(left_key);
  return kernels::has_key_ranks(ranks_, key.values(), key.validity(), least_);
}

at::Tensor RankTable::groups() const {
  at::Tensor groups = kernels::find_key_ranks(ranks_, build_key_->values(), build_key_->validity(), least_);
  return build_key_->has_validity() ? groups.masked_fill_(groups.lt(0), keys_) : groups;
}

}  // namespace pistachio
