#include "exec/operators/combine_operator.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/task_context.h"
#include "columns/decode_dictionary.h"
#include "exec/core/fault_hook.h"
#include "exec/core/growing_reservation.h"
#include "exec/operators/aggregate_state.h"
#include "exec/operators/group_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// A full table of which so many rows were not merged was not worth its time. Then this many times its rows are passed on before it is tried
// again: other parts of the input may have more in common.
constexpr double kUnmergedShare = 0.9;
constexpr int64_t kRowsPassedOn = 8;

size_t place_in(const std::vector<ColumnId>& layout, ColumnId column) {
  const auto found = std::find(layout.begin(), layout.end(), column);
  ENSURE(found != layout.end(), "column #{} is not in the layout", column.value);
  return static_cast<size_t>(found - layout.begin());
}

}  // namespace

// The table of one lane.
class CombineOperator::Lane {
 public:
  Lane(const CombineOperator& owner, const MemoryAccount& account, at::Device device)
      : owner_(owner), device_(device), groups_(owner.group_types_, device), memory_(account) {
    for (const AggregateCall& call : owner.running_) states_.push_back(make_aggregate_state(call, device));
  }

  void add(const Chunk& chunk, const CancelToken& token) {
    std::vector<Column> keys;
    for (size_t place : owner_.group_places_) keys.push_back(chunk.column(place));
    added_ += chunk.rows();
    const at::Tensor ids = groups_.assign(keys, chunk.rows(), token);
    for (size_t i = 0; i < states_.size(); ++i) {
      token.throw_if_cancelled();
      std::vector<Column> columns;
      for (size_t place : owner_.state_places_[i]) columns.push_back(decode_dictionary(chunk.column(place)));
      states_[i]->set_groups(groups_.groups());
      states_[i]->add(ids, columns);
    }
    memory_.cover(bytes());
  }

  int64_t bytes() const {
    int64_t bytes = groups_.memory_bytes();
    for (const auto& state : states_) bytes += state->memory_bytes();
    return bytes;
  }

  int64_t added() const { return added_; }
  int64_t groups() const { return groups_.groups(); }

  // All rows of the table, in the layout of the input.
  Chunk rows() const {
    const int64_t groups = groups_.groups();
    std::vector<std::optional<Column>> placed(owner_.layout_.size());
    const std::vector<Column> keys = groups_.keys();
    for (size_t i = 0; i < keys.size(); ++i) placed[owner_.group_places_[i]] = keys[i];
    const at::Tensor all = at::arange(groups, at::TensorOptions(at::kLong).device(device_));
    for (size_t i = 0; i < states_.size(); ++i) {
      const std::vector<Column> columns = states_[i]->columns_of(all);
      for (size_t j = 0; j < columns.size(); ++j) placed[owner_.state_places_[i][j]] = columns[j];
    }
    std::vector<Column> columns;
    for (std::optional<Column>& column : placed) columns.push_back(std::move(column.value()));
    return Chunk(std::move(columns), groups, device_);
  }

 private:
  const CombineOperator& owner_;
  at::Device device_;
  GroupTable groups_;
  std::vector<std::unique_ptr<AggregateState>> states_;
  int64_t added_ = 0;  // rows
  GrowingReservation memory_;
};

class CombineOperator::Combiner final : public ChunkSink {
 public:
  Combiner(CombineOperator& owner, RunContext& context, ChunkSink& next)
      : owner_(owner),
        context_(context),
        next_(next),
        account_(context.memory.make_child("combine")),
        most_bytes_(context.settings().on_path_table_bytes),
        lanes_(static_cast<size_t>(context.lanes)),
        to_pass_on_(static_cast<size_t>(context.lanes)) {}

  bool is_full() const override { return next_.is_full(); }

  Task<void> consume(int lane, Chunk chunk) override {
    reach(context_, FaultPoint::AggregateUpdate);
    const TaskContext& task = co_await current_context();
    std::unique_ptr<Lane>& table = lanes_[static_cast<size_t>(lane)];
    int64_t& to_pass_on = to_pass_on_[static_cast<size_t>(lane)];
    if (to_pass_on > 0) {
      to_pass_on -= chunk.rows();
      Task<void> passing = pass_on(owner_.metrics_, next_, lane, std::move(chunk));
      co_await passing;
      co_return;
    }
    {
      WorkTimer timer(owner_.metrics_);
      if (table == nullptr) table = std::make_unique<Lane>(owner_, account_, context_.device);
      table->add(chunk, task.token);
      owner_.metrics_.bytes = std::max<int64_t>(owner_.metrics_.bytes, table->bytes());
    }
    if (table->bytes() < most_bytes_) co_return;
    if (static_cast<double>(table->groups()) > kUnmergedShare * static_cast<double>(table->added()))
      to_pass_on = kRowsPassedOn * table->added();
    Task<void> flushing = flush(lane);
    co_await flushing;
  }

  Task<void> flush_all() {
    for (int lane = 0; lane < context_.lanes; ++lane) {
      if (lanes_[static_cast<size_t>(lane)] == nullptr) continue;
      Task<void> flushing = flush(lane);
      co_await flushing;
    }
  }

 private:
  Task<void> flush(int lane) {
    const std::unique_ptr<Lane> table = std::move(lanes_[static_cast<size_t>(lane)]);
    Chunk rows = table->rows();
    Task<void> passing = pass_on_in_steps(owner_.metrics_, next_, lane, std::move(rows), context_.chunk_rows());
    co_await passing;
  }

  CombineOperator& owner_;
  RunContext& context_;
  ChunkSink& next_;
  MemoryAccount account_;
  const int64_t most_bytes_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // null: empty
  std::vector<int64_t> to_pass_on_;           // by lane: rows to pass on unmerged
};

CombineOperator::CombineOperator(OperatorPtr input, std::vector<ColumnId> layout, const PhysicalAggregate& plan,
                                 std::vector<LogicalType> group_types)
    : Operator(std::move(layout)), input_(std::move(input)), group_types_(std::move(group_types)), running_(calls_with_state(plan.calls)) {
  for (ColumnId group : plan.groups) group_places_.push_back(place_in(layout_, group));
  for (const std::vector<ColumnId>& state : plan.states) {
    std::vector<size_t>& places = state_places_.emplace_back();
    for (ColumnId column : state) places.push_back(place_in(layout_, column));
  }
  // The states that arrive are of different values already.
  for (AggregateCall& call : running_) call.distinct = false;
}

Task<void> CombineOperator::produce(RunContext& context, ChunkSink& sink) {
  Combiner combiner(*this, context, sink);
  Task<void> reading = input_->produce(context, combiner);
  co_await reading;
  Task<void> flushing = combiner.flush_all();
  co_await flushing;
}

}  // namespace pistachio
