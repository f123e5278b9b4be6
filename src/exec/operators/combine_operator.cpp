#include "exec/operators/combine_operator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/scheduler.h"
#include "base/task_context.h"
#include "base/task_group.h"
#include "base/timer_queue.h"
#include "exec/adaptive/combining_ranks.h"
#include "exec/adaptive/on_path_choice.h"
#include "exec/core/fault_hook.h"
#include "memory/channel.h"
#include "network/exchange_hub.h"

namespace pistachio {

namespace {

size_t place_in(const std::vector<ColumnId>& layout, ColumnId column) {
  const auto found = std::find(layout.begin(), layout.end(), column);
  ENSURE(found != layout.end(), "column #{} is not in the layout", column.value);
  return static_cast<size_t>(found - layout.begin());
}

}  // namespace

class CombineOperator::Combiner final : public ChunkSink {
 public:
  Combiner(CombineOperator& owner, RunContext& context, ChunkSink& next)
      : owner_(owner),
        context_(context),
        next_(next),
        choice_(*context.on_path->at(owner.exchange_.number)),
        tables_(make_combine_tables(owner.columns_,
                                    {.lanes = context.lanes,
                                     .bytes = context.settings().on_path_table_bytes * context.lanes,
                                     .device = context.device,
                                     .sources = senders_in_hash_order(owner.exchange_.combining, context.exchanges->rank())},
                                    context.memory.make_child("combine"))) {}

  bool is_full() const override { return next_.is_full(); }

  void begin_message(int lane, int source, int64_t number) override { tables_->begin_message(lane, source, number); }

  Task<void> consume(int lane, Chunk chunk) override {
    reach(context_, FaultPoint::AggregateUpdate);
    const TaskContext& task = co_await current_context();
    std::vector<Chunk> leaving;
    {
      WorkTimer timer(owner_.metrics_);
      leaving = tables_->add(chunk, task.token, lane);
      chunk = {};
      owner_.metrics_.bytes = std::max<int64_t>(owner_.metrics_.bytes, tables_->bytes());
      choice_.observe(tables_->added(), tables_->merged(), tables_->evicted(), owner_.metrics_.nanoseconds);
    }
    Task<void> passing = pass_on_all(lane, std::move(leaving));
    co_await passing;
  }

  Task<void> consume_all(Operator& input) {
    Task<void> reading = input.produce(context_, *this);
    co_await reading;
    ticks_.push(Tick::InputEnded, 0);
  }

  // Runs concurrently with consume_all(). While no rows arrive, the link is idle: sends the rows in the tables instead of holding them.
  Task<void> flush_idle_tables() {
    const TaskContext& task = co_await current_context();
    const std::chrono::nanoseconds least_time = std::chrono::milliseconds(context_.settings().on_path_flush_time);
    SteadyTime last_sent = std::chrono::steady_clock::now();
    bool was_on = choice_.is_on();
    while (least_time.count() > 0) {
      // Sleeps until the next check or the end of the input.
      const SteadyTime next_look = std::chrono::steady_clock::now() + least_time / 2;
      const Timer timer(task.scheduler->timers(), next_look, [this] { ticks_.push(Tick::TimePassed, 0); });
      Task<std::optional<Tick>> ticking = ticks_.receive();
      const std::optional<Tick> tick = co_await ticking;
      if (tick != Tick::TimePassed) co_return;
      const SteadyTime now = std::chrono::steady_clock::now();
      if (sending_ > 0) last_sent = now;  // lanes that wait for the link add no rows
      // No more rows will come to meet those in the tables.
      const bool has_ended = was_on && !choice_.is_on();
      was_on = choice_.is_on();
      const SteadyTime since = now - flush_time(least_time);
      if (tables_->held() == 0 || (last_sent > since && !has_ended)) continue;
      Task<void> flushing = flush(has_ended ? SteadyTime::max() : since);
      co_await flushing;
    }
  }

