#include "exec/operators/build_side.h"

#include <algorithm>

#include "columns/row_selection.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

void BuildSide::take(RunContext& context, Chunk rows, std::vector<Reservation> memory) {
  rows_ = std::move(rows);
  memory_ = std::move(memory);
  if (shape_.asks_for_matched_build_rows()) {
    memory_.push_back(account_.reserve_now(rows_.rows() * context.lanes, ReservationKind::Held));
    for (int lane = 0; lane < context.lanes; ++lane) matched_.push_back(at::zeros({rows_.rows()}, context.tensors_of(at::kBool)));
  }
}

void BuildSide::build(RunContext& context, Chunk rows, std::vector<Reservation> memory, const CancelToken& token) {
  take(context, std::move(rows), std::move(memory));
  candidates_ = make_join_candidates(shape_.plan, shape_.left_layout, shape_.right_layout, rows_, account_, context.device, token);
}

Task<void> BuildSide::build_on_lanes(RunContext& context, Chunk rows, std::vector<Reservation> memory, OperatorMetrics& metrics) {
  take(context, std::move(rows), std::move(memory));
  Task<std::unique_ptr<JoinCandidates>> making =
      make_join_candidates_on_lanes(context, shape_.plan, shape_.left_layout, shape_.right_layout, rows_, account_, metrics);
  candidates_ = co_await making;
}

at::Tensor BuildSide::rows_by_match(bool wanted) const {
  at::Tensor any = matched_[0];
  for (size_t lane = 1; lane < matched_.size(); ++lane) any = any.logical_or(matched_[lane]);
  if (at::Tensor groups = candidates_->groups(); groups.defined()) any = any.index_select(0, groups);
  return (wanted ? any : any.logical_not()).nonzero().view({-1});
}

Task<void> BuildSide::produce_rows_by_match(RunContext& context, OperatorMetrics& metrics, ChunkSink& sink) const {
  if (!notes_matches() || rows_.rows() == 0) co_return;
  const at::Tensor rows = rows_by_match(shape_.plan.kind == JoinKind::RightSemi);
  const int64_t step = context.chunk_rows();
  for (int64_t begin = 0; begin < rows.numel() && !sink.is_full(); begin += step) {
    const at::Tensor part = rows.slice(0, begin, std::min(begin + step, rows.numel()));
    std::vector<Column> columns;
    for (size_t place : shape_.left_places) columns.push_back(null_column(shape_.left_types[place], part.numel(), context.device));
    for (size_t place : shape_.right_places) columns.push_back(take_rows(rows_.column(place), part));
    Task<void> passing = pass_on(metrics, sink, 0, Chunk(std::move(columns), part.numel(), context.device));
    co_await passing;
  }
}

}  // namespace pistachio
