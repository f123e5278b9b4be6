#include "exec/hash_join.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
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

// A condition on pairs, with the places of the columns it uses.
struct PairCondition {
  std::vector<size_t> left;
  std::vector<size_t> right;
  ExpressionEvaluator evaluator;
};

std::optional<PairCondition> make_pair_condition(const Operator& left, const Operator& right,
                                                 const std::vector<ExpressionPtr>& conditions) {
  if (conditions.empty()) return std::nullopt;
  ExpressionPtr condition = conjunction_of(conditions);
  ColumnSet used = columns_of(*condition);
  std::vector<ColumnId> layout;
  auto choose = [&](const Operator& side) {
    std::vector<size_t> places;
    for (size_t i = 0; i < side.layout().size(); ++i) {
      if (!used.contains(side.layout()[i])) continue;
      places.push_back(i);
      layout.push_back(side.layout()[i]);
    }
    return places;
  };
  std::vector<size_t> left_places = choose(left);
  std::vector<size_t> right_places = choose(right);
  return PairCondition{left_places, right_places, ExpressionEvaluator({condition}, layout)};
}

std::vector<ExpressionPtr> side_of(const std::vector<JoinKey>& keys, bool left) {
  std::vector<ExpressionPtr> side;
  for (const JoinKey& key : keys) side.push_back(left ? key.left : key.right);
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

// Whether equal hashes mean equal keys. NULLs that cannot match are left out of both sides and do not count.
bool hashes_decide(const std::vector<Column>& columns, const std::vector<JoinKey>& keys) {
  return columns.size() == 1 && hash_is_exact(columns[0].type()) && !(keys[0].null_safe && columns[0].has_validity());
}

Column decoded(const Column& column) {
  return decode_dictionary(column);
}

}  // namespace

// The right input as one chunk, its keys, and the table from hashes to rows. Read-only once built, except that each lane notes which rows
// it matched.
class HashJoinOperator::BuildSide {
 public:
  BuildSide(HashJoinOperator& owner, RunContext& context)
      : owner_(owner), lanes_(context.lanes), account_(context.memory.make_child("hash join")) {
    for (int lane = 0; lane < context.lanes; ++lane) held_.emplace_back(account_);
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
    Task<void> producing = owner_.right_->produce(context, collect);
    co_await producing;
    finish();
  }

  const Chunk& rows() const { return rows_; }
  const std::vector<Column>& keys() const { return keys_; }
  bool is_exact() const { return exact_; }
  bool notes_matches() const { return !matched_.empty(); }
  void note_matches(int lane, const at::Tensor& rows) { matched_[static_cast<size_t>(lane)].index_fill_(0, rows, true); }
  // Rows that no lane matched.
  at::Tensor unmatched() const {
    at::Tensor any = matched_[0];
    for (size_t lane = 1; lane < matched_.size(); ++lane) any = any.logical_or(matched_[lane]);
    return any.logical_not().nonzero().view({-1});
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
    // While the pieces are joined, both forms are there.
    Reservation joined = account_.reserve_now(bytes, ReservationKind::Held);
    rows_ = concatenate_chunks(chunks, owner_.right_types_);
    chunks.clear();
    held_.clear();
    memory_.push_back(std::move(joined));
    owner_.metrics_.bytes = bytes;
    int64_t rows = rows_.rows();
    JoinKind kind = owner_.plan_.kind;
    if (kind == JoinKind::Right || kind == JoinKind::Full) {
      memory_.push_back(account_.reserve_now(rows * lanes_, ReservationKind::Held));
      for (int lane = 0; lane < lanes_; ++lane) matched_.push_back(at::zeros({rows}, at::kBool));
    }
    if (owner_.plan_.keys.empty()) return;
    memory_.push_back(account_.reserve_now(rows * 40, ReservationKind::Held));  // hashes, order, buckets
    keys_ = ExpressionEvaluator(side_of(owner_.plan_.keys, false), owner_.right_->layout()).evaluate(rows_);
    exact_ = hashes_decide(keys_, owner_.plan_.keys);
    std::tie(offsets_, order_, hashes_) = kernels::join_build(hash_rows(keys_), matchable(keys_, owner_.plan_.keys));
    if (!exact_) std::transform(keys_.begin(), keys_.end(), keys_.begin(), decoded);
  }