  // Flushes the tables that got no rows since the given time; part by part, so that rows are sent while others are merged.
  Task<void> flush(SteadyTime since = SteadyTime::max()) {
    auto empty = [this, since](int lane, int64_t part) -> Task<void> {
      std::vector<Chunk> leaving;
      {
        WorkTimer timer(owner_.metrics_);
        leaving = tables_->flush_part(part, since);
      }
      // The lane may be adding rows at the same time, which is allowed here: the next operator is an exchange, whose sink accepts
      // concurrent calls.
      Task<void> passing = pass_on_all(lane, std::move(leaving));
      co_await passing;
    };
    Task<void> emptying = for_each_lane(context_, tables_->parts(), empty);
    co_await emptying;
  }

  void record_metrics() {
    OperatorMetrics& metrics = owner_.metrics_;
    metrics.rows_to_merge = tables_->added();
    metrics.rows_merged = tables_->merged();
    if (!choice_.may_be_off()) return;
    metrics.merging_is_on = choice_.is_on() ? 1 : 0;
    metrics.merging_changes = choice_.changes();
    metrics.expected_percent = std::lround(100 * choice_.estimated_share());
    metrics.arrival_percent = std::lround(100 * choice_.arrival_share());
    metrics.needed_percent = std::lround(100 * choice_.least_share());
    metrics.picoseconds_to_produce = std::lround(1e12 * choice_.produce_seconds());
    metrics.picoseconds_to_merge = std::lround(1e12 * choice_.path_seconds());
    metrics.picoseconds_on_link = std::lround(1e12 * choice_.link_seconds());
  }

 private:
  enum class Tick { TimePassed, InputEnded };

  // Rows sent now cannot be merged with later ones, which must then be sent too. So waiting pays for as long as sending the held rows
  // takes.
  std::chrono::nanoseconds flush_time(std::chrono::nanoseconds least) const {
    const double link_seconds = static_cast<double>(tables_->held()) * owner_.exchange_.combining.link_seconds;
    return std::max(least, std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(link_seconds)));
  }

  Task<void> pass_on_all(int lane, std::vector<Chunk> chunks) {
    ++sending_;
    for (Chunk& chunk : chunks) {
      Task<void> passing = pass_on_in_steps(owner_.metrics_, next_, lane, std::move(chunk), context_.chunk_rows());
      co_await passing;
    }
    --sending_;
  }

  CombineOperator& owner_;
  RunContext& context_;
  ChunkSink& next_;
  OnPathChoice& choice_;
  std::unique_ptr<CombineTables> tables_;
  std::atomic<int> sending_ = 0;  // lanes that are sending now
  Channel<Tick> ticks_{0};
};

CombineOperator::CombineOperator(OperatorPtr input, std::vector<ColumnId> layout, const PhysicalAggregate& plan,
                                 std::vector<LogicalType> group_types, const PhysicalExchange& exchange)
    : Operator(std::move(layout)), input_(std::move(input)), exchange_(exchange) {
  columns_.columns = layout_.size();
  columns_.key_types = std::move(group_types);
  columns_.calls = calls_with_state(plan.calls);
  for (ColumnId group : plan.groups) columns_.keys.push_back(place_in(layout_, group));
  for (const std::vector<ColumnId>& state : plan.states) {
    std::vector<size_t>& places = columns_.states.emplace_back();
    for (ColumnId column : state) places.push_back(place_in(layout_, column));
  }
  // The incoming states were computed from distinct values already.
  for (AggregateCall& call : columns_.calls) call.distinct = false;
}

Task<void> CombineOperator::produce(RunContext& context, ChunkSink& sink) {
  Combiner combiner(*this, context, sink);
  std::vector<Task<void>> both;
  both.push_back(combiner.consume_all(*input_));
  both.push_back(combiner.flush_idle_tables());
  Task<void> combining = when_all(std::move(both));
  co_await combining;
  Task<void> flushing = combiner.flush();
  co_await flushing;
  combiner.record_metrics();
}

}  // namespace pistachio
