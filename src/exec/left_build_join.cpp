#include "exec/left_build_join.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/check.h"
#include "columns/column_compare.h"
#include "columns/column_hash.h"
#include "columns/row_selection.h"
#include "data/concatenate_columns.h"
#include "exec/held_chunks.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/join_build.h"
#include "kernels/ops/join_probe.h"

namespace pistachio {

namespace {

std::vector<ExpressionPtr> key_side(const std::vector<JoinKey>& keys, bool is_left) {
  std::vector<ExpressionPtr> side;
  for (const JoinKey& key : keys) side.push_back(is_left ? key.left : key.right);
  return side;
}

// Rows whose keys can match at all: no NULL among those that are not null-safe. Undefined: all.
at::Tensor matchable(const std::vector<Column>& columns, const std::vector<JoinKey>& keys) {
  at::Tensor valid;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].null_safe) valid = both_valid(valid, columns[i].validity());
  }
  return valid;
}

// Whether equal hashes mean equal keys.
bool hashes_decide(const std::vector<Column>& columns, const std::vector<JoinKey>& keys) {
  return columns.size() == 1 && hash_is_exact(columns[0].type()) && !(keys[0].null_safe && columns[0].has_validity());
}

std::vector<size_t> places_of(const ColumnSet& wanted, const std::vector<ColumnId>& layout, std::vector<ColumnId>& chosen) {
  std::vector<size_t> places;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (!wanted.contains(layout[i])) continue;
    places.push_back(i);
    chosen.push_back(layout[i]);
  }
  return places;
}

}  // namespace

// The left input as one chunk, its keys, and the table from hashes to rows. Read-only once built, except that each lane notes its matches.
class LeftBuildJoinOperator::BuildSide {
 public:
  BuildSide(LeftBuildJoinOperator& owner, RunContext& context)
      : owner_(owner), lanes_(context.lanes), account_(context.memory.make_child("semi join")) {
    for (int lane = 0; lane < lanes_; ++lane) held_.emplace_back(account_);
  }

  Task<void> read(RunContext& context) {
    class Collect final : public ChunkSink {
     public:
      explicit Collect(BuildSide& side) : side_(side) {}
      Task<void> consume(int lane, Chunk chunk) override {
        side_.held_[static_cast<size_t>(lane)].add(chunk);
        co_return;
      }

     private:
      BuildSide& side_;
    } collect(*this);
    Task<void> producing = owner_.left_->produce(context, collect);
    co_await producing;
    finish();
  }

  const Chunk& rows() const { return rows_; }
  const std::vector<Column>& keys() const { return keys_; }
  bool is_exact() const { return exact_; }
  void note_matches(int lane, const at::Tensor& rows) { matched_[static_cast<size_t>(lane)].index_fill_(0, rows, true); }
  // int64: the rows that some lane matched, or that none did.
  at::Tensor rows_by_match(bool is_matched) const {
    at::Tensor any = matched_[0];
    for (size_t lane = 1; lane < matched_.size(); ++lane) any = any.logical_or(matched_[lane]);
    return (is_matched ? any : any.logical_not()).nonzero().view({-1});
  }
  std::tuple<at::Tensor, at::Tensor, int64_t> probe(const at::Tensor& hashes, const at::Tensor& valid, int64_t begin, int64_t most) const {
    return kernels::join_probe(offsets_, order_, hashes_, hashes, valid, begin, most);
  }

 private:
  void finish() {
    WorkTimer timer(owner_.metrics_);
    std::vector<Chunk> chunks;
    int64_t bytes = 0;
    for (HeldChunks& held : held_) {
      bytes += held.bytes();
      chunks.insert(chunks.end(), held.chunks().begin(), held.chunks().end());
    }
    owner_.metrics_.bytes = bytes;
    if (chunks.empty()) return;
    // While the pieces are joined, both forms are there.
    memory_.push_back(account_.reserve_now(bytes, ReservationKind::Held));
    rows_ = concatenate_chunks(chunks, owner_.left_types_);
    chunks.clear();
    held_.clear();
    int64_t rows = rows_.rows();
    memory_.push_back(account_.reserve_now(rows * (40 + lanes_), ReservationKind::Held));  // hashes, order, buckets, matches
    keys_ = ExpressionEvaluator(key_side(owner_.plan_.keys, true), owner_.left_->layout()).evaluate(rows_);
    exact_ = hashes_decide(keys_, owner_.plan_.keys);
    at::Tensor hashes = hash_rows(keys_);
    for (int lane = 0; lane < lanes_; ++lane) matched_.push_back(at::zeros({rows}, hashes.options().dtype(at::kBool)));
    std::tie(offsets_, order_, hashes_) = kernels::join_build(hashes, matchable(keys_, owner_.plan_.keys));
    if (!exact_) std::transform(keys_.begin(), keys_.end(), keys_.begin(), [](const Column& key) { return decode_dictionary(key); });
  }

  LeftBuildJoinOperator& owner_;
  int lanes_;
  MemoryAccount account_;
  std::vector<HeldChunks> held_;
  std::vector<Reservation> memory_;
  Chunk rows_;
  std::vector<Column> keys_;
  bool exact_ = false;
  at::Tensor offsets_;
  at::Tensor order_;
  at::Tensor hashes_;
  std::vector<at::Tensor> matched_;  // for each lane
};