  HashJoinOperator& owner_;
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

// Streams the left input through the table.
class HashJoinOperator::Probe final : public ChunkSink {
 public:
  Probe(HashJoinOperator& owner, BuildSide& build, RunContext& context, ChunkSink& next)
      : owner_(owner),
        plan_(owner.plan_),
        build_(build),
        next_(next),
        most_pairs_(std::max<int64_t>(1, context.settings().chunk_rows)),
        keys_(side_of(plan_.keys, true), owner.left_->layout()),
        conditions_(make_pair_condition(*owner.left_, *owner.right_, plan_.conditions)),
        comparisons_(make_pair_condition(*owner.left_, *owner.right_, plan_.comparisons)) {}

  bool is_full() const override { return next_.is_full(); }

  Task<void> consume(int lane, Chunk chunk) override {
    bool gives_pairs = plan_.kind == JoinKind::Inner || plan_.kind == JoinKind::Left || plan_.kind == JoinKind::Right ||
                       plan_.kind == JoinKind::Full || plan_.kind == JoinKind::Single;
    State state(chunk.rows());
    Candidates candidates = start(chunk);
    while (true) {
      std::optional<Pairs> pairs = next_pairs(chunk, candidates);
      if (!pairs) break;
      note(*pairs, state, lane);
      bool emits = gives_pairs && pairs->left.numel() > 0;
      if (emits) {
        Task<void> passing = pass_on(owner_.metrics_, next_, lane, pair_chunk(chunk, *pairs));
        co_await passing;
      }
      if (is_full()) co_return;
    }
    Chunk rest = finish(chunk, state);
    Task<void> passing = pass_on(owner_.metrics_, next_, lane, std::move(rest));
    co_await passing;
  }

 private:
  struct Candidates {
    at::Tensor hashes;
    at::Tensor valid;
    std::vector<Column> keys;
    bool exact = false;
    int64_t next = 0;  // with keys: the next row; without: the next pair of the cross product
  };

  struct Pairs {
    at::Tensor left;   // rows of the chunk
    at::Tensor right;  // rows of the build side
    // Mark: pairs whose comparison is unknown.
    at::Tensor unknown_left;
  };

  // What is known of the chunk's rows so far.
  struct State {
    explicit State(int64_t rows) : matched(at::zeros({rows}, at::kBool)), unknown(at::zeros({rows}, at::kBool)) {}
    at::Tensor matched;
    at::Tensor unknown;
  };

  Candidates start(const Chunk& chunk) {
    Candidates candidates;
    if (plan_.keys.empty()) return candidates;
    WorkTimer timer(owner_.metrics_);
    candidates.keys = keys_.evaluate(chunk);
    candidates.hashes = hash_rows(candidates.keys);
    candidates.valid = matchable(candidates.keys, plan_.keys);
    candidates.exact = build_.is_exact() && hashes_decide(candidates.keys, plan_.keys);
    if (!candidates.exact) std::transform(candidates.keys.begin(), candidates.keys.end(), candidates.keys.begin(), decoded);
    return candidates;
  }

  std::optional<Pairs> next_pairs(const Chunk& chunk, Candidates& candidates) {
    WorkTimer timer(owner_.metrics_);
    Pairs pairs;
    if (plan_.keys.empty()) {
      int64_t build_rows = build_.rows().rows();
      int64_t total = chunk.rows() * build_rows;
      if (candidates.next >= total) return std::nullopt;
      int64_t end = std::min(total, candidates.next + most_pairs_);
      at::Tensor numbers = at::arange(candidates.next, end, at::kLong);
      candidates.next = end;
      pairs.left = at::div(numbers, build_rows, "floor");
      pairs.right = numbers - pairs.left * build_rows;
    } else {
      if (candidates.next >= chunk.rows()) return std::nullopt;
      std::tie(pairs.left, pairs.right, candidates.next) = build_.probe(candidates.hashes, candidates.valid, candidates.next, most_pairs_);
      if (!candidates.exact) keep(pairs, verify(candidates, pairs));
    }
    if (pairs.left.numel() == 0) return pairs;
    if (!plan_.conditions.empty())
      keep(pairs, conditions_->evaluator.evaluate_condition(gather(chunk, pairs, conditions_->left, conditions_->right)));
    if (!plan_.comparisons.empty() && pairs.left.numel() > 0) compare(chunk, pairs);
    return pairs;
  }

