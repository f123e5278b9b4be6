#include "exec/operators/filter_project.h"

#include <ATen/core/Tensor.h>

#include "base/task_context.h"
#include "columns/row_selection.h"
#include "exec/core/transform_sink.h"
#include "kernels/ops/compress.h"

namespace pistachio {

FilterOperator::FilterOperator(OperatorPtr input, std::vector<ExpressionPtr> conditions)
    : Operator(input->layout()), input_(std::move(input)), condition_({conjunction_of(std::move(conditions))}, input_->layout()) {}

Task<void> FilterOperator::produce(RunContext& context, ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  TransformSink filter(context, metrics_, sink, [this, &task](const Chunk& chunk) {
    at::Tensor mask = condition_.evaluate_condition(chunk, task.token);
    int64_t count = kernels::count_true(mask);
    return count == 0 ? Chunk() : select_rows(chunk, mask, count);
  });
  Task<void> producing = input_->produce(context, filter);
  co_await producing;
}

ProjectOperator::ProjectOperator(OperatorPtr input, std::vector<ColumnId> layout, const std::vector<ExpressionPtr>& columns)
    : Operator(std::move(layout)), input_(std::move(input)), columns_(columns, input_->layout()) {}

Task<void> ProjectOperator::produce(RunContext& context, ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  TransformSink project(context, metrics_, sink, [this, &task](const Chunk& chunk) {
    return Chunk(columns_.evaluate(chunk, task.token), chunk.rows(), chunk.device());
  });
  Task<void> producing = input_->produce(context, project);
  co_await producing;
}

}  // namespace pistachio
