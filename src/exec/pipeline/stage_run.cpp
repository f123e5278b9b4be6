#include "exec/pipeline/stage_run.h"

#include <algorithm>
#include <numeric>

#include "base/task_group.h"
#include "exec/adaptive/bucket_help.h"
#include "exec/adaptive/combining_ranks.h"
#include "exec/adaptive/join_filter.h"
#include "exec/adaptive/on_path_choice.h"
#include "exec/core/fault_hook.h"
#include "exec/core/top_filter.h"
#include "exec/exchange/exchange_write.h"
#include "kernels/ops/key_filter.h"
#include "memory/channel.h"

namespace pistachio {

namespace {

// Closes the inputs of exchanges that no running stage reads any more, so that their senders stop.
class Readers {
 public:
  Readers(const ExecutablePlan& plan, QueryExchanges* exchanges) : exchanges_(exchanges) {
    if (exchanges_ == nullptr) return;
    left_ = std::vector<std::atomic<int>>(exchanges_->count());
    for (const ExecutablePlan::Stage& stage : plan.stages) count(stage.reads);
    count(plan.root_reads);
    close_unread(plan);
  }
  void ended(const std::vector<size_t>& reads) {
    for (size_t number : reads) {
      if (--left_[number] == 0) exchanges_->input(number).close();
    }
  }

 private:
  void count(const std::vector<size_t>& reads) {
    for (size_t number : reads) ++left_[number];
  }
  // Rows sent to all ranks may have a reader on rank 0 only: the other ranks must not block the senders. Gathered rows go to rank 0 anyway.
  void close_unread(const ExecutablePlan& plan) {
    for (const ExecutablePlan::Stage& stage : plan.stages) {
      const auto& exchange = *stage.exchange->as<PhysicalExchange>();
      if (!goes_to_first_rank(exchange.kind) && left_[exchange.number] == 0) exchanges_->input(exchange.number).close();
    }
  }

  QueryExchanges* exchanges_;
  std::vector<std::atomic<int>> left_;
};

// A join that was never executed has published no filter. Publishes an empty one, so that scans do not wait for it.
void publish_missing_filters(const std::vector<size_t>& filters, RunContext& context) {
  for (size_t number : filters) context.filters->at(number)->publish_nothing(false);
}

// Exchanges the local filters of all ranks and merges them; scans wait for the merged one.
Task<void> merge_filter(JoinFilter& filter, uint32_t topic, bool is_same_everywhere, RunContext& context) {
  Task<void> publishing = filter.local();
  co_await publishing;
  if (context.exchanges == nullptr) {
    filter.use_local();
    co_return;
  }
  Task<std::vector<std::string>> sharing =
      context.exchanges->notes().share(topic, is_same_everywhere ? filter.note_of_bounds() : filter.note());
  std::vector<std::string> notes = co_await sharing;
  if (is_same_everywhere) {
    filter.merge_bounds_only(notes);
  } else {
    filter.merge(notes, context.device);
  }
}

Task<void> produce_rows(ExecutablePlan::Stage& stage, RunContext& context, Readers& readers, ExchangeSink& sink) {
  if (stage.input) {
    Task<void> producing = stage.input->produce(context, sink);
    co_await producing;
    readers.ended(stage.reads);
  }
  sink.end_input();
  publish_missing_filters(stage.makes_filters, context);
}

Task<void> send_rows(ExecutablePlan& plan, size_t number, RunContext& context, Readers& readers) {
  ExecutablePlan::Stage& stage = plan.stages[number];
  bool may_wait = stage.reads.empty();
  std::vector<SendingEnd> chain = {{*stage.exchange->as<PhysicalExchange>(), *stage.metrics}};
  for (size_t later : stage.later_senders)
    chain.push_back({*plan.stages[later].exchange->as<PhysicalExchange>(), *plan.stages[later].metrics});
  ExchangeSink sink(context, std::move(chain), stage.exchange->layout, stage.types, may_wait);
  // settle() runs even if this rank has no rows: the other ranks wait for its note.
  std::vector<Task<void>> both;
  both.push_back(produce_rows(stage, context, readers, sink));
  both.push_back(sink.settle());
  Task<void> producing = when_all(std::move(both));
  co_await producing;
  Task<void> flushing = sink.flush();
  co_await flushing;
  sink.finish();
}

// Waits until a stage has sent everything.
class StageEnds {
 public:
  explicit StageEnds(size_t stages) {
    for (size_t i = 0; i < stages; ++i) ends_.push_back(std::make_unique<Channel<int>>(0));
  }
  Task<void> wait(std::vector<size_t> stages) {
    for (size_t stage : stages) {
      Task<std::optional<int>> waiting = ends_[stage]->receive();
      co_await waiting;
    }
  }
  void set(size_t stage) { ends_[stage]->close(); }

