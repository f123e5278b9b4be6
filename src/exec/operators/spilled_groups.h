// Groups with partial states of aggregate calls, on disk in partitions by the hash of their keys; a group may occur many times. Merged
// partition by partition, on all lanes; a partition whose groups do not fit into memory is split again. Any lane may add rows.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/core/operator.h"
#include "exec/operators/group_states.h"
#include "spill/query_spill.h"
#include "spill/spilled_partitions.h"

namespace pistachio {

class SpilledGroups {
 public:
  SpilledGroups(RunContext& context, MemoryAccount account, std::vector<LogicalType> key_types, std::vector<AggregateCall> calls,
                OperatorMetrics& metrics);

  // All groups, with the states of these calls (indexes).
  Task<void> add(const GroupStates& groups, std::vector<size_t> calls);
  // Rows of keys, followed by the states of these calls.
  Task<void> add(Chunk rows, std::vector<size_t> calls);
  bool has_rows() const { return !parts_.empty(); }

  // Emits every group once; the groups of one Emit call have distinct keys. Nothing may be added any more.
  using Emit = std::function<Task<void>(int lane, const GroupStates& groups)>;
  Task<void> merge(const Emit& emit);

 private:
  // Rows with the states of the same calls.
  struct Part {
    std::vector<size_t> calls;
    std::unique_ptr<SpilledPartitions> rows;
  };
  using Parts = std::vector<Part>;

  SpilledPartitions& part_of(Parts& parts, const std::vector<size_t>& calls, int64_t bits, int level);
  at::Tensor hashes_of(const Chunk& rows, const CancelToken& token) const;
  Task<void> write(const GroupStates& groups, const std::vector<size_t>& calls, SpilledPartitions& to);
  Task<void> merge_partition(int lane, const Parts& parts, size_t partition, int level, const Emit& emit);
  // Splits the groups merged so far, and the pieces not merged yet, which start at `piece` of `part`.
  Task<void> split(const GroupStates& merged, const Parts& parts, size_t partition, size_t part, size_t piece, Parts& to, int level);

  RunContext& context_;
  const MemoryAccount account_;
  const std::vector<LogicalType> key_types_;
  const std::vector<AggregateCall> calls_;
  std::vector<size_t> all_calls_;
  OperatorMetrics& metrics_;
  std::mutex mutex_;
  Parts parts_;  // guarded by mutex_ while rows are added
};

}  // namespace pistachio
