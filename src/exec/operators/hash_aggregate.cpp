#include "exec/operators/hash_aggregate.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/task_context.h"
#include "columns/column_hash.h"
#include "columns/row_selection.h"
#include "exec/core/fault_hook.h"
#include "exec/core/growing_reservation.h"
#include "exec/core/memory_relief.h"
#include "exec/core/stoppable_call.h"
#include "exec/operators/spillable_groups.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Fewer groups than this are merged without partitioning, which would not pay.
constexpr int64_t kSmallMerge = 4096;
constexpr int64_t kMaxPartitionBits = 6;
// With in_hash_order, so that no partition is much of all rows.
constexpr int64_t kMinOrderedBits = 4;
constexpr int64_t kPartitionsPerLane = 4;
// Groups, or members of a DISTINCT set, per partition: with fewer, the kernel calls per partition cost more than its rows.
constexpr int64_t kRowsPerPartition = 8192;

int64_t bits_for_rows(int64_t rows, int64_t least) {
  return std::clamp<int64_t>(std::bit_width(static_cast<uint64_t>(rows / kRowsPerPartition)), least, kMaxPartitionBits);
}

// Row numbers ordered by the partition of their group's hash.
struct RowPartitions {
  at::Tensor order;
  at::Tensor offsets;

  at::Tensor rows(int64_t partition) const {
    int64_t begin = offsets[partition].item<int64_t>();
    return order.slice(0, begin, offsets[partition + 1].item<int64_t>());
  }
};

// By the hashes of the rows' groups; 2^bits partitions.
RowPartitions partition_by_group(const at::Tensor& hashes, int64_t bits, const CancelToken& token) {
  auto [order, offsets] = call_stoppable(token, [&](const at::Tensor& stop) { return kernels::partition_rows(hashes, bits, stop); });
  return {std::move(order), std::move(offsets)};
}

}  // namespace

class HashAggregateOperator::LaneSink final : public ChunkSink {
 public:
  LaneSink(HashAggregateOperator& owner, RunContext& context, SpillableGroups& groups, ChunkSink& next)
      : owner_(owner),
        context_(context),
        groups_(groups),
        next_(next),
        evaluator_(groups.plan().inputs.expressions(), owner.input_->layout()) {}

  Task<void> consume(int lane, Chunk chunk) override {
    reach(context_, FaultPoint::AggregateUpdate);
    const TaskContext& task = co_await current_context();
    if (owner_.may_send_early() && !groups_.has_room_for(lane, chunk.rows())) {
      std::unique_ptr<GroupLane> full = groups_.take(lane);
      Task<void> emitting = owner_.emit_full(context_, groups_, std::move(full), lane, next_);
      co_await emitting;
    }
    struct Values {
      std::vector<Column> columns;
      int64_t rows = 0;
    };
    auto evaluate = [&](int64_t begin, int64_t count) {
      WorkTimer timer(owner_.metrics_);
      return Values{evaluator_.evaluate(count == chunk.rows() ? chunk : chunk.slice(begin, count), task.token), count};
    };
    FittingRanges ranges(chunk.rows());
    while (!ranges.is_done()) {
      Task<Values> evaluating = make_next(context_, ranges, evaluate);
      Values values = co_await evaluating;
      if (ranges.is_done()) chunk = {};
      Task<void> adding = groups_.add(lane, std::move(values.columns), values.rows);
      co_await adding;
    }
  }

 private:
  HashAggregateOperator& owner_;
  RunContext& context_;
  SpillableGroups& groups_;
  ChunkSink& next_;
  const ExpressionEvaluator evaluator_;
};

// A lane's rows by partition: its groups, and its set of each DISTINCT call.
struct HashAggregateOperator::LaneSplit {
  RowPartitions groups;
  std::vector<RowPartitions> sets;
  at::Tensor merged_ids;  // ids of the lane's groups within their merged partition, set by the partition; undefined without DISTINCT
};

// One radix partition of all lanes, merged.
class HashAggregateOperator::Partition {
 public:
  Partition(const HashAggregateOperator& owner, const MemoryAccount& account, at::Device device)
      : owner_(owner), device_(device), groups_(owner.group_types_, device), memory_(account) {
    for (const AggregateCall& call : owner.running_) {
      states_.push_back(make_aggregate_state(call, device));
      sets_.push_back(make_distinct_set(call, device));
    }
    bytes_ = all_bytes();
  }

