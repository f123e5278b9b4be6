#include "exec/operators/join_candidates.h"

#include <algorithm>

#include "columns/order_words.h"
#include "columns/row_selection.h"
#include "exec/core/stoppable_call.h"
#include "exec/operators/key_groups.h"
#include "exec/operators/key_table.h"
#include "exec/operators/mark_candidates.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/sort_order.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

template <typename Condition>
std::vector<ExpressionPtr> side_of(const std::vector<Condition>& conditions, ExpressionPtr Condition::*side) {
  std::vector<ExpressionPtr> expressions;
  for (const Condition& condition : conditions) expressions.push_back(condition.*side);
  return expressions;
}

// From this mean number of candidates per row on, a join that asks only whether a match exists treats build rows with equal keys as one: if
// both sides share a frequent key, there would be too many pairs to enumerate.
constexpr double kManyCandidates = 8;

bool asks_for_any_match(const PhysicalJoin& join) {
  bool is_question = join.kind == JoinKind::Semi || join.kind == JoinKind::Anti || join.kind == JoinKind::RightSemi ||
                     join.kind == JoinKind::RightAnti;
  return is_question && join.conditions.empty();
}

class HashCandidates final : public JoinCandidates {
 public:
  // One of the build functions must follow.
  HashCandidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout, const std::vector<ColumnId>& right_layout,
                 const Chunk& build, const MemoryAccount& account, at::Device device, const CancelToken& token)
      : join_(join),
        account_(account),
        device_(device),
        left_(side_of(join.keys, &JoinKey::left), left_layout),
        build_keys_(ExpressionEvaluator(side_of(join.keys, &JoinKey::right), right_layout).evaluate(build, token)) {
    table_.emplace(join.keys, build_keys_, account, asks_for_any_match(join) ? KeyMatches::Any : KeyMatches::All);
  }

  void build(const CancelToken& token) {
    table_->build(token);
    if (must_group()) group(token).build(token);
    build_keys_.clear();
  }

  Task<void> build_on_lanes(RunContext& context, OperatorMetrics& metrics) {
    const TaskContext& task = co_await current_context();
    Task<void> building = table_->build_on_lanes(context, metrics);
    co_await building;
    if (must_group()) {
      Task<void> again = group(task.token).build_on_lanes(context, metrics);
      co_await again;
    }
    build_keys_.clear();
  }

  std::unique_ptr<Search> search(const Chunk& left, const CancelToken& token) const override {
    return table_->search(left_.evaluate(left, token));
  }
  std::optional<at::Tensor> rows_with_candidates(const Chunk& left, const CancelToken& token) const override {
    if (table_->ranks() == nullptr || !asks_for_any_match(join_)) return std::nullopt;
    return table_->ranks()->rows_with_candidates(left_.evaluate(left, token)[0]);
  }
  at::Tensor groups() const override {
    return table_->ranks() != nullptr && asks_for_any_match(join_) ? table_->ranks()->groups() : groups_;
  }

 private:
  bool must_group() const {
    return asks_for_any_match(join_) && table_->ranks() == nullptr && table_->mean_candidates() >= kManyCandidates;
  }

  // Groups the rows by their keys. Returns the table of the groups, to be built.
  KeyTable& group(const CancelToken& token) {
    const int64_t rows = build_keys_[0].rows();
    KeyGroups groups = group_rows(build_keys_, rows, device_, account_, token);
    memory_ = account_.reserve_now(rows * 8, ReservationKind::Held);
    groups_ = std::move(groups.group_of);
    for (Column& key : build_keys_) key = take_rows(key, groups.row_of);
    return table_.emplace(join_.keys, build_keys_, account_);
  }

  const PhysicalJoin& join_;
  const MemoryAccount account_;
  const at::Device device_;
  ExpressionEvaluator left_;
  std::vector<Column> build_keys_;  // until the table is built
  std::optional<KeyTable> table_;
  Reservation memory_;
  at::Tensor groups_;  // by hash: group of each build row; undefined: rows are not grouped
};

// Pairs each left row with the build rows at positions [begin, begin + count) of an order.
class SpanSearch final : public JoinCandidates::Search {
 public:
  // `order` undefined: the build rows in their own order.
  SpanSearch(at::Tensor begins, at::Tensor counts, at::Tensor order)
      : begins_(std::move(begins)), order_(std::move(order)), ends_(counts.cumsum(0)), skipped_(ends_ - counts) {
    total_ = ends_.numel() == 0 ? 0 : ends_[-1].item<int64_t>();
  }

  std::optional<RowPairs> next(int64_t most) override {
    if (next_ >= total_) return std::nullopt;
    int64_t end = total_ - next_ > most ? next_ + most : total_;
    at::Tensor numbers = at::arange(next_, end, ends_.options());
    at::Tensor left = at::searchsorted(ends_, numbers, false, true);
    at::Tensor place = numbers - skipped_.index_select(0, left) + begins_.index_select(0, left);
    if (order_.defined()) place = order_.index_select(0, place);
    next_ = end;
    return RowPairs{left, place};
  }

 private:
  at::Tensor begins_;
  at::Tensor order_;
  at::Tensor ends_;     // by left row: where its pairs end in the list of all pairs
  at::Tensor skipped_;  // by left row: number of pairs of the rows before it
  int64_t total_ = 0;
  int64_t next_ = 0;
};

