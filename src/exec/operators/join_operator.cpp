#include "exec/operators/join_operator.h"

#include <atomic>

#include "base/task_group.h"
#include "exec/adaptive/join_filter.h"
#include "exec/core/fault_hook.h"
#include "exec/core/memory_relief.h"
#include "exec/operators/partitioned_join.h"
#include "memory/channel.h"

namespace pistachio {

// Blocks the left input until the build side is complete; both are read concurrently.
class JoinOperator::GatedProbe final : public ChunkSink {
 public:
  // Lets the chunks through to `next`; null: they are not needed and the left input may stop.
  void open(ChunkSink* next) {
    next_ = next;
    opened_ = true;
    is_open_.close();
  }

  bool is_full() const override { return opened_ && (next_ == nullptr || next_->is_full()); }

  Task<void> consume(int lane, Chunk chunk) override {
    Task<std::optional<int>> waiting = is_open_.receive();
    co_await waiting;
    if (is_full()) co_return;
    Task<void> passing = next_->consume(lane, std::move(chunk));
    co_await passing;
  }

 private:
  ChunkSink* next_ = nullptr;
  std::atomic<bool> opened_ = false;  // next_ is set
  Channel<int> is_open_{0};           // closed once open
};

JoinOperator::JoinOperator(OperatorPtr left, OperatorPtr right, const PhysicalJoin& plan, std::vector<ColumnId> layout,
                           std::vector<LogicalType> left_types, std::vector<LogicalType> right_types, std::optional<SpreadKeys> spread)
    : Operator(std::move(layout)),
      left_(std::move(left)),
      right_(std::move(right)),
      shape_(plan, layout_, left_->layout(), right_->layout(), std::move(left_types), std::move(right_types)),
      spread_(std::move(spread)) {}

Task<void> JoinOperator::produce(RunContext& context, ChunkSink& sink) {
  const auto rows = std::make_shared<PartitionedRows>(context, shape_, PartitionedRows::Side::Build, metrics_);
  context.spill.add(rows);
  Task<void> joining = context.reads_both_inputs ? join_while_building(context, *rows, sink) : join_after_building(context, *rows, sink);
  co_await joining;
}

Task<void> JoinOperator::retain_build_rows(RunContext& context, PartitionedRows& rows) {
  RetainingSink retaining(rows);
  Task<void> producing = right_->produce(context, retaining);
  co_await producing;
  reach(context, FaultPoint::BuildCollected);
  // Once there is a table, its memory is needed until the left input ends. If that would leave too little to the scans and operators that
  // run meanwhile, the rows go to disk while they can.
  const int64_t kept = shape_.bytes_kept(rows.bytes(), rows.rows());
  const bool stays = kept <= context.spill.batch_bytes() || context.spill.may_keep(kept - rows.spillable_bytes());
  Task<void> closing = stays ? rows.close() : rows.close_on_disk();
  co_await closing;
  metrics_.bytes = rows.bytes();
  // The rows are on disk now; a filter of them would have to be built while they arrive.
  if (rows.has_spilled()) publish_no_filter(context);
}

Task<void> JoinOperator::build_table(RunContext& context, PartitionedRows& rows, BuildSide& build) {
  Task<std::optional<SpillableRows::Rows>> taking = rows.take_all();
  std::optional<SpillableRows::Rows> all = co_await taking;
  bool fits = all.has_value();
  if (all) {
    try {
      Task<void> building = build.build_on_lanes(context, std::move(all->chunk), std::move(all->memory), metrics_);
      co_await building;
    } catch (const OutOfMemory&) {
      if (!context.spill.is_allowed()) throw;
      fits = false;
    }
  }
  if (!fits) {
    // The rows fit, but their table does not: both inputs are joined by partitions after all.
    Task<void> spilling = rows.spill_unconditionally(all ? build.give_back() : SpillableRows::Rows());
    co_await spilling;
    publish_no_filter(context);
    co_return;
  }
  Task<void> publishing = publish_filter(context, build);
  co_await publishing;
  reach(context, FaultPoint::BuildFinished);
}

void JoinOperator::publish_no_filter(RunContext& context) {
  if (shape_.plan.filter && context.filters != nullptr)
    context.filters->at(shape_.plan.filter->number)->publish_nothing(/*has_no_rows=*/false);
}

Task<void> JoinOperator::publish_filter(RunContext& context, const BuildSide& build) {
  if (!shape_.plan.filter || context.filters == nullptr) co_return;
  const TaskContext& task = co_await current_context();
  std::vector<ExpressionPtr> keys;
  for (size_t key : shape_.plan.filter->keys) keys.push_back(shape_.plan.keys[key].right);
  JoinFilter& filter = *context.filters->at(shape_.plan.filter->number);
  auto publish = [&] {
    WorkTimer timer(metrics_);
    filter.publish_local(ExpressionEvaluator(keys, shape_.right_layout).evaluate(build.rows(), task.token), task.token);
    return true;
  };
  bool is_published = false;
  try {
    Task<bool> publishing = with_relief(context, publish);
    is_published = co_await publishing;
  } catch (const OutOfMemory&) {  // the join does not depend on its filter
  }
  if (!is_published) publish_no_filter(context);
}

Task<void> JoinOperator::join_after_building(RunContext& context, PartitionedRows& rows, ChunkSink& sink) {
  Task<void> retaining = retain_build_rows(context, rows);
  co_await retaining;
  BuildSide build(shape_, rows.account());
  if (!rows.has_spilled()) {
    Task<void> building = build_table(context, rows, build);
    co_await building;
  }
  if (rows.has_spilled()) {
    if (spread_) context.spreads->at(spread_->exchange)->help.join_ends();
    const std::shared_ptr<PartitionedRows> left = make_left_rows(context);
    RetainingSink retaining_left(*left);
    Task<void> reading = left_->produce(context, retaining_left);
    co_await reading;
    Task<void> joining = join_partitions(context, rows, *left, sink);
    co_await joining;
    co_return;
  }
  if (shape_.wants_left_rows(build.rows().rows())) {
    Task<void> probing = probe(context, build, sink);
    co_await probing;
  } else if (spread_) {
    context.spreads->at(spread_->exchange)->help.join_ends();
  }
  Task<void> producing = build.produce_rows_by_match(context, metrics_, sink);
  co_await producing;
}

Task<void> JoinOperator::join_while_building(RunContext& context, PartitionedRows& rows, ChunkSink& sink) {
  BuildSide build(shape_, rows.account());
  JoinProbe probe(shape_, build, context, metrics_, sink);
  const std::shared_ptr<PartitionedRows> left = make_left_rows(context);
  RetainingSink retaining_left(*left);
  GatedProbe gate;
  auto build_and_open = [&]() -> Task<void> {
    Task<void> retaining = retain_build_rows(context, rows);
    co_await retaining;
    if (!rows.has_spilled()) {
      Task<void> building = build_table(context, rows, build);
      co_await building;
    }
    if (rows.has_spilled()) {
      gate.open(&retaining_left);
      co_return;
    }
    gate.open(shape_.wants_left_rows(build.rows().rows()) ? &probe : nullptr);
  };
  auto both = [&](TaskGroup& group) -> Task<void> {
    group.spawn(build_and_open());
    Task<void> probing = left_->produce(context, gate);
    co_await probing;
  };
  co_await with_task_group(both);
  Task<void> rest = rows.has_spilled() ? join_partitions(context, rows, *left, sink) : build.produce_rows_by_match(context, metrics_, sink);
  co_await rest;
}

Task<void> JoinOperator::probe(RunContext& context, BuildSide& build, ChunkSink& sink) {
  if (!spread_) {
    JoinProbe probe(shape_, build, context, metrics_, sink);
    Task<void> probing = left_->produce(context, probe);
    co_await probing;
    co_return;
  }
  HelpingProbe probe(shape_, *spread_, build, context, metrics_, sink);
  BucketHelp& help = context.spreads->at(spread_->exchange)->help;
  struct Taking {
    BucketHelp& help;
    ~Taking() { help.join_ends(); }
  } taking{help};
  help.join_begins(probe);
  Task<void> probing = left_->produce(context, probe);
  co_await probing;
}

std::shared_ptr<PartitionedRows> JoinOperator::make_left_rows(RunContext& context) {
  auto rows = std::make_shared<PartitionedRows>(context, shape_, PartitionedRows::Side::Left, metrics_);
  context.spill.add(rows);
  return rows;
}

Task<void> JoinOperator::join_partitions(RunContext& context, PartitionedRows& build, PartitionedRows& left, ChunkSink& sink) {
  Task<void> closing = left.close_on_disk();
  co_await closing;
  PartitionedJoin join(shape_, context, metrics_, sink);
  Task<void> joining = join.run(build.partitions(), left.partitions());
  co_await joining;
}

}  // namespace pistachio
