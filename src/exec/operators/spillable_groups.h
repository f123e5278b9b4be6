// The groups of all lanes of an aggregation: in memory, one table per lane, as long as they fit; else tables are written to disk and lanes
// start with empty ones (spilled_groups.h). While lanes add rows, any task of the query may cause tables to be spilled.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/operators/group_lane.h"
#include "exec/operators/spilled_groups.h"

namespace pistachio {

class SpillableGroups final : public SpillableStore {
 public:
  SpillableGroups(RunContext& context, GroupingPlan plan, OperatorMetrics& metrics);

  // One call per lane at a time. `columns`: the values of plan().inputs.expressions(). If memory is short, adds the rows in parts.
  Task<void> add(int lane, std::vector<Column> columns, int64_t rows);
  // Whether the lane can add this many rows without spilling.
  bool has_room_for(int lane, int64_t rows) const;
  // Empties the lane, which must not be adding rows, and returns its groups.
  std::unique_ptr<GroupLane> take(int lane);

  int64_t spillable_bytes() const override;
  Task<void> spill() override;

  // Ends the input. If some groups were spilled, the rest are spilled too.
  Task<void> close();
  bool has_spilled() const { return spilled_.has_rows(); }
  // After close(), if nothing was spilled: the groups of all lanes that have any.
  std::vector<std::unique_ptr<GroupLane>> take_lanes();
  // For groups that fit, but left too little memory to output them: spills what take_lanes() returned. DISTINCT calls may have been
  // counted.
  Task<void> spill_unconditionally(std::vector<std::unique_ptr<GroupLane>> lanes);
  // After close(), if groups were spilled: emits every group once.
  Task<void> merge_spilled(const SpilledGroups::Emit& emit);

  const GroupingPlan& plan() const { return plan_; }
  const MemoryAccount& account() const { return account_; }
  int64_t bytes() const;

 private:
  struct Lane {
    std::mutex mutex;
    std::unique_ptr<GroupLane> groups;  // guarded by mutex
    std::atomic<int64_t> bytes = 0;
  };

  std::unique_ptr<GroupLane> make_groups() const;
  std::exception_ptr add_now(Lane& lane, const std::vector<Column>& columns, int64_t rows, Reservation ahead, const CancelToken& token);
  Task<void> spill_lane(Lane& lane);
  // Null if the lane has no groups, or is adding rows.
  std::unique_ptr<GroupLane> try_take(Lane& lane);
  Task<void> write(std::unique_ptr<GroupLane> lane);
  Task<void> write_table(const LaneGroups& groups);
  // Computes the states of a DISTINCT call from its distinct arguments.
  Task<void> count_distinct(size_t call, const GroupStates& members);

  RunContext& context_;
  const MemoryAccount account_;
  const GroupingPlan plan_;
  OperatorMetrics& metrics_;
  std::vector<size_t> plain_calls_;  // calls without DISTINCT
  std::vector<std::unique_ptr<Lane>> lanes_;
  SpilledGroups spilled_;
  std::vector<std::unique_ptr<SpilledGroups>> distinct_;  // keys and argument of each DISTINCT call; null for others
  std::atomic<bool> is_closed_ = false;
};

}  // namespace pistachio