 private:
  std::vector<std::unique_ptr<Channel<int>>> ends_;  // by stage; closed at its end
};

Task<void> run_stage(ExecutablePlan& plan, size_t number, RunContext& context, Readers& readers, StageEnds& ends) {
  ExecutablePlan::Stage& stage = plan.stages[number];
  if (context.schedule.build_first) {
    Task<void> waiting = ends.wait(stage.build_sides);
    co_await waiting;
  }
  reach(context, FaultPoint::StageBegun);
  std::vector<Task<void>> both;
  both.push_back(send_rows(plan, number, context, readers));
  both.push_back(context.exchanges->output(stage.exchange->as<PhysicalExchange>()->number).carry());
  Task<void> running = when_all(std::move(both));
  co_await running;
  reach(context, FaultPoint::StageEnded);
  ends.set(number);
}

// Before any stage runs: a stage may send through the exchanges of others.
void prepare_outputs(const ExecutablePlan& plan, RunContext& context) {
  for (const ExecutablePlan::Stage& stage : plan.stages) {
    // Build rows are sent first: probe rows can only wait until the build side is complete.
    ExchangeOutput& output = context.exchanges->output(stage.exchange->as<PhysicalExchange>()->number);
    output.set_urgency(-static_cast<int>(stage.build_sides.size()));
    for (size_t later : stage.later_senders)
      context.exchanges->output(plan.stages[later].exchange->as<PhysicalExchange>()->number).add_sender();
  }
}

using SpreadJoins = std::map<size_t, std::unique_ptr<SharedBuckets>>;

// Counts running stages. After the last one no join can start any more: releases the waiters of BucketHelp.
class RunningStages {
 public:
  RunningStages(size_t stages, SpreadJoins& joins) : left_(stages), joins_(joins) {}
  void stage_ended() {
    if (--left_ > 0) return;
    for (auto& [number, shared] : joins_) shared->help.join_ends();
  }

 private:
  std::atomic<size_t> left_;
  SpreadJoins& joins_;
};

Task<void> run_and_count(Task<void> stage, RunningStages& running) {
  co_await stage;
  running.stage_ended();
}

// All stages run concurrently; this order decides whose reads are issued first.
std::vector<size_t> build_sides_first(const ExecutablePlan& plan) {
  std::vector<size_t> order(plan.stages.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t left, size_t right) { return plan.stages[left].build_sides.size() < plan.stages[right].build_sides.size(); });
  return order;
}

Task<void> run_root(ExecutablePlan& plan, RunContext& context, ChunkSink& sink, Readers& readers) {
  Task<void> producing = plan.root->produce(context, sink);
  co_await producing;
  readers.ended(plan.root_reads);
  publish_missing_filters(plan.root_makes_filters, context);
}

}  // namespace

size_t extra_control_topics(const PhysicalPlan& plan) {
  return plan.filters + plan.exchanges * BucketHelp::kTopics;
}

Task<void> run_stages(ExecutablePlan& plan, RunContext& context, ChunkSink& sink) {
  Readers readers(plan, context.exchanges);
  StageEnds ends(plan.stages.size());
  SpreadJoins spreads;
  for (const ExecutablePlan::Stage& stage : plan.stages) {
    const auto& exchange = *stage.exchange->as<PhysicalExchange>();
    if (!exchange.spreads) continue;
    spreads.emplace(exchange.number, std::make_unique<SharedBuckets>(context.exchanges->rank(), context.exchanges->ranks(),
                                                                     context.settings().rows_before_help));
  }
  context.spreads = &spreads;
  JoinFilters filters;
  for (const ExecutablePlan::Filter& filter : plan.filters) {
    // Sized for twice the estimate, which may be low.
    const int64_t words = kernels::key_filter_words(2 * filter.expected_keys + 64);
    const bool is_exchanged = context.exchanges != nullptr && !filter.is_same_everywhere;
    JoinFilter& made = *filters.emplace(filter.number, std::make_unique<JoinFilter>(words, is_exchanged)).first->second;
    if (!filter.is_made_here) made.publish_nothing(true);
  }
  context.filters = &filters;
  std::vector<std::unique_ptr<TopFilter>> top_filters;
  for (size_t i = 0; i < plan.top_filters; ++i) top_filters.push_back(std::make_unique<TopFilter>());
  context.top_filters = &top_filters;
  std::map<size_t, std::unique_ptr<OnPathChoice>> on_path;
  for (const ExecutablePlan::Stage& stage : plan.stages) {
    const auto& exchange = *stage.exchange->as<PhysicalExchange>();
    if (exchange.kind != PhysicalExchange::Kind::ToCombiner) continue;
    const CombiningTerms& terms = exchange.combining;
    const double lanes = combining_lanes(terms, context.exchanges->rank(), context.lanes);
    on_path.emplace(exchange.number, std::make_unique<OnPathChoice>(terms.link_seconds, terms.row_bytes, lanes, terms.may_be_off));
  }
  context.on_path = &on_path;
  prepare_outputs(plan, context);
  std::vector<Task<void>> all;
  RunningStages running_stages(plan.stages.size() + (plan.root ? 1 : 0), spreads);
  for (size_t stage : build_sides_first(plan)) all.push_back(run_and_count(run_stage(plan, stage, context, readers, ends), running_stages));
  size_t exchanges = context.exchanges == nullptr ? 0 : context.exchanges->count();
  for (const ExecutablePlan::Filter& filter : plan.filters) {
    auto topic = static_cast<uint32_t>(exchanges + filter.number);
    all.push_back(merge_filter(*filters.at(filter.number), topic, filter.is_same_everywhere, context));
  }
  for (const auto& [number, shared] : spreads) {
    auto topic = static_cast<uint32_t>(exchanges + plan.filter_numbers + number * BucketHelp::kTopics);
    all.push_back(shared->help.run(shared->spread, context.exchanges->notes(), topic));
  }
  if (plan.root) all.push_back(run_and_count(run_root(plan, context, sink, readers), running_stages));
  Task<void> running = when_all(std::move(all));
  co_await running;
}

}  // namespace pistachio
