#include "exec/operators/hash_aggregate.h"

#include <algorithm>

#include "base/check.h"
#include "base/task_context.h"
#include "columns/column_hash.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "exec/core/fault_hook.h"
#include "exec/core/growing_reservation.h"
#include "exec/core/stoppable_call.h"
#include "exec/operators/aggregate_state.h"
#include "exec/operators/group_table.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/deferred_checks.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Fewer groups than this are merged in one go; partitioning would only cost.
constexpr int64_t kSmallMerge = 4096;
constexpr int64_t kPartitionBits = 6;
constexpr int64_t kMergedRowsPerPoll = 1 << 20;

// A row that FILTER leaves out must not raise an error. What stands in its place is never looked at.
ExpressionPtr guarded_argument(const AggregateCall& call) {
  if (!call.filter || !call.argument || !call.argument->can_raise()) return call.argument;
  ExpressionPtr nothing = Expression::constant(ScalarValue::null(call.argument->type()));
  return Expression::conditional(ExpressionKind::Case, {call.filter, call.argument, nothing}, call.argument->type());
}

// The expressions that all calls need, evaluated together.
struct CallInputs {
  std::vector<ExpressionPtr> expressions;
  std::vector<int> argument;  // place of the call's argument among the expressions; -1: none
  std::vector<int> filter;
  std::vector<std::vector<size_t>> states;  // Final: places of the columns of each call's state

  CallInputs(const std::vector<ColumnId>& groups, const std::vector<LogicalType>& types) {
    for (size_t i = 0; i < groups.size(); ++i) expressions.push_back(Expression::column(groups[i], types[i]));
  }
  void add_call(const AggregateCall& call) {
    argument.push_back(add(guarded_argument(call)));
    filter.push_back(add(call.filter));
  }
  void add_state(const AggregateCall& call, const std::vector<ColumnId>& columns) {
    std::vector<LogicalType> types = state_types(call);
    std::vector<size_t> places;
    for (size_t i = 0; i < columns.size(); ++i) {
      places.push_back(expressions.size());
      expressions.push_back(Expression::column(columns[i], types[i]));
    }
    states.push_back(std::move(places));
  }

 private:
  int add(const ExpressionPtr& expression) {
    if (!expression) return -1;
    expressions.push_back(expression);
    return static_cast<int>(expressions.size()) - 1;
  }
};

// Rows by partition of the hash of their group.
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

// The set of a DISTINCT call: rows of a group's id and an argument.
std::unique_ptr<GroupTable> make_distinct_set(const AggregateCall& call, at::Device device) {
  if (!call.distinct) return nullptr;
  return std::make_unique<GroupTable>(std::vector<LogicalType>{TypeKind::BigInt, argument_type(call)}, device);
}

// A GPU takes all rows at once, a core in strips, so that cancellation is noticed.
template <typename Body>
void for_each_strip(int64_t rows, at::Device device, const CancelToken& token, const Body& body) {
  const int64_t step = device.is_cpu() ? kMergedRowsPerPoll : std::max<int64_t>(rows, 1);
  for (int64_t begin = 0; begin < rows; begin += step) {
    token.throw_if_cancelled();
    body(begin, std::min(step, rows - begin));
  }
}

at::Tensor truth(const Column& column) {
  Column plain = decode_dictionary(column);
  return plain.has_validity() ? plain.values().logical_and(plain.validity()) : plain.values();
}

}  // namespace

// What one lane has aggregated so far.
class HashAggregateOperator::Lane {
 public:
  Lane(const HashAggregateOperator& owner, const MemoryAccount& account, at::Device device)
      : owner_(owner), device_(device), groups_(owner.group_types_, device), memory_(account) {
    for (const AggregateCall& call : owner.running_) {
      states_.push_back(make_aggregate_state(call, device));
      distinct_.push_back(make_distinct_set(call, device));
    }
  }

