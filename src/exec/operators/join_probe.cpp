#include "exec/operators/join_probe.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "base/scheduler.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "exec/core/fault_hook.h"
#include "exec/core/memory_relief.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

void keep(RowPairs& pairs, const at::Tensor& mask) {
  if (kernels::count_true(mask) == mask.numel()) return;
  pairs.left = kernels::compress(pairs.left, mask);
  pairs.right = kernels::compress(pairs.right, mask);
  pairs.has_each_left_row = false;
}

// Pairs are ordered by left row: a second match is next to the first, or the row matched in an earlier batch.
void refuse_second_match(const RowPairs& pairs, const at::Tensor& matched) {
  const int64_t count = pairs.left.numel();
  bool again = count > 1 && pairs.left.slice(0, 1).eq(pairs.left.slice(0, 0, count - 1)).any().item<bool>();
  again = again || matched.index_select(0, pairs.left).any().item<bool>();
  if (again) throw UserError("a scalar subquery returned more than one row");
}

}  // namespace

std::optional<JoinProbe::PairCondition> JoinProbe::make_condition(const JoinShape& shape, const std::vector<ExpressionPtr>& conditions) {
  if (conditions.empty()) return std::nullopt;
  ExpressionPtr condition = conjunction_of(conditions);
  ColumnSet used = columns_of(*condition);
  std::vector<ColumnId> layout;
  auto choose = [&](const std::vector<ColumnId>& side) {
    std::vector<size_t> places;
    for (size_t i = 0; i < side.size(); ++i) {
      if (!used.contains(side[i])) continue;
      places.push_back(i);
      layout.push_back(side[i]);
    }
    return places;
  };
  std::vector<size_t> left_places = choose(shape.left_layout);
  std::vector<size_t> right_places = choose(shape.right_layout);
  return PairCondition{left_places, right_places, ExpressionEvaluator({condition}, layout)};
}

JoinProbe::JoinProbe(const JoinShape& shape, BuildSide& build, const RunContext& context, OperatorMetrics& metrics, ChunkSink& next)
    : shape_(shape),
      build_(build),
      metrics_(metrics),
      context_(context),
      next_(next),
      most_pairs_(std::max<int64_t>(1, context.chunk_rows())),
      flags_(context.tensors_of(at::kBool)),
      needs_no_pairs_(shape.plan.conditions.empty() && (shape.plan.kind == JoinKind::Semi || shape.plan.kind == JoinKind::Anti)),
      conditions_(make_condition(shape, shape.plan.conditions)),
      comparisons_(make_condition(shape, shape.plan.comparisons)) {}

JoinProbe::LeftState JoinProbe::no_matches(int64_t rows) const {
  return {shape_.asks_for_left_matches() ? at::zeros({rows}, flags_) : at::Tensor(),
          shape_.plan.kind == JoinKind::Mark ? at::zeros({rows}, flags_) : at::Tensor()};
}

Task<void> JoinProbe::consume(int lane, Chunk chunk) {
  reach(context_, FaultPoint::ProbeChunk);
  const TaskContext& task = co_await current_context();
  struct Started {
    Chunk rows;
    LeftState state;
    std::unique_ptr<JoinCandidates::Search> search;
  };
  auto begin = [&](int64_t first, int64_t count) {
    Chunk rows = count == chunk.rows() ? chunk : chunk.slice(first, count);
    LeftState state = no_matches(count);
    std::unique_ptr<JoinCandidates::Search> search = start(rows, state, task.token);
    return Started{std::move(rows), std::move(state), std::move(search)};
  };
  FittingRanges ranges(chunk.rows());
  while (!ranges.is_done() && !is_full()) {
    Task<Started> starting = make_next(context_, ranges, begin);
    Started started = co_await starting;
    if (started.search) {
      Task<void> matching = probe_matches(lane, started.rows, *started.search, started.state);
      co_await matching;
      if (is_full()) co_return;
    }
    Task<void> finishing = finish(lane, started.rows, started.state);
    co_await finishing;
  }
}