  void add(const LaneGroups& lane, const LaneSplit& split, int64_t partition, const CancelToken& token) {
    for_each_rows(split.groups.rows(partition), token, [&](const at::Tensor& rows) { add_groups(lane, split, rows, token); });
    for (size_t call = 0; call < sets_.size(); ++call) {
      if (!sets_[call]) continue;
      for_each_rows(split.sets[call].rows(partition), token, [&](const at::Tensor& rows) { add_distinct(lane, split, call, rows, token); });
    }
  }

  Chunk finish(const CancelToken& token) const { return owner_.results(groups_.keys(), states_, groups_.groups(), device_, token); }

 private:
  template <typename Body>
  void for_each_rows(const at::Tensor& rows, const CancelToken& token, const Body& body) {
    for_each_strip(rows.numel(), device_, token, [&](int64_t begin, int64_t count) { body(rows.narrow(0, begin, count)); });
  }

  void add_groups(const LaneGroups& lane, const LaneSplit& split, const at::Tensor& rows, const CancelToken& token) {
    std::vector<Column> keys;
    for (const Column& key : lane.keys()) keys.push_back(take_rows(key, rows));
    at::Tensor ids = groups_.assign(keys, rows.numel(), token);
    if (split.merged_ids.defined()) split.merged_ids.index_copy_(0, rows, ids);
    for (size_t i = 0; i < states_.size(); ++i) {
      states_[i]->set_groups(groups_.groups());
      if (!sets_[i]) states_[i]->add(ids, lane.state(i).columns_of(rows));
    }
    bytes_ = all_bytes();
    memory_.cover(bytes_);
  }

  void add_distinct(const LaneGroups& lane, const LaneSplit& split, size_t call, const at::Tensor& rows, const CancelToken& token) {
    const int64_t bytes_before = bytes_of_set(call);
    const std::vector<Column> of_lane = lane.distinct(call)->keys();
    const Column argument = take_rows(of_lane[1], rows);
    const at::Tensor ids = split.merged_ids.index_select(0, of_lane[0].values().index_select(0, rows));
    // New members get the next ids, in order of first occurrence.
    int64_t before = sets_[call]->groups();
    sets_[call]->assign({Column::fixed(TypeKind::BigInt, ids), argument}, rows.numel(), token);
    std::vector<Column> members = sets_[call]->keys();
    int64_t added = sets_[call]->groups() - before;
    Column fresh = members[1].slice(before, added);
    states_[call]->update({.ids = members[0].slice(before, added).values(), .argument = &fresh});
    bytes_ += bytes_of_set(call) - bytes_before;
    memory_.cover(bytes_);
  }

  int64_t all_bytes() const {
    int64_t bytes = groups_.memory_bytes();
    for (const auto& state : states_) bytes += state->memory_bytes();
    for (const auto& set : sets_) bytes += set ? set->memory_bytes() : 0;
    return bytes;
  }

  // Bytes of what add_distinct can change. Not of everything: a query may have thousands of sets.
  int64_t bytes_of_set(size_t call) const {
    return groups_.memory_bytes() + states_[call]->memory_bytes() + sets_[call]->memory_bytes();
  }

  const HashAggregateOperator& owner_;
  at::Device device_;
  GroupTable groups_;
  std::vector<std::unique_ptr<AggregateState>> states_;
  std::vector<std::unique_ptr<GroupTable>> sets_;
  int64_t bytes_ = 0;
  GrowingReservation memory_;
};

HashAggregateOperator::HashAggregateOperator(OperatorPtr input, std::vector<ColumnId> layout, const PhysicalAggregate& plan,
                                             std::vector<LogicalType> group_types)
    : Operator(std::move(layout)),
      input_(std::move(input)),
      stage_(plan.stage),
      in_hash_order_(plan.in_hash_order),
      groups_(plan.groups),
      group_types_(std::move(group_types)),
      calls_(plan.calls),
      state_columns_(plan.states) {
  AggregateStates states = share_states(calls_);
  running_ = std::move(states.kept);
  state_of_call_ = std::move(states.state_of_call);
  // The incoming states were computed from distinct values already.
  if (stage_ == AggregateStage::Final) {
    for (AggregateCall& call : running_) call.distinct = false;
  }
}