  void add(const ExpressionEvaluator& evaluator, const CallInputs& inputs, const Chunk& chunk, const CancelToken& token) {
    std::vector<Column> columns = evaluator.evaluate(chunk, token);
    size_t keys = owner_.groups_.size();
    std::vector<Column> key_columns(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(keys));
    at::Tensor ids = groups_.assign(key_columns, chunk.rows(), token);
    for (const auto& state : states_) state->set_groups(groups_.groups());
    if (owner_.stage_ == AggregateStage::Final) {
      add_states(inputs, columns, ids, token);
    } else {
      update_states(inputs, columns, ids, token);
    }
    int64_t bytes = groups_.memory_bytes();
    for (const auto& state : states_) bytes += state->memory_bytes();
    for (const auto& table : distinct_) bytes += table ? table->memory_bytes() : 0;
    memory_.cover(bytes);
  }

  int64_t groups() const { return groups_.groups(); }
  std::vector<Column> keys() const { return groups_.keys(); }
  const AggregateState& state(size_t call) const { return *states_[call]; }
  const GroupTable* distinct(size_t call) const { return distinct_[call].get(); }
  int64_t memory_bytes() const { return memory_.covered(); }

  // If there is no other lane.
  Chunk finish(const CancelToken& token) {
    for (size_t call = 0; call < states_.size(); ++call) {
      if (distinct_[call] == nullptr) continue;
      const std::vector<Column> members = distinct_[call]->keys();
      states_[call]->set_groups(groups());
      for_each_strip(distinct_[call]->groups(), device_, token, [&](int64_t begin, int64_t rows) {
        const Column arguments = members[1].slice(begin, rows);
        states_[call]->update({.ids = members[0].slice(begin, rows).values(), .argument = &arguments});
      });
    }
    return owner_.results(keys(), states_, groups(), device_, token);
  }

 private:
  // The rows that one call takes.
  struct CallRows {
    at::Tensor ids;
    at::Tensor mask;  // of the chunk's rows; undefined: all
    std::optional<Column> argument;
  };

  void add_states(const CallInputs& inputs, const std::vector<Column>& columns, const at::Tensor& ids, const CancelToken& token) {
    for (size_t i = 0; i < states_.size(); ++i) {
      token.throw_if_cancelled();
      std::vector<Column> state;
      for (size_t place : inputs.states[i]) state.push_back(decode_dictionary(columns[place]));
      states_[i]->add(ids, state);
    }
  }

  void update_states(const CallInputs& inputs, const std::vector<Column>& columns, const at::Tensor& ids, const CancelToken& token) {
    // A GPU checks the sums of several calls with one wait. Not of all: there may be thousands, with selected rows each.
    const size_t together = device_.is_cpu() ? 1 : 16;
    GroupSizes sizes(ids, groups_.groups());
    const bool shares_sizes = states_.size() > 1 && groups_.groups() <= ids.numel() / 4;
    for (size_t begin = 0; begin < states_.size(); begin += together) {
      const size_t end = std::min(begin + together, states_.size());
      std::vector<CallRows> calls;
      for (size_t i = begin; i < end; ++i) {
        token.throw_if_cancelled();
        calls.push_back(rows_of_call(inputs, i, columns, ids));
      }
      const bool fit = !device_.is_cpu() && sums_fit(begin, calls);
      for (size_t i = begin; i < end; ++i) {
        token.throw_if_cancelled();
        const CallRows& call = calls[i - begin];
        if (distinct_[i] != nullptr) {
          distinct_[i]->assign({Column::fixed(TypeKind::BigInt, call.ids), *call.argument}, call.ids.numel(), token);
        } else {
          GroupSizes* shared = shares_sizes && !call.mask.defined() ? &sizes : nullptr;
          states_[i]->update({call.ids, call.argument ? &*call.argument : nullptr, shared, fit});
        }
      }
    }
  }

