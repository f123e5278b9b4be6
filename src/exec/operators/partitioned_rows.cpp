#include "exec/operators/partitioned_rows.h"

#include "base/task_context.h"
#include "columns/column_hash.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

std::vector<ExpressionPtr> keys_of(const PhysicalJoin& join, ExpressionPtr JoinKey::*side) {
  std::vector<ExpressionPtr> keys;
  for (const JoinKey& key : join.keys) keys.push_back(key.*side);
  return keys;
}

at::Tensor partition_hashes(const ExpressionEvaluator& keys, const Chunk& rows, const CancelToken& token) {
  const std::vector<Column> values = keys.evaluate(rows, token);
  return values.empty() ? at::zeros({rows.rows()}, at::TensorOptions(at::kLong).device(rows.device())) : hash_rows(values, token);
}

PartitionedRows::PartitionedRows(RunContext& context, const JoinShape& shape, Side side, OperatorMetrics& metrics)
    : SpillableRows(context, context.memory.make_child("join"), side == Side::Left ? shape.left_types : shape.right_types, metrics),
      shape_(shape),
      side_(side),
      keys_(keys_of(shape.plan, side == Side::Left ? &JoinKey::left : &JoinKey::right),
            side == Side::Left ? shape.left_layout : shape.right_layout) {}

SpilledPartitions& PartitionedRows::made_partitions() {
  if (!partitions_) partitions_ = std::make_unique<SpilledPartitions>(context_.spill.make_file(), shape_.plan.keys.empty() ? 0 : SpilledPartitions::kFirstBits, 0);
  return *partitions_;
}

const SpilledPartitions& PartitionedRows::partitions() {
  return made_partitions();
}

Task<int64_t> PartitionedRows::write(Chunk rows) {
  const TaskContext& task = co_await current_context();
  const SpilledPartitions::Hash hash = [&](const Chunk& part) { return partition_hashes(keys_, part, task.token); };
  Task<int64_t> writing = made_partitions().add(std::move(rows), hash);
  const int64_t written = co_await writing;
  co_return written;
}

}  // namespace pistachio
