#include "exec/operators/build_side.h"

#include <algorithm>

#include "columns/row_selection.h"
#include "exec/core/memory_relief.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

bool BuildSide::make_matched(RunContext& context) {
  if (!shape_.asks_for_matched_build_rows()) return true;
  Reservation memory = account_.reserve_now(rows_.rows() * context.lanes, ReservationKind::Held);
  std::vector<at::Tensor> matched;
  for (int lane = 0; lane < context.lanes; ++lane) matched.push_back(at::zeros({rows_.rows()}, context.tensors_of(at::kBool)));
  matched_ = std::move(matched);
  memory_.push_back(std::move(memory));
  return true;
}

void BuildSide::build(RunContext& context, Chunk rows, std::vector<Reservation> memory, const CancelToken& token) {
  rows_ = std::move(rows);
  memory_ = std::move(memory);
  make_matched(context);
  candidates_ = make_join_candidates(shape_.plan, shape_.left_layout, shape_.right_layout, rows_, account_, context.device, token);
}

Task<void> BuildSide::build_on_lanes(RunContext& context, Chunk rows, std::vector<Reservation> memory, OperatorMetrics& metrics) {
  const TaskContext& task = co_await current_context();
  rows_ = std::move(rows);
  memory_ = std::move(memory);
  auto prepare = [&] { return make_matched(context); };
  Task<bool> preparing = with_relief(context, prepare);
  co_await preparing;
  if (context.needs_all_lanes(rows_.rows())) {
    Task<std::unique_ptr<JoinCandidates>> making =
        make_join_candidates_on_lanes(context, shape_.plan, shape_.left_layout, shape_.right_layout, rows_, account_, metrics);
    candidates_ = co_await making;
    co_return;
  }
  auto make = [&] {
    WorkTimer timer(metrics);
    return make_join_candidates(shape_.plan, shape_.left_layout, shape_.right_layout, rows_, account_, context.device, task.token);
  };
  Task<std::unique_ptr<JoinCandidates>> making = with_relief(context, make);
  candidates_ = co_await making;
}

SpillableRows::Rows BuildSide::give_back() {
  candidates_.reset();
  matched_.clear();
  return {std::exchange(rows_, {}), std::exchange(memory_, {})};
}

at::Tensor BuildSide::rows_by_match(bool wanted) const {
  at::Tensor any = matched_[0];
  for (size_t lane = 1; lane < matched_.size(); ++lane) any = any.logical_or(matched_[lane]);
  if (at::Tensor groups = candidates_->groups(); groups.defined()) any = any.index_select(0, groups);
  return (wanted ? any : any.logical_not()).nonzero().view({-1});
}

Task<void> BuildSide::produce_rows_by_match(RunContext& context, OperatorMetrics& metrics, ChunkSink& sink) const {
  if (!notes_matches() || rows_.rows() == 0) co_return;
  auto choose = [&] {
    WorkTimer timer(metrics);
    return rows_by_match(shape_.plan.kind == JoinKind::RightSemi);
  };
  Task<at::Tensor> choosing = with_relief(context, choose);
  const at::Tensor rows = co_await choosing;
  auto make = [&](int64_t begin, int64_t count) {
    const at::Tensor part = rows.narrow(0, begin, count);
    std::vector<Column> columns;
    for (size_t place : shape_.left_places) columns.push_back(null_column(shape_.left_types[place], count, context.device));
    for (size_t place : shape_.right_places) columns.push_back(take_rows(rows_.column(place), part));
    return Chunk(std::move(columns), count, context.device);
  };
  Task<void> passing = make_and_pass_on(context, metrics, sink, 0, rows.numel(), context.chunk_rows(), make);
  co_await passing;
}

}  // namespace pistachio