  CallRows rows_of_call(const CallInputs& inputs, size_t call, const std::vector<Column>& columns, const at::Tensor& ids) const {
    CallRows rows{ids, {}, std::nullopt};
    if (inputs.filter[call] >= 0) rows.mask = truth(columns[static_cast<size_t>(inputs.filter[call])]);
    const int64_t selected = rows.mask.defined() ? kernels::count_true(rows.mask) : ids.numel();
    if (rows.mask.defined()) rows.ids = kernels::compress(ids, rows.mask, selected);
    if (inputs.argument[call] < 0) return rows;
    rows.argument = columns[static_cast<size_t>(inputs.argument[call])];
    if (rows.mask.defined()) rows.argument = select_rows(*rows.argument, rows.mask, selected);
    if (distinct_[call] == nullptr) rows.argument = decode_dictionary(*rows.argument);
    return rows;
  }

  bool sums_fit(size_t first_call, const std::vector<CallRows>& calls) const {
    const kernels::DeferredChecks checks;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].argument && distinct_[first_call + i] == nullptr && !states_[first_call + i]->fits(*calls[i].argument)) return false;
    }
    return !checks.failed();
  }

  const HashAggregateOperator& owner_;
  at::Device device_;
  GroupTable groups_;
  std::vector<std::unique_ptr<AggregateState>> states_;
  std::vector<std::unique_ptr<GroupTable>> distinct_;
  GrowingReservation memory_;
};

class HashAggregateOperator::LaneSink final : public ChunkSink {
 public:
  LaneSink(HashAggregateOperator& owner, const RunContext& context, const ExpressionEvaluator& evaluator, const CallInputs& inputs,
           Lanes& lanes)
      : owner_(owner), context_(context), evaluator_(evaluator), inputs_(inputs), lanes_(lanes) {}
  Task<void> consume(int lane, Chunk chunk) override {
    reach(context_, FaultPoint::AggregateUpdate);
    const TaskContext& task = co_await current_context();
    WorkTimer timer(owner_.metrics_);
    lanes_[static_cast<size_t>(lane)]->add(evaluator_, inputs_, chunk, task.token);
  }

 private:
  HashAggregateOperator& owner_;
  const RunContext& context_;
  const ExpressionEvaluator& evaluator_;
  const CallInputs& inputs_;
  Lanes& lanes_;
};

// The rows of a lane by partition: its groups, and its set of each DISTINCT call.
struct HashAggregateOperator::LaneSplit {
  RowPartitions groups;
  std::vector<RowPartitions> sets;
  at::Tensor merged_ids;  // of the lane's groups among those of their partition, which fills them in; undefined without DISTINCT
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