Chunk HashAggregateOperator::results(std::vector<Column> keys, const std::vector<std::unique_ptr<AggregateState>>& states, int64_t groups,
                                     at::Device device, const CancelToken& token) const {
  for (const auto& state : states) state->set_groups(groups);
  if (stage_ == AggregateStage::Partial) {
    for (const auto& state : states) {
      token.throw_if_cancelled();
      for (Column& column : state->columns_of(at::arange(groups, at::TensorOptions(at::kLong).device(device))))
        keys.push_back(std::move(column));
    }
    return Chunk(std::move(keys), groups, device);
  }
  for (size_t i = 0; i < calls_.size(); ++i) {
    token.throw_if_cancelled();
    keys.push_back(states[state_of_call_[i]]->finish(calls_[i], groups));
  }
  return Chunk(std::move(keys), groups, device);
}

AggregateInputs HashAggregateOperator::make_inputs() const {
  AggregateInputs inputs(groups_, group_types_);
  for (size_t i = 0; i < running_.size(); ++i) {
    if (stage_ == AggregateStage::Final) {
      inputs.add_state(running_[i], state_columns_[i]);
    } else {
      inputs.add_call(running_[i]);
    }
  }
  return inputs;
}

GroupingPlan HashAggregateOperator::grouping_plan(const RunContext& context) const {
  GroupingPlan plan{
      group_types_, running_, make_inputs(), stage_ == AggregateStage::Final, context.device, context.settings().group_table_limit};
  // Kernel calls of a partition cost as much as hundreds of rows: no more partitions than lanes need to share the work evenly.
  const auto partitions = static_cast<uint64_t>(kPartitionsPerLane * context.lanes - 1);
  plan.least_partition_bits = std::clamp<int64_t>(std::bit_width(partitions), in_hash_order_ ? kMinOrderedBits : 0, kMaxPartitionBits);
  // Ordering a batch takes about three times its bytes, condensing what was passed on up to half of them again.
  const int64_t temporary_bytes = context.spill.temporary_bytes() / context.lanes;
  plan.batch_bytes = std::max<int64_t>(1, temporary_bytes / 4);
  plan.condense_bytes = std::clamp<int64_t>(temporary_bytes, 1, plan.condense_bytes);
  return plan;
}

// Partial results of a group may be sent more than once. Instead of spilling, a full table is sent and the lane starts with an empty one.
bool HashAggregateOperator::may_send_early() const {
  return stage_ == AggregateStage::Partial && can_aggregate_in_stages(running_);
}

Task<void> HashAggregateOperator::produce(RunContext& context, ChunkSink& sink) {
  const auto groups = std::make_shared<SpillableGroups>(context, grouping_plan(context), metrics_);
  if (!may_send_early()) context.spill.add(groups);
  LaneSink lane_sink(*this, context, *groups, sink);
  Task<void> reading = input_->produce(context, lane_sink);
  co_await reading;
  reach(context, FaultPoint::AggregateMerge);
  Task<void> closing = groups->close();
  co_await closing;
  metrics_.bytes = std::max<int64_t>(metrics_.bytes, groups->bytes());
  if (groups->has_spilled()) {
    Task<void> merging = merge_spilled(context, *groups, sink);
    co_await merging;
    co_return;
  }
  Lanes lanes = groups->take_lanes();
  if (lanes.empty()) {
    Task<void> emitting = emit_of_no_rows(context, sink);
    co_await emitting;
    co_return;
  }
  if (std::any_of(lanes.begin(), lanes.end(), [](const auto& lane) { return lane->has_passed_on(); })) {
    Task<void> emitting = emit_partitions(context, *groups, lanes, sink);
    co_await emitting;
    co_return;
  }
  Task<bool> emitting =
      lanes.size() == 1 ? emit_lane(context, lanes[0]->table(), sink) : merge_lanes(context, groups->account(), lanes, sink);
  const bool fits = co_await emitting;
  if (fits) co_return;
  Task<void> spilling = groups->spill_unconditionally(std::move(lanes));
  co_await spilling;
  Task<void> merging = merge_spilled(context, *groups, sink);
  co_await merging;
}

Task<void> HashAggregateOperator::merge_spilled(RunContext& context, SpillableGroups& groups, ChunkSink& sink) {
  const SpilledGroups::Emit emit_groups = [&](int lane, const GroupStates& merged) { return emit(context, lane, merged, sink); };
  Task<void> merging = groups.merge_spilled(emit_groups);
  co_await merging;
}

Task<void> HashAggregateOperator::emit(RunContext& context, int lane, const GroupStates& groups, ChunkSink& sink) {
  Task<Chunk> making = results_of(context, groups);
  Chunk rows = co_await making;
  Task<void> emitting = pass_on_in_steps(metrics_, sink, lane, std::move(rows), context.chunk_rows());
  co_await emitting;
}