  static void keep(Pairs& pairs, const at::Tensor& mask) {
    if (kernels::count_true(mask) == mask.numel()) return;
    pairs.left = kernels::compress(pairs.left, mask);
    pairs.right = kernels::compress(pairs.right, mask);
  }

  at::Tensor verify(const Candidates& candidates, const Pairs& pairs) {
    at::Tensor equal = at::ones({pairs.left.numel()}, at::kBool);
    for (size_t i = 0; i < plan_.keys.size(); ++i) {
      Column left = take_rows(candidates.keys[i], pairs.left);
      Column right = take_rows(build_.keys()[i], pairs.right);
      equal.logical_and_(plan_.keys[i].null_safe ? same_rows(left, right) : compare_columns(left, Comparison::Equal, right));
    }
    return equal;
  }

  // Three-valued: true pairs stay, unknown ones are noted.
  void compare(const Chunk& chunk, Pairs& pairs) {
    Column outcome = decode_dictionary(comparisons_->evaluator.evaluate(gather(chunk, pairs, comparisons_->left, comparisons_->right))[0]);
    at::Tensor is_true = outcome.values();
    if (outcome.has_validity()) {
      is_true = is_true.logical_and(outcome.validity());
      pairs.unknown_left = kernels::compress(pairs.left, outcome.validity().logical_not());
    }
    keep(pairs, is_true);
  }

  // The columns that an evaluator uses, gathered for the pairs; the others stay empty.
  Chunk gather(const Chunk& chunk, const Pairs& pairs, const std::vector<size_t>& left, const std::vector<size_t>& right) {
    std::vector<Column> columns;
    columns.reserve(left.size() + right.size());
    for (size_t place : left) columns.push_back(take_rows(chunk.column(place), pairs.left));
    for (size_t place : right) columns.push_back(take_rows(build_.rows().column(place), pairs.right));
    return Chunk(std::move(columns), pairs.left.numel());
  }

  Chunk pair_chunk(const Chunk& chunk, const Pairs& pairs) {
    WorkTimer timer(owner_.metrics_);
    return gather(chunk, pairs, owner_.left_places_, owner_.right_places_);
  }

  // Left rows that pass by themselves; the places of the right side are empty.
  std::vector<Column> left_columns(const Chunk& chunk, const at::Tensor& mask) {
    std::vector<Column> columns;
    for (size_t place : owner_.left_places_)
      columns.push_back(mask.defined() ? select_rows(chunk.column(place), mask) : chunk.column(place));
    return columns;
  }

  void note(const Pairs& pairs, State& state, int lane) {
    WorkTimer timer(owner_.metrics_);
    if (pairs.unknown_left.defined()) state.unknown.index_fill_(0, pairs.unknown_left, true);
    if (pairs.left.numel() == 0) return;
    if (plan_.kind == JoinKind::Single) refuse_second_match(pairs, state);
    if (plan_.kind != JoinKind::Inner && plan_.kind != JoinKind::Right) state.matched.index_fill_(0, pairs.left, true);
    if (build_.notes_matches()) build_.note_matches(lane, pairs.right);
  }

  // Pairs come by left row: a second match is a neighbour, or a row that matched before.
  static void refuse_second_match(const Pairs& pairs, const State& state) {
    int64_t count = pairs.left.numel();
    bool again = count > 1 && pairs.left.slice(0, 1).eq(pairs.left.slice(0, 0, count - 1)).any().item<bool>();
    again = again || state.matched.index_select(0, pairs.left).any().item<bool>();
    if (again) throw UserError("a subquery used as a value gave more than one row");
  }