  void add(const Lane& lane, const LaneSplit& split, int64_t partition, const CancelToken& token) {
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

  void add_groups(const Lane& lane, const LaneSplit& split, const at::Tensor& rows, const CancelToken& token) {
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

  void add_distinct(const Lane& lane, const LaneSplit& split, size_t call, const at::Tensor& rows, const CancelToken& token) {
    const int64_t bytes_before = bytes_of_set(call);
    const std::vector<Column> of_lane = lane.distinct(call)->keys();
    const Column argument = take_rows(of_lane[1], rows);
    const at::Tensor ids = split.merged_ids.index_select(0, of_lane[0].values().index_select(0, rows));
    // New ones get the next numbers in the order they are met.
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

  // What add_distinct can change. A query may have thousands of sets, so it must not go through all of them.
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
      groups_(plan.groups),
      group_types_(std::move(group_types)),
      calls_(plan.calls),
      state_columns_(plan.states) {
  AggregateStates states = share_states(calls_);
  running_ = std::move(states.kept);
  state_of_call_ = std::move(states.state_of_call);
  // The states that arrive are of different values already.
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

Task<void> HashAggregateOperator::produce(RunContext& context, ChunkSink& sink) {
  MemoryAccount account = context.memory.make_child("aggregate");
  Lanes lanes;
  for (int lane = 0; lane < context.lanes; ++lane) lanes.push_back(std::make_unique<Lane>(*this, account, context.device));
  Task<void> aggregating = aggregate_input(context, lanes);
  co_await aggregating;
  reach(context, FaultPoint::AggregateMerge);

  int64_t bytes = 0;
  for (const auto& lane : lanes) bytes += lane->memory_bytes();
  metrics_.bytes = bytes;
  std::erase_if(lanes, [](const std::unique_ptr<Lane>& lane) { return lane->groups() == 0; });
  const TaskContext& task = co_await current_context();
  if (lanes.empty()) {
    Task<void> emitting = emit_of_no_rows(context, sink);
    co_await emitting;
  } else if (lanes.size() == 1) {
    Task<void> emitting = pass_on_in_steps(metrics_, sink, 0, lanes[0]->finish(task.token), context.chunk_rows());
    co_await emitting;
  } else {
    Task<void> merging = merge_lanes(context, account, lanes, sink);
    co_await merging;
  }
}

Task<void> HashAggregateOperator::aggregate_input(RunContext& context, Lanes& lanes) {
  CallInputs inputs(groups_, group_types_);
  for (size_t i = 0; i < running_.size(); ++i) {
    if (stage_ == AggregateStage::Final) {
      inputs.add_state(running_[i], state_columns_[i]);
    } else {
      inputs.add_call(running_[i]);
    }
  }
  ExpressionEvaluator evaluator(inputs.expressions, input_->layout());
  LaneSink lane_sink(*this, context, evaluator, inputs, lanes);
  Task<void> reading = input_->produce(context, lane_sink);
  co_await reading;
}

Task<void> HashAggregateOperator::emit_of_no_rows(RunContext& context, ChunkSink& sink) {
  // Without GROUP BY there is one row all the same.
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
    const at::Tensor hashes = groups_.empty() ? at::zeros({lane->groups()}, options) : hash_rows(lane->keys(), token);
    split.groups = partition_by_group(hashes, bits, token);
    split.sets.resize(running_.size());
    for (size_t call = 0; call < running_.size(); ++call) {
      const GroupTable* set = lane->distinct(call);
      if (set == nullptr) continue;
      split.sets[call] = partition_by_group(hashes.index_select(0, set->keys()[0].values()), bits, token);
      if (!split.merged_ids.defined()) split.merged_ids = at::empty({lane->groups()}, options);
    }
  }
  return splits;
}

Chunk HashAggregateOperator::merge_partition(const RunContext& context, const MemoryAccount& account, const Lanes& lanes,
                                             const std::vector<LaneSplit>& splits, int64_t partition, const CancelToken& token) {
  WorkTimer timer(metrics_);
  Partition merged(*this, account, context.device);
  for (size_t lane = 0; lane < lanes.size(); ++lane) merged.add(*lanes[lane], splits[lane], partition, token);
  return merged.finish(token);
}

Task<void> HashAggregateOperator::merge_lanes(RunContext& context, const MemoryAccount& account, const Lanes& lanes, ChunkSink& sink) {
  int64_t total = 0;
  for (const auto& lane : lanes) total += lane->groups();
  // A GPU merges all groups at once: partitions are for cores, and would cost it thousands of launches.
  int64_t bits = total < kSmallMerge || groups_.empty() || !context.device.is_cpu() ? 0 : kPartitionBits;
  const TaskContext& task = co_await current_context();
  const CancelToken& token = task.token;
  std::vector<LaneSplit> splits = split_lanes(lanes, bits, context.device, token);
  int64_t step = context.chunk_rows();
  auto merge_and_emit = [&](int lane, int64_t partition) -> Task<void> {
    Chunk merged = merge_partition(context, account, lanes, splits, partition, token);
    Task<void> emitting = pass_on_in_steps(metrics_, sink, lane, std::move(merged), step);
    co_await emitting;
  };
  Task<void> all = for_each_lane(context, int64_t{1} << bits, merge_and_emit);
  co_await all;
}

}  // namespace pistachio