Task<Chunk> HashAggregateOperator::results_of(RunContext& context, const GroupStates& groups) {
  const TaskContext& task = co_await current_context();
  auto make = [&] { return results(groups.keys(), groups.states(), groups.groups(), context.device, task.token); };
  Task<Chunk> making = with_relief(context, make);
  Chunk rows = co_await making;
  co_return rows;
}

Task<void> HashAggregateOperator::emit_partitions(RunContext& context, const SpillableGroups& groups, const Lanes& lanes, ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  auto empty_table = [&](int, int64_t lane) -> Task<void> {
    WorkTimer timer(metrics_);
    lanes[static_cast<size_t>(lane)]->close(task.token);
    co_return;
  };
  Task<void> emptying = for_each_lane(context, static_cast<int64_t>(lanes.size()), empty_table);
  co_await emptying;
  std::vector<const GroupLane*> all;
  for (const auto& lane : lanes) all.push_back(lane.get());
  const int64_t bits = radix_bits(groups.plan(), all);
  auto emit_one = [&](int lane, int64_t partition) -> Task<void> {
    Task<void> emitting = emit_partition(context, groups, all, partition, bits, lane, sink);
    co_await emitting;
  };
  Task<void> emitting = for_each_lane(context, int64_t{1} << bits, emit_one);
  co_await emitting;
}

Task<void> HashAggregateOperator::emit_full(RunContext& context, const SpillableGroups& groups, std::unique_ptr<GroupLane> full, int lane,
                                            ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  if (!full->has_passed_on()) {
    Task<void> emitting = emit(context, lane, full->table().group_states(), sink);
    co_await emitting;
    co_return;
  }
  full->close(task.token);
  const std::vector<const GroupLane*> only_this = {full.get()};
  const int64_t bits = radix_bits(groups.plan(), only_this);
  for (int64_t partition = 0; partition < int64_t{1} << bits; ++partition) {
    Task<void> emitting = emit_partition(context, groups, only_this, partition, bits, lane, sink);
    co_await emitting;
  }
}

Task<void> HashAggregateOperator::emit_partition(RunContext& context, const SpillableGroups& groups,
                                                 const std::vector<const GroupLane*>& lanes, int64_t partition, int64_t bits, int lane,
                                                 ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  struct Grouped {
    Chunk rows;
    GrowingReservation memory;
  };
  auto group = [&] {
    WorkTimer timer(metrics_);
    Grouped grouped{{}, GrowingReservation(groups.account())};
    const LaneGroups merged = group_partition(groups.plan(), lanes, partition, bits, task.token);
    grouped.memory.cover(merged.memory_bytes());
    const GroupStates& states = merged.group_states();
    grouped.rows = results(states.keys(), states.states(), states.groups(), context.device, task.token);
    return grouped;
  };
  Task<Grouped> grouping = with_relief(context, group);
  Grouped grouped = co_await grouping;
  Task<void> emitting = pass_on_in_steps(metrics_, sink, lane, std::move(grouped.rows), context.chunk_rows());
  co_await emitting;
}

Task<bool> HashAggregateOperator::emit_lane(RunContext& context, LaneGroups& lane, ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  Chunk rows;
  bool fits = true;
  try {
    lane.count_distinct(task.token);
    Task<Chunk> making = results_of(context, lane.group_states());
    rows = co_await making;
  } catch (const OutOfMemory&) {
    if (!context.spill.is_allowed()) throw;
    fits = false;
  }
  if (!fits) co_return false;
  if (!in_hash_order_ || lane.groups() < kSmallMerge || groups_.empty() || !context.device.is_cpu()) {
    Task<void> emitting = pass_on_in_steps(metrics_, sink, 0, std::move(rows), context.chunk_rows());
    co_await emitting;
    co_return true;
  }
  // In the order in which merge_lanes would emit them.
  const int64_t bits = bits_for_rows(lane.groups(), kMinOrderedBits);
  const std::vector<Column> keys(rows.columns().begin(), rows.columns().begin() + static_cast<int64_t>(groups_.size()));
  const auto [order, offsets] = kernels::partition_rows(hash_rows(keys, task.token), bits);
  const int64_t* offset = offsets.const_data_ptr<int64_t>();
  for (int64_t partition = 0; partition < int64_t{1} << bits; ++partition) {
    Chunk part = take_rows(rows, order.slice(0, offset[partition], offset[partition + 1]));
    Task<void> emitting = pass_on_in_steps(metrics_, sink, 0, std::move(part), context.chunk_rows());
    co_await emitting;
  }
  co_return true;
}