// Streams the right input through the table; passes nothing on.
class LeftBuildJoinOperator::Probe final : public ChunkSink {
 public:
  Probe(LeftBuildJoinOperator& owner, BuildSide& build, RunContext& context, ChunkSink& next)
      : owner_(owner),
        build_(build),
        next_(next),
        most_pairs_(std::max<int64_t>(1, context.settings().chunk_rows)),
        keys_(key_side(owner.plan_.keys, false), owner.right_->layout()) {
    if (owner.plan_.conditions.empty()) return;
    ExpressionPtr condition = conjunction_of(owner.plan_.conditions);
    ColumnSet used = columns_of(*condition);
    std::vector<ColumnId> layout;
    left_places_ = places_of(used, owner.left_->layout(), layout);
    right_places_ = places_of(used, owner.right_->layout(), layout);
    conditions_.emplace(std::vector<ExpressionPtr>{condition}, layout);
  }

  bool is_full() const override { return next_.is_full(); }

  Task<void> consume(int lane, Chunk chunk) override {
    WorkTimer timer(owner_.metrics_);
    std::vector<Column> keys = keys_.evaluate(chunk);
    at::Tensor hashes = hash_rows(keys);
    at::Tensor valid = matchable(keys, owner_.plan_.keys);
    bool exact = build_.is_exact() && hashes_decide(keys, owner_.plan_.keys);
    if (!exact) std::transform(keys.begin(), keys.end(), keys.begin(), [](const Column& key) { return decode_dictionary(key); });
    for (int64_t next = 0; next < chunk.rows();) {
      Pairs pairs;
      std::tie(pairs.right, pairs.left, next) = build_.probe(hashes, valid, next, most_pairs_);
      if (!exact) keep(pairs, verify(keys, pairs));
      if (conditions_ && pairs.left.numel() > 0) keep(pairs, conditions_->evaluate_condition(gather(chunk, pairs)));
      if (pairs.left.numel() > 0) build_.note_matches(lane, pairs.left);
    }
    co_return;
  }

 private:
  struct Pairs {
    at::Tensor left;   // rows of the build side
    at::Tensor right;  // rows of the chunk
  };

  static void keep(Pairs& pairs, const at::Tensor& mask) {
    if (kernels::count_true(mask) == mask.numel()) return;
    pairs.left = kernels::compress(pairs.left, mask);
    pairs.right = kernels::compress(pairs.right, mask);
  }

  at::Tensor verify(const std::vector<Column>& keys, const Pairs& pairs) const {
    at::Tensor equal = at::ones({pairs.left.numel()}, pairs.left.options().dtype(at::kBool));
    for (size_t i = 0; i < keys.size(); ++i) {
      Column left = take_rows(build_.keys()[i], pairs.left);
      Column right = take_rows(keys[i], pairs.right);
      equal.logical_and_(owner_.plan_.keys[i].null_safe ? same_rows(left, right) : compare_columns(left, Comparison::Equal, right));
    }
    return equal;
  }

  Chunk gather(const Chunk& chunk, const Pairs& pairs) const {
    std::vector<Column> columns;
    for (size_t place : left_places_) columns.push_back(take_rows(build_.rows().column(place), pairs.left));
    for (size_t place : right_places_) columns.push_back(take_rows(chunk.column(place), pairs.right));
    return Chunk(std::move(columns), pairs.left.numel());
  }

  LeftBuildJoinOperator& owner_;
  BuildSide& build_;
  ChunkSink& next_;
  int64_t most_pairs_;
  ExpressionEvaluator keys_;
  std::optional<ExpressionEvaluator> conditions_;
  std::vector<size_t> left_places_;
  std::vector<size_t> right_places_;
};

LeftBuildJoinOperator::LeftBuildJoinOperator(OperatorPtr left, OperatorPtr right, HashJoinPlan plan, std::vector<LogicalType> left_types)
    : Operator({}), left_(std::move(left)), right_(std::move(right)), plan_(std::move(plan)), left_types_(std::move(left_types)) {
  ENSURE((plan_.kind == JoinKind::Semi || plan_.kind == JoinKind::Anti) && !plan_.keys.empty());
  ColumnSet wanted(left_->layout().begin(), left_->layout().end());
  if (!plan_.output.empty()) wanted = {plan_.output.begin(), plan_.output.end()};
  places_ = places_of(wanted, left_->layout(), layout_);
}

Task<void> LeftBuildJoinOperator::produce(RunContext& context, ChunkSink& sink) {
  BuildSide build(*this, context);
  Task<void> reading = build.read(context);
  co_await reading;
  if (build.rows().rows() == 0) co_return;
  Probe probe(*this, build, context, sink);
  Task<void> probing = right_->produce(context, probe);
  co_await probing;
  at::Tensor rows = build.rows_by_match(plan_.kind == JoinKind::Semi);
  int64_t step = context.settings().chunk_rows;
  auto produce_one = [&](int lane, int64_t index) -> Task<void> {
    if (sink.is_full()) co_return;
    at::Tensor part = rows.slice(0, index * step, std::min((index + 1) * step, rows.numel()));
    std::vector<Column> columns;
    for (size_t place : places_) columns.push_back(take_rows(build.rows().column(place), part));
    Task<void> passing = pass_on(metrics_, sink, lane, Chunk(std::move(columns), part.numel()));
    co_await passing;
  };
  Task<void> all = for_each_lane(context, (rows.numel() + step - 1) / step, produce_one);
  co_await all;
}

}  // namespace pistachio