Task<void> JoinProbe::match(int lane, const Chunk& chunk, LeftState& state) {
  const TaskContext& task = co_await current_context();
  auto begin = [&] { return start(chunk, state, task.token); };
  Task<std::unique_ptr<JoinCandidates::Search>> starting = with_relief(context_, begin);
  const std::unique_ptr<JoinCandidates::Search> search = co_await starting;
  if (!search) co_return;
  Task<void> matching = probe_matches(lane, chunk, *search, state);
  co_await matching;
}

Task<void> JoinProbe::probe_matches(int lane, const Chunk& chunk, JoinCandidates::Search& search, LeftState& state) {
  while (!is_full()) {
    int64_t most = most_pairs_;
    auto find = [&] {
      WorkTimer timer(metrics_);
      return search.next(std::exchange(most, std::max<int64_t>(1, most / 2)));  // fewer if it is called again
    };
    Task<std::optional<RowPairs>> finding = with_relief(context_, find);
    const std::optional<RowPairs> found = co_await finding;
    if (!found) co_return;
    Task<void> using_found = process_pairs(lane, chunk, *found, state);
    co_await using_found;
    // A chunk may have any number of candidates: yield to other tasks and poll for cancellation.
    co_await reschedule();
  }
}

Task<void> JoinProbe::process_pairs(int lane, const Chunk& chunk, const RowPairs& found, LeftState& state) {
  const TaskContext& task = co_await current_context();
  struct Tested {
    Pairs pairs;
    Chunk rows;
  };
  auto test_some = [&](int64_t begin, int64_t count) {
    const bool are_all = count == found.left.numel();
    RowPairs some{found.left.narrow(0, begin, count), found.right.narrow(0, begin, count), found.is_unknown,
                  found.has_each_left_row && are_all};
    Tested tested{test(chunk, std::move(some), task.token), {}};
    if (shape_.gives_pairs() && tested.pairs.left.numel() > 0) tested.rows = pair_chunk(chunk, tested.pairs);
    return tested;
  };
  FittingRanges ranges(found.left.numel());
  while (!ranges.is_done() && !is_full()) {
    Task<Tested> testing = make_next(context_, ranges, test_some);
    Tested tested = co_await testing;
    auto note_pairs = [&] { return note(tested.pairs, state, lane); };
    Task<bool> noting = with_relief(context_, note_pairs);
    co_await noting;
    Task<void> passing = pass_on(metrics_, next_, lane, std::move(tested.rows));
    co_await passing;
  }
}

Task<void> JoinProbe::finish(int lane, const Chunk& chunk, const LeftState& state) {
  auto choose = [&] { return rows_by_match(chunk, state); };
  Task<Chunk> choosing = with_relief(context_, choose);
  Chunk rest = co_await choosing;
  Task<void> passing = pass_on(metrics_, next_, lane, std::move(rest));
  co_await passing;
}

std::unique_ptr<JoinCandidates::Search> JoinProbe::start(const Chunk& chunk, LeftState& state, const CancelToken& token) const {
  WorkTimer timer(metrics_);
  if (needs_no_pairs_) {
    if (const std::optional<at::Tensor> matched = build_.candidates().rows_with_candidates(chunk, token)) {
      state.matched.logical_or_(*matched);
      return nullptr;
    }
  }
  return build_.candidates().search(chunk, token);
}

JoinProbe::Pairs JoinProbe::test(const Chunk& chunk, RowPairs found, const CancelToken& token) const {
  WorkTimer timer(metrics_);
  Pairs pairs{std::move(found), {}};
  if (conditions_) keep(pairs, conditions_->evaluator.evaluate_condition(gather(chunk, pairs, conditions_->left, conditions_->right), token));
  if (comparisons_ && pairs.left.numel() > 0) compare(chunk, pairs, token);
  if (pairs.is_unknown) {
    pairs.unknown_left = pairs.left;
    pairs.left = pairs.left.slice(0, 0, 0);
    pairs.right = pairs.right.slice(0, 0, 0);
    pairs.has_each_left_row = false;
  }
  return pairs;
}