Task<void> HashAggregateOperator::emit_of_no_rows(RunContext& context, ChunkSink& sink) {
  // Without GROUP BY, even an empty input has one result row.
  if (!groups_.empty() || stage_ == AggregateStage::Partial) co_return;
  std::vector<std::unique_ptr<AggregateState>> states;
  for (const AggregateCall& call : running_) states.push_back(make_aggregate_state(call, context.device));
  Task<void> passing = pass_on(metrics_, sink, 0, results({}, states, 1, context.device, {}));
  co_await passing;
}

std::vector<HashAggregateOperator::LaneSplit> HashAggregateOperator::split_lanes(const Lanes& lanes, int64_t bits, at::Device device,
                                                                                  const CancelToken& token) {
  std::vector<LaneSplit> splits;
  for (const auto& lane : lanes) {
    WorkTimer timer(metrics_);
    LaneSplit& split = splits.emplace_back();
    const at::TensorOptions options = at::TensorOptions(at::kLong).device(device);
    const at::Tensor hashes = groups_.empty() ? at::zeros({lane->table().groups()}, options) : hash_rows(lane->table().keys(), token);
    split.groups = partition_by_group(hashes, bits, token);
    split.sets.resize(running_.size());
    for (size_t call = 0; call < running_.size(); ++call) {
      const GroupTable* set = lane->table().distinct(call);
      if (set == nullptr) continue;
      split.sets[call] = partition_by_group(hashes.index_select(0, set->keys()[0].values()), bits, token);
      if (!split.merged_ids.defined()) split.merged_ids = at::empty({lane->table().groups()}, options);
    }
  }
  return splits;
}

Chunk HashAggregateOperator::merge_partition(const RunContext& context, const MemoryAccount& account, const Lanes& lanes,
                                             const std::vector<LaneSplit>& splits, int64_t partition, const CancelToken& token) {
  WorkTimer timer(metrics_);
  Partition merged(*this, account, context.device);
  for (size_t lane = 0; lane < lanes.size(); ++lane) merged.add(lanes[lane]->table(), splits[lane], partition, token);
  return merged.finish(token);
}

int64_t HashAggregateOperator::partition_bits(const Lanes& lanes) const {
  int64_t groups = 0;
  int64_t rows = 0;
  for (const auto& lane : lanes) {
    groups += lane->table().groups();
    int64_t largest = lane->table().groups();
    for (size_t call = 0; call < running_.size(); ++call) {
      if (const GroupTable* set = lane->table().distinct(call)) largest = std::max(largest, set->groups());
    }
    rows += largest;
  }
  if (groups < kSmallMerge) return 0;
  return bits_for_rows(rows, in_hash_order_ ? kMinOrderedBits : 1);
}

Task<bool> HashAggregateOperator::merge_lanes(RunContext& context, const MemoryAccount& account, const Lanes& lanes, ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  // A GPU merges all groups at once: partitions serve CPU parallelism and would cost thousands of kernel launches.
  if (groups_.empty() || !context.device.is_cpu()) {
    auto merge_all = [&] {
      return merge_partition(context, account, lanes, split_lanes(lanes, 0, context.device, task.token), 0, task.token);
    };
    std::optional<Chunk> merged;
    try {
      Task<Chunk> merging = with_relief(context, merge_all);
      merged = co_await merging;
    } catch (const OutOfMemory&) {
      if (!context.spill.is_allowed()) throw;
    }
    if (!merged) co_return false;
    Task<void> emitting = pass_on_in_steps(metrics_, sink, 0, std::move(*merged), context.chunk_rows());
    co_await emitting;
    co_return true;
  }
  const int64_t bits = partition_bits(lanes);
  auto split = [&] { return split_lanes(lanes, bits, context.device, task.token); };
  Task<std::vector<LaneSplit>> splitting = with_relief(context, split);
  const std::vector<LaneSplit> splits = co_await splitting;
  int64_t step = context.chunk_rows();
  auto merge_and_emit = [&](int lane, int64_t partition) -> Task<void> {
    auto merge = [&] { return merge_partition(context, account, lanes, splits, partition, task.token); };
    Task<Chunk> merging = with_relief(context, merge);
    Chunk merged = co_await merging;
    Task<void> emitting = pass_on_in_steps(metrics_, sink, lane, std::move(merged), step);
    co_await emitting;
  };
  Task<void> all = for_each_lane(context, int64_t{1} << bits, merge_and_emit);
  co_await all;
  co_return true;
}

}  // namespace pistachio