  Chunk finish(const Chunk& chunk, const State& state) {
    WorkTimer timer(owner_.metrics_);
    switch (plan_.kind) {
      case JoinKind::Inner:
      case JoinKind::Right: return Chunk();
      case JoinKind::Semi: return Chunk(left_columns(chunk, state.matched), kernels::count_true(state.matched));
      case JoinKind::Anti: {
        at::Tensor alone = state.matched.logical_not();
        return Chunk(left_columns(chunk, alone), kernels::count_true(alone));
      }
      case JoinKind::Mark: {
        std::vector<Column> columns = left_columns(chunk, {});
        if (!owner_.gives_mark_) return Chunk(std::move(columns), chunk.rows());
        at::Tensor open = state.unknown.logical_and(state.matched.logical_not());
        bool has_nulls = kernels::count_true(open) > 0;
        columns.push_back(Column::fixed(TypeKind::Boolean, state.matched, has_nulls ? open.logical_not() : at::Tensor()));
        return Chunk(std::move(columns), chunk.rows());
      }
      case JoinKind::Left:
      case JoinKind::Full:
      case JoinKind::Single: {
        at::Tensor alone = state.matched.logical_not();
        int64_t rows = kernels::count_true(alone);
        if (rows == 0) return Chunk();
        std::vector<Column> columns = left_columns(chunk, alone);
        for (size_t place : owner_.right_places_) columns.push_back(null_column(owner_.right_types_[place], rows));
        return Chunk(std::move(columns), rows);
      }
    }
    fail_check(__FILE__, __LINE__, "unknown join kind");
  }

  HashJoinOperator& owner_;
  const HashJoinPlan& plan_;
  BuildSide& build_;
  ChunkSink& next_;
  int64_t most_pairs_;
  ExpressionEvaluator keys_;
  std::optional<PairCondition> conditions_;
  std::optional<PairCondition> comparisons_;
};

HashJoinOperator::HashJoinOperator(OperatorPtr left, OperatorPtr right, HashJoinPlan plan, std::vector<LogicalType> left_types,
                                   std::vector<LogicalType> right_types)
    : Operator({}),
      left_(std::move(left)),
      right_(std::move(right)),
      plan_(std::move(plan)),
      left_types_(std::move(left_types)),
      right_types_(std::move(right_types)) {
  auto goes_on = [&](ColumnId id) {
    return plan_.output.empty() || std::find(plan_.output.begin(), plan_.output.end(), id) != plan_.output.end();
  };
  auto choose = [&](const Operator& side, std::vector<size_t>& places) {
    for (size_t i = 0; i < side.layout().size(); ++i) {
      if (!goes_on(side.layout()[i])) continue;
      places.push_back(i);
      layout_.push_back(side.layout()[i]);
    }
  };
  choose(*left_, left_places_);
  bool left_only = plan_.kind == JoinKind::Semi || plan_.kind == JoinKind::Anti || plan_.kind == JoinKind::Mark;
  if (!left_only) choose(*right_, right_places_);
  gives_mark_ = plan_.kind == JoinKind::Mark && goes_on(plan_.mark);
  if (gives_mark_) layout_.push_back(plan_.mark);
}

Task<void> HashJoinOperator::produce(RunContext& context, ChunkSink& sink) {
  BuildSide build(*this, context);
  Task<void> reading = build.read(context);
  co_await reading;
  bool needs_right = plan_.kind == JoinKind::Inner || plan_.kind == JoinKind::Semi || plan_.kind == JoinKind::Right;
  bool is_empty = build.rows().rows() == 0;
  if (!(needs_right && is_empty)) {
    Probe probe(*this, build, context, sink);
    Task<void> probing = left_->produce(context, probe);
    co_await probing;
  }
  if (!build.notes_matches() || is_empty) co_return;
  at::Tensor alone = build.unmatched();
  int64_t step = context.settings().chunk_rows;
  for (int64_t begin = 0; begin < alone.numel() && !sink.is_full(); begin += step) {
    at::Tensor rows = alone.slice(0, begin, std::min(begin + step, alone.numel()));
    std::vector<Column> columns;
    for (size_t place : left_places_) columns.push_back(null_column(left_types_[place], rows.numel()));
    for (size_t place : right_places_) columns.push_back(take_rows(build.rows().column(place), rows));
    Task<void> passing = pass_on(metrics_, sink, 0, Chunk(std::move(columns), rows.numel()));
    co_await passing;
  }
}

}  // namespace pistachio