// Three-valued logic: keeps the pairs whose comparison is true and records the left rows of unknown ones.
void JoinProbe::compare(const Chunk& chunk, Pairs& pairs, const CancelToken& token) const {
  Chunk gathered = gather(chunk, pairs, comparisons_->left, comparisons_->right);
  Column outcome = decode_dictionary(comparisons_->evaluator.evaluate(gathered, token)[0]);
  at::Tensor is_true = outcome.values();
  if (outcome.has_validity()) {
    is_true = is_true.logical_and(outcome.validity());
    pairs.unknown_left = kernels::compress(pairs.left, outcome.validity().logical_not());
  }
  keep(pairs, is_true);
}

// Gathers the columns that an evaluator uses for the pairs; the other columns stay empty.
Chunk JoinProbe::gather(const Chunk& chunk, const Pairs& pairs, const std::vector<size_t>& left, const std::vector<size_t>& right) const {
  std::vector<Column> columns;
  columns.reserve(left.size() + right.size());
  for (size_t place : left) columns.push_back(pairs.has_each_left_row ? chunk.column(place) : take_rows(chunk.column(place), pairs.left));
  for (size_t place : right) columns.push_back(take_rows(build_.rows().column(place), pairs.right));
  return Chunk(std::move(columns), pairs.left.numel(), chunk.device());
}

Chunk JoinProbe::pair_chunk(const Chunk& chunk, const Pairs& pairs) const {
  WorkTimer timer(metrics_);
  return gather(chunk, pairs, shape_.left_places, shape_.right_places);
}

// Left rows output without a partner; the right side's columns are left empty.
std::vector<Column> JoinProbe::left_columns(const Chunk& chunk, const at::Tensor& mask) const {
  const int64_t selected = mask.defined() ? kernels::count_true(mask) : chunk.rows();
  std::vector<Column> columns;
  for (size_t place : shape_.left_places) columns.push_back(select_rows(chunk.column(place), mask, selected));
  return columns;
}

bool JoinProbe::note(const Pairs& pairs, LeftState& state, int lane) {
  WorkTimer timer(metrics_);
  if (pairs.unknown_left.defined()) state.unknown.index_fill_(0, pairs.unknown_left, true);
  if (pairs.left.numel() == 0) return true;
  if (build_.notes_matches()) build_.note_matches(lane, pairs.right);
  if (shape_.plan.kind == JoinKind::Single) refuse_second_match(pairs, state.matched);
  // The last step: a repeated call would take these matches for earlier ones.
  if (shape_.asks_for_left_matches()) state.matched.index_fill_(0, pairs.left, true);
  return true;
}

Chunk JoinProbe::rows_by_match(const Chunk& chunk, const LeftState& state) const {
  WorkTimer timer(metrics_);
  switch (shape_.plan.kind) {
    case JoinKind::Inner:
    case JoinKind::Right:
    case JoinKind::RightSemi:
    case JoinKind::RightAnti: return Chunk();
    case JoinKind::Semi: return Chunk(left_columns(chunk, state.matched), kernels::count_true(state.matched), chunk.device());
    case JoinKind::Anti: {
      at::Tensor alone = state.matched.logical_not();
      return Chunk(left_columns(chunk, alone), kernels::count_true(alone), chunk.device());
    }
    case JoinKind::Mark: {
      std::vector<Column> columns = left_columns(chunk, {});
      if (!shape_.gives_mark) return Chunk(std::move(columns), chunk.rows(), chunk.device());
      at::Tensor open = state.unknown.logical_and(state.matched.logical_not());
      bool has_nulls = kernels::count_true(open) > 0;
      columns.push_back(Column::fixed(TypeKind::Boolean, state.matched, has_nulls ? open.logical_not() : at::Tensor()));
      return Chunk(std::move(columns), chunk.rows(), chunk.device());
    }
    case JoinKind::Left:
    case JoinKind::Full:
    case JoinKind::Single: {
      at::Tensor alone = state.matched.logical_not();
      int64_t rows = kernels::count_true(alone);
      if (rows == 0) return Chunk();
      std::vector<Column> columns = left_columns(chunk, alone);
      for (size_t place : shape_.right_places) columns.push_back(null_column(shape_.right_types[place], rows, flags_.device()));
      return Chunk(std::move(columns), rows, chunk.device());
    }
  }
  fail_check(__FILE__, __LINE__, "unknown join kind");
}

}  // namespace pistachio
