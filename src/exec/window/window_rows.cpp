#include "exec/window/window_rows.h"

#include <ATen/core/Tensor.h>

#include "base/task_context.h"

namespace pistachio {

SpilledPartitions& WindowRows::made_partitions() {
  if (!partitions_) {
    const int64_t bits = plan_.partition.empty() ? 0 : SpilledPartitions::kFirstBits;
    partitions_ = std::make_unique<SpilledPartitions>(context_.spill.make_file(), bits, 0);
  }
  return *partitions_;
}

Task<int64_t> WindowRows::write(Chunk rows) {
  const TaskContext& task = co_await current_context();
  const SpilledPartitions::Hash hash = [&](const Chunk& part) { return plan_.partition_hashes(part, task.token); };
  Task<int64_t> writing = made_partitions().add(std::move(rows), hash);
  const int64_t written = co_await writing;
  co_return written;
}

}  // namespace pistachio