// The build side is sorted by the value of the first bound. A second bound on another value is searched in the running maximum of that
// value: no row before the position found there can satisfy the bound. For ranges that hardly overlap (validity periods, price bands) few
// candidates remain.
class RangeCandidates final : public JoinCandidates {
 public:
  RangeCandidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout, const std::vector<ColumnId>& right_layout,
                  const Chunk& build, const MemoryAccount& account, const CancelToken& token)
      : bounds_(join.bounds),
        left_(side_of(join.bounds, &JoinBound::left), left_layout),
        memory_(account.reserve_now(build.rows() * 48, ReservationKind::Held)) {  // order, words, and what sorting them takes
    std::vector<Column> values = ExpressionEvaluator(side_of(join.bounds, &JoinBound::right), right_layout).evaluate(build, token);
    at::Tensor valid;
    for (const Column& value : values) valid = both_valid(valid, value.validity());
    std::vector<at::Tensor> words;
    for (const Column& value : values) words.push_back(order_words(value)[0]);
    if (valid.defined()) {
      for (at::Tensor& word : words) word = kernels::compress(word, valid);
    }
    order_ = call_stoppable(token, [&](const at::Tensor& stop) { return kernels::sort_order({words[0]}, stop); });
    for (at::Tensor& word : words) word = word.index_select(0, order_);
    ordered_ = words[0];
    if (words.size() > 1) greatest_ = std::get<0>(words[1].cummax(0));
    if (valid.defined()) order_ = valid.nonzero().view({-1}).index_select(0, order_);
  }

  std::unique_ptr<Search> search(const Chunk& left, const CancelToken& token) const override {
    std::vector<Column> values = left_.evaluate(left, token);
    at::Tensor begins = at::zeros({left.rows()}, order_.options());
    at::Tensor ends = at::full({left.rows()}, ordered_.numel(), order_.options());
    at::Tensor valid;
    for (size_t i = 0; i < bounds_.size(); ++i) {
      at::Tensor words = order_words(values[i])[0].contiguous();
      valid = both_valid(valid, values[i].validity());
      if (bounds_[i].is_upper) {
        ends = at::searchsorted(ordered_, words, false, bounds_[i].is_inclusive);
      } else {
        begins = at::searchsorted(i == 0 ? ordered_ : greatest_, words, false, !bounds_[i].is_inclusive);
      }
    }
    at::Tensor counts = (ends - begins).clamp_min(0);
    if (valid.defined()) counts = counts.masked_fill(valid.logical_not(), 0);
    return std::make_unique<SpanSearch>(begins, counts, order_);
  }

 private:
  const std::vector<JoinBound>& bounds_;
  ExpressionEvaluator left_;
  Reservation memory_;
  at::Tensor order_;     // build rows, by the value of the first bound
  at::Tensor ordered_;   // the words of that value
  at::Tensor greatest_;  // running maximum of the words of the second bound's value
};

class AllCandidates final : public JoinCandidates {
 public:
  AllCandidates(int64_t rows, at::Device device) : rows_(rows), device_(device) {}

  std::unique_ptr<Search> search(const Chunk& left, const CancelToken&) const override { return search_all(left.rows(), rows_, device_); }

 private:
  int64_t rows_;
  at::Device device_;
};

}  // namespace

std::unique_ptr<JoinCandidates::Search> search_all(int64_t left_rows, int64_t build_rows, at::Device device) {
  at::TensorOptions options = at::TensorOptions(at::kLong).device(device);
  return std::make_unique<SpanSearch>(at::zeros({left_rows}, options), at::full({left_rows}, build_rows, options), at::Tensor());
}

std::unique_ptr<JoinCandidates> make_join_candidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout,
                                                     const std::vector<ColumnId>& right_layout, const Chunk& build,
                                                     const MemoryAccount& account, at::Device device, const CancelToken& token) {
  // With an empty build side nothing is compared, so compared values must not be evaluated: they could raise an error.
  if (!join.compared_keys.empty() && build.rows() > 0)
    return make_mark_candidates(join, left_layout, right_layout, build, account, device, token);
  if (!join.keys.empty()) {
    auto made = std::make_unique<HashCandidates>(join, left_layout, right_layout, build, account, device, token);
    made->build(token);
    return made;
  }
  if (!join.bounds.empty()) return std::make_unique<RangeCandidates>(join, left_layout, right_layout, build, account, token);
  return std::make_unique<AllCandidates>(build.rows(), device);
}

Task<std::unique_ptr<JoinCandidates>> make_join_candidates_on_lanes(RunContext& context, const PhysicalJoin& join,
                                                                    const std::vector<ColumnId>& left_layout,
                                                                    const std::vector<ColumnId>& right_layout, const Chunk& build,
                                                                    const MemoryAccount& account, OperatorMetrics& metrics) {
  const TaskContext& task = co_await current_context();
  if (join.keys.empty() || !join.compared_keys.empty()) {
    WorkTimer timer(metrics);
    co_return make_join_candidates(join, left_layout, right_layout, build, account, context.device, task.token);
  }
  auto made = std::make_unique<HashCandidates>(join, left_layout, right_layout, build, account, context.device, task.token);
  Task<void> building = made->build_on_lanes(context, metrics);
  co_await building;
  co_return made;
}

}  // namespace pistachio
