#include "exec/operators/join_operator.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/check.h"
#include "base/error.h"
#include "base/scheduler.h"
#include "base/task_group.h"
#include "columns/decode_dictionary.h"
#include "columns/device_copy.h"
#include "columns/own_column.h"
#include "columns/row_selection.h"
#include "exec/adaptive/bucket_help.h"
#include "exec/adaptive/join_filter.h"
#include "exec/core/fault_hook.h"
#include "exec/core/held_chunks.h"
#include "exec/core/row_collector.h"
#include "exec/operators/join_candidates.h"
#include "expr/expression_evaluator.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/tensor_functions.h"
#include "memory/channel.h"

namespace pistachio {

namespace {

// A condition on pairs, with the places of the columns it uses.
struct PairCondition {
  std::vector<size_t> left;
  std::vector<size_t> right;
  ExpressionEvaluator evaluator;
};

std::optional<PairCondition> make_pair_condition(const Operator& left, const Operator& right,
                                                 const std::vector<ExpressionPtr>& conditions) {
  if (conditions.empty()) return std::nullopt;
  ExpressionPtr condition = conjunction_of(conditions);
  ColumnSet used = columns_of(*condition);
  std::vector<ColumnId> layout;
  auto choose = [&](const Operator& side) {
    std::vector<size_t> places;
    for (size_t i = 0; i < side.layout().size(); ++i) {
      if (!used.contains(side.layout()[i])) continue;
      places.push_back(i);
      layout.push_back(side.layout()[i]);
    }
    return places;
  };
  std::vector<size_t> left_places = choose(left);
  std::vector<size_t> right_places = choose(right);
  return PairCondition{left_places, right_places, ExpressionEvaluator({condition}, layout)};
}

bool gives_pairs(JoinKind kind) {
  return kind == JoinKind::Inner || kind == JoinKind::Left || kind == JoinKind::Right || kind == JoinKind::Full || kind == JoinKind::Single;
}

// Whether rows of the build side go on according to whether the whole left side matched them.
bool asks_for_matched_build_rows(JoinKind kind) {
  return kind == JoinKind::Right || kind == JoinKind::Full || kind == JoinKind::RightSemi || kind == JoinKind::RightAnti;
}

}  // namespace

// The right input as one chunk, and how to find candidates in it. Read-only once built, except that each lane notes which rows it matched.
class JoinOperator::BuildSide {
 public:
  BuildSide(JoinOperator& owner, RunContext& context) : owner_(owner), account_(context.memory.make_child("join")) {}

  Task<void> read(RunContext& context) {
    RowCollector collector(account_, context.lanes);
    Task<void> producing = owner_.right_->produce(context, collector);
    co_await producing;
    reach(context, FaultPoint::BuildCollected);
    const TaskContext& task = co_await current_context();
    WorkTimer timer(owner_.metrics_);
    owner_.metrics_.bytes = collector.bytes();
    RowCollector::Rows all = collector.take_all(owner_.right_types_, context.device, task.token);
    rows_ = std::move(all.chunk);
    memory_ = std::move(all.memory);
    if (asks_for_matched_build_rows(owner_.plan_.kind)) {
      memory_.push_back(account_.reserve_now(rows_.rows() * context.lanes, ReservationKind::Held));
      for (int lane = 0; lane < context.lanes; ++lane) matched_.push_back(at::zeros({rows_.rows()}, context.tensors_of(at::kBool)));
    }
    if (owner_.plan_.filter && context.filters != nullptr) tell_filter(context, task.token);
    candidates_ =
        make_join_candidates(owner_.plan_, owner_.left_->layout(), owner_.right_->layout(), rows_, account_, context.device, task.token);
    reach(context, FaultPoint::BuildFinished);
  }

  // Build rows of another rank's buckets.
  void take(RunContext& context, const std::vector<Chunk>& chunks) {
    int64_t bytes = 0;
    for (const Chunk& chunk : chunks) {
      bytes += chunk.memory_bytes();
      for (const Column& column : chunk.columns()) bytes += column.is_dictionary() ? column.dictionary_column()->memory_bytes() : 0;
    }
    memory_.push_back(account_.reserve_now(2 * bytes, ReservationKind::Held));
    std::vector<Chunk> here;
    for (const Chunk& chunk : chunks) here.push_back(to_device(chunk, context.device));
    rows_ = concatenate_chunks(here, owner_.right_types_, context.device);
    // A message or a few: too little to be worth stopping.
    candidates_ = make_join_candidates(owner_.plan_, owner_.left_->layout(), owner_.right_->layout(), rows_, account_, context.device, {});
  }

  const Chunk& rows() const { return rows_; }
  const JoinCandidates& candidates() const { return *candidates_; }
  bool notes_matches() const { return !matched_.empty(); }
  void note_matches(int lane, const at::Tensor& rows) { matched_[static_cast<size_t>(lane)].index_fill_(0, rows, true); }
  // The rows that some lane matched, or those that none did.
  at::Tensor rows_by_match(bool wanted) const {
    at::Tensor any = matched_[0];
    for (size_t lane = 1; lane < matched_.size(); ++lane) any = any.logical_or(matched_[lane]);
    if (at::Tensor groups = candidates_->groups(); groups.defined()) any = any.index_select(0, groups);
    return (wanted ? any : any.logical_not()).nonzero().view({-1});
  }

 private:
  void tell_filter(RunContext& context, const CancelToken& token) {
    std::vector<ExpressionPtr> keys;
    for (size_t key : owner_.plan_.filter->keys) keys.push_back(owner_.plan_.keys[key].right);
    JoinFilter& filter = *context.filters->at(owner_.plan_.filter->number);
    filter.publish_local(ExpressionEvaluator(keys, owner_.right_->layout()).evaluate(rows_, token), token);
  }

  JoinOperator& owner_;
  MemoryAccount account_;
  std::vector<Reservation> memory_;
  Chunk rows_;
  std::unique_ptr<JoinCandidates> candidates_;
  std::vector<at::Tensor> matched_;  // for each lane: rows, or groups of them
};

// Streams the left input through the table.
class JoinOperator::Probe final : public ChunkSink {
 public:
  Probe(JoinOperator& owner, BuildSide& build, RunContext& context, ChunkSink& next)
      : owner_(owner),
        plan_(owner.plan_),
        build_(build),
        context_(context),
        next_(next),
        most_pairs_(std::max<int64_t>(1, context.chunk_rows())),
        flags_(context.tensors_of(at::kBool)),
        conditions_(make_pair_condition(*owner.left_, *owner.right_, plan_.conditions)),
        comparisons_(make_pair_condition(*owner.left_, *owner.right_, plan_.comparisons)) {}

  bool is_full() const override { return next_.is_full(); }

  Task<void> consume(int lane, Chunk chunk) override {
    reach(context_, FaultPoint::ProbeChunk);
    State state{at::zeros({chunk.rows()}, flags_), at::zeros({chunk.rows()}, flags_)};
    const TaskContext& task = co_await current_context();
    std::unique_ptr<JoinCandidates::Search> search = start(chunk, task.token);
    while (true) {
      std::optional<Pairs> pairs = next_pairs(chunk, *search, task.token);
      if (!pairs) break;
      note(*pairs, state, lane);
      bool emits = gives_pairs(plan_.kind) && pairs->left.numel() > 0;
      if (emits) {
        Task<void> passing = pass_on(owner_.metrics_, next_, lane, pair_chunk(chunk, *pairs));
        co_await passing;
      }
      if (is_full()) co_return;
      // A chunk may have any number of candidates: others get their turn, and cancellation is noticed.
      co_await reschedule();
    }
    Chunk rest = finish(chunk, state);
    Task<void> passing = pass_on(owner_.metrics_, next_, lane, std::move(rest));
    co_await passing;
  }

 private:
  struct Pairs : RowPairs {
    // Mark: left rows of pairs whose comparison is unknown.
    at::Tensor unknown_left;
  };

  // What is known of the chunk's rows so far.
  struct State {
    at::Tensor matched;
    at::Tensor unknown;
  };

  std::unique_ptr<JoinCandidates::Search> start(const Chunk& chunk, const CancelToken& token) {
    WorkTimer timer(owner_.metrics_);
    return build_.candidates().search(chunk, token);
  }

  std::optional<Pairs> next_pairs(const Chunk& chunk, JoinCandidates::Search& search, const CancelToken& token) {
    WorkTimer timer(owner_.metrics_);
    std::optional<RowPairs> found = search.next(most_pairs_);
    if (!found) return std::nullopt;
    Pairs pairs{std::move(*found), {}};
    if (pairs.left.numel() == 0) return pairs;
    if (!plan_.conditions.empty())
      keep(pairs, conditions_->evaluator.evaluate_condition(gather(chunk, pairs, conditions_->left, conditions_->right), token));
    if (!plan_.comparisons.empty() && pairs.left.numel() > 0) compare(chunk, pairs, token);
    if (pairs.is_unknown) note_unknown(pairs);
    return pairs;
  }

  static void note_unknown(Pairs& pairs) {
    pairs.unknown_left = pairs.left;
    pairs.left = pairs.left.slice(0, 0, 0);
    pairs.right = pairs.right.slice(0, 0, 0);
  }

  static void keep(Pairs& pairs, const at::Tensor& mask) {
    if (kernels::count_true(mask) == mask.numel()) return;
    pairs.left = kernels::compress(pairs.left, mask);
    pairs.right = kernels::compress(pairs.right, mask);
  }

  // Three-valued: true pairs stay, unknown ones are noted.
  void compare(const Chunk& chunk, Pairs& pairs, const CancelToken& token) {
    Chunk gathered = gather(chunk, pairs, comparisons_->left, comparisons_->right);
    Column outcome = decode_dictionary(comparisons_->evaluator.evaluate(gathered, token)[0]);
    at::Tensor is_true = outcome.values();
    if (outcome.has_validity()) {
      is_true = is_true.logical_and(outcome.validity());
      pairs.unknown_left = kernels::compress(pairs.left, outcome.validity().logical_not());
    }
    keep(pairs, is_true);
  }

  // The columns that an evaluator uses, gathered for the pairs; the others stay empty.
  Chunk gather(const Chunk& chunk, const Pairs& pairs, const std::vector<size_t>& left, const std::vector<size_t>& right) {
    std::vector<Column> columns;
    columns.reserve(left.size() + right.size());
    for (size_t place : left) columns.push_back(take_rows(chunk.column(place), pairs.left));
    for (size_t place : right) columns.push_back(take_rows(build_.rows().column(place), pairs.right));
    return Chunk(std::move(columns), pairs.left.numel(), chunk.device());
  }

  Chunk pair_chunk(const Chunk& chunk, const Pairs& pairs) {
    WorkTimer timer(owner_.metrics_);
    return gather(chunk, pairs, owner_.left_places_, owner_.right_places_);
  }

  // Left rows that pass by themselves; the places of the right side are empty.
  std::vector<Column> left_columns(const Chunk& chunk, const at::Tensor& mask) {
    const int64_t selected = mask.defined() ? kernels::count_true(mask) : chunk.rows();
    std::vector<Column> columns;
    for (size_t place : owner_.left_places_) columns.push_back(select_rows(chunk.column(place), mask, selected));
    return columns;
  }

  void note(const Pairs& pairs, State& state, int lane) {
    WorkTimer timer(owner_.metrics_);
    if (pairs.unknown_left.defined()) state.unknown.index_fill_(0, pairs.unknown_left, true);
    if (pairs.left.numel() == 0) return;
    if (plan_.kind == JoinKind::Single) refuse_second_match(pairs, state);
    if (asks_for_left_matches()) state.matched.index_fill_(0, pairs.left, true);
    if (build_.notes_matches()) build_.note_matches(lane, pairs.right);
  }

  bool asks_for_left_matches() const {
    return plan_.kind != JoinKind::Inner && plan_.kind != JoinKind::Right && plan_.kind != JoinKind::RightSemi &&
           plan_.kind != JoinKind::RightAnti;
  }

  // Pairs come by left row: a second match is a neighbour, or a row that matched before.
  static void refuse_second_match(const Pairs& pairs, const State& state) {
    int64_t count = pairs.left.numel();
    bool again = count > 1 && pairs.left.slice(0, 1).eq(pairs.left.slice(0, 0, count - 1)).any().item<bool>();
    again = again || state.matched.index_select(0, pairs.left).any().item<bool>();
    if (again) throw UserError("a subquery used as a value gave more than one row");
  }

  Chunk finish(const Chunk& chunk, const State& state) {
    WorkTimer timer(owner_.metrics_);
    switch (plan_.kind) {
      case JoinKind::Inner:
      case JoinKind::Right:
      case JoinKind::RightSemi:
      case JoinKind::RightAnti: return Chunk();
      case JoinKind::Semi: return Chunk(left_columns(chunk, state.matched), kernels::count_true(state.matched), chunk.device());
      case JoinKind::Anti: {
        at::Tensor alone = state.matched.logical_not();
        return Chunk(left_columns(chunk, alone), kernels::count_true(alone), chunk.device());
      }
      case JoinKind::Mark: {
        std::vector<Column> columns = left_columns(chunk, {});
        if (!owner_.gives_mark_) return Chunk(std::move(columns), chunk.rows(), chunk.device());
        at::Tensor open = state.unknown.logical_and(state.matched.logical_not());
        bool has_nulls = kernels::count_true(open) > 0;
        columns.push_back(Column::fixed(TypeKind::Boolean, state.matched, has_nulls ? open.logical_not() : at::Tensor()));
        return Chunk(std::move(columns), chunk.rows(), chunk.device());
      }
      case JoinKind::Left:
      case JoinKind::Full:
      case JoinKind::Single: {
        at::Tensor alone = state.matched.logical_not();
        int64_t rows = kernels::count_true(alone);
        if (rows == 0) return Chunk();
        std::vector<Column> columns = left_columns(chunk, alone);
        for (size_t place : owner_.right_places_) columns.push_back(null_column(owner_.right_types_[place], rows, flags_.device()));
        return Chunk(std::move(columns), rows, chunk.device());
      }
    }
    fail_check(__FILE__, __LINE__, "unknown join kind");
  }

  JoinOperator& owner_;
  const PhysicalJoin& plan_;
  BuildSide& build_;
  const RunContext& context_;
  ChunkSink& next_;
  int64_t most_pairs_;
  at::TensorOptions flags_;
  std::optional<PairCondition> conditions_;
  std::optional<PairCondition> comparisons_;
};

// Holds the chunks of a left input that is read while the build side still is.
class JoinOperator::GatedProbe final : public ChunkSink {
 public:
  explicit GatedProbe(ChunkSink& probe) : probe_(probe) {}

  // The build side is read; if nothing can match, the left input may stop.
  void open(bool wants_rows) {
    wants_rows_ = wants_rows;
    is_open_.close();
  }

  bool is_full() const override { return !wants_rows_ || probe_.is_full(); }

  Task<void> consume(int lane, Chunk chunk) override {
    Task<std::optional<int>> waiting = is_open_.receive();
    co_await waiting;
    if (is_full()) co_return;
    Task<void> probing = probe_.consume(lane, std::move(chunk));
    co_await probing;
  }

 private:
  ChunkSink& probe_;
  std::atomic<bool> wants_rows_ = true;
  Channel<int> is_open_{0};  // closed once open
};

// A probe that may take over buckets of other ranks while it runs. Each time brings a table of its own.
class JoinOperator::HelpingProbe final : public ChunkSink, public BucketHelp::Join {
 public:
  HelpingProbe(JoinOperator& owner, BuildSide& build, RunContext& context, ChunkSink& next)
      : owner_(owner),
        context_(context),
        next_(next),
        build_(build),
        probe_keys_(owner.spread_->probe, owner.left_->layout()),
        build_keys_(owner.spread_->build, owner.right_->layout()),
        table_of_bucket_(at::zeros({kBuckets}, at::kLong)) {
    probes_.push_back(std::make_unique<Probe>(owner, build, context, next));
  }

  bool is_full() const override { return next_.is_full(); }

  Task<void> consume(int lane, Chunk chunk) override {
    Tables tables = this->tables();
    if (tables.probes.size() == 1) {
      Task<void> probing = tables.probes[0]->consume(lane, std::move(chunk));
      co_await probing;
      co_return;
    }
    const TaskContext& task = co_await current_context();
    at::Tensor table = tables.of_bucket.index_select(0, buckets_of(routing_hashes(probe_keys_.evaluate(chunk, task.token))));
    for (size_t i = 0; i < tables.probes.size(); ++i) {
      at::Tensor mask = table.eq(static_cast<int64_t>(i));
      const int64_t selected = kernels::count_true(mask);
      if (selected == 0) continue;
      Task<void> probing = tables.probes[i]->consume(lane, select_rows(chunk, mask, selected));
      co_await probing;
    }
  }

  // Step by step: hashes of all build rows at once would be memory that nobody has reserved.
  std::optional<Chunk> build_rows(const BucketHelp::Buckets& buckets, int64_t most_bytes) override {
    MemoryAccount account = context_.memory.make_child("help");
    Reservation memory = account.reserve_now(2 * most_bytes, ReservationKind::Held);
    at::Tensor wanted = at::zeros({kBuckets}, at::kBool);
    for (size_t bucket = 0; bucket < buckets.size(); ++bucket) wanted.mutable_data_ptr<bool>()[bucket] = buckets[bucket];
    wanted = wanted.to(context_.device);
    std::vector<Chunk> found;
    int64_t found_rows = 0;
    int64_t found_bytes = 0;
    int64_t step = context_.chunk_rows();
    for (int64_t begin = 0; begin < build_.rows().rows(); begin += step) {
      Chunk part = build_.rows().slice(begin, std::min(step, build_.rows().rows() - begin));
      at::Tensor mask = wanted.index_select(0, buckets_of(routing_hashes(build_keys_.evaluate(part))));
      int64_t rows = kernels::count_true(mask);
      if (rows == 0) continue;
      found_rows += rows;
      if (found_rows > kMostToldRows) return std::nullopt;
      Chunk selected = select_rows(part, mask, rows);
      std::vector<Column> columns;  // without the texts of other rows
      for (const Column& column : selected.columns()) columns.push_back(own_column(column));
      found.emplace_back(std::move(columns), rows, part.device());
      found_bytes += found.back().memory_bytes();
      if (found_bytes > most_bytes) return std::nullopt;
    }
    return concatenate_chunks(found, owner_.right_types_, context_.device);
  }

  void take_over(const BucketHelp::Buckets& buckets, std::vector<Chunk> rows) override {
    auto build = std::make_unique<BuildSide>(owner_, context_);
    build->take(context_, rows);
    auto probe = std::make_unique<Probe>(owner_, *build, context_, next_);
    std::lock_guard lock(mutex_);
    at::Tensor tables = table_of_bucket_.clone();
    for (size_t bucket = 0; bucket < buckets.size(); ++bucket) {
      if (buckets[bucket]) tables.mutable_data_ptr<int64_t>()[bucket] = static_cast<int64_t>(probes_.size());
    }
    table_of_bucket_ = tables;
    builds_.push_back(std::move(build));
    probes_.push_back(std::move(probe));
    owner_.metrics_.from_others += std::count(buckets.begin(), buckets.end(), true);
  }

 private:
  // More build rows than this are not worth sending to everyone.
  static constexpr int64_t kMostToldRows = 1 << 17;

  struct Tables {
    at::Tensor of_bucket;
    std::vector<Probe*> probes;
  };
  Tables tables() {
    std::lock_guard lock(mutex_);
    Tables made;
    for (const std::unique_ptr<Probe>& probe : probes_) made.probes.push_back(probe.get());
    if (probes_.size() > 1) made.of_bucket = table_of_bucket_.to(context_.device);
    return made;
  }

  JoinOperator& owner_;
  RunContext& context_;
  ChunkSink& next_;
  BuildSide& build_;
  ExpressionEvaluator probe_keys_;
  ExpressionEvaluator build_keys_;
  std::mutex mutex_;
  // Guarded by mutex_; what is in the lists stays.
  at::Tensor table_of_bucket_;  // int64 [kBuckets]: which probe
  std::vector<std::unique_ptr<BuildSide>> builds_;
  std::vector<std::unique_ptr<Probe>> probes_;  // the first one is of this rank's own build rows
};

JoinOperator::JoinOperator(OperatorPtr left, OperatorPtr right, const PhysicalJoin& plan, std::vector<ColumnId> layout,
                           std::vector<LogicalType> left_types, std::vector<LogicalType> right_types, std::optional<SpreadKeys> spread)
    : Operator(std::move(layout)),
      left_(std::move(left)),
      right_(std::move(right)),
      plan_(plan),
      left_types_(std::move(left_types)),
      right_types_(std::move(right_types)),
      spread_(std::move(spread)) {
  const ColumnSet given(layout_.begin(), layout_.end());
  auto goes_on = [&](ColumnId id) { return given.contains(id); };
  auto places_in = [&](const Operator& side) {
    std::vector<size_t> places;
    for (size_t i = 0; i < side.layout().size(); ++i) {
      if (goes_on(side.layout()[i])) places.push_back(i);
    }
    return places;
  };
  left_places_ = places_in(*left_);
  right_places_ = places_in(*right_);
  gives_mark_ = plan_.kind == JoinKind::Mark && goes_on(plan_.mark);
}

Task<void> JoinOperator::produce(RunContext& context, ChunkSink& sink) {
  BuildSide build(*this, context);
  // The small inputs of a query keep a GPU waiting: a scan takes milliseconds until its first chunk is there, whatever its size. The cores of a
  // CPU are busy with one input at a time, and the rows that wait would only take memory.
  const bool reads_both = !context.device.is_cpu() && context.exchanges == nullptr;
  Task<void> joining = reads_both ? join_while_building(context, build, sink) : join_after_building(context, build, sink);
  co_await joining;
  if (!build.notes_matches() || build.rows().rows() == 0) co_return;
  Task<void> producing = produce_build_rows(context, build, build.rows_by_match(plan_.kind == JoinKind::RightSemi), sink);
  co_await producing;
}

bool JoinOperator::wants_left_rows(const BuildSide& build) const {
  return build.rows().rows() > 0 || plan_.kind == JoinKind::Left || plan_.kind == JoinKind::Full || plan_.kind == JoinKind::Anti ||
         plan_.kind == JoinKind::Mark || plan_.kind == JoinKind::Single;
}

Task<void> JoinOperator::join_after_building(RunContext& context, BuildSide& build, ChunkSink& sink) {
  Task<void> reading = build.read(context);
  co_await reading;
  if (wants_left_rows(build)) {
    Task<void> probing = probe(context, build, sink);
    co_await probing;
  } else if (spread_) {
    context.spreads->at(spread_->exchange)->help.join_ends();
  }
}

Task<void> JoinOperator::join_while_building(RunContext& context, BuildSide& build, ChunkSink& sink) {
  Probe probe(*this, build, context, sink);
  GatedProbe gate(probe);
  auto build_and_open = [&]() -> Task<void> {
    Task<void> reading = build.read(context);
    co_await reading;
    gate.open(wants_left_rows(build));
  };
  auto both = [&](TaskGroup& group) -> Task<void> {
    group.spawn(build_and_open());
    Task<void> probing = left_->produce(context, gate);
    co_await probing;
  };
  co_await with_task_group(both);
}

Task<void> JoinOperator::probe(RunContext& context, BuildSide& build, ChunkSink& sink) {
  if (!spread_) {
    Probe probe(*this, build, context, sink);
    Task<void> probing = left_->produce(context, probe);
    co_await probing;
    co_return;
  }
  HelpingProbe probe(*this, build, context, sink);
  BucketHelp& help = context.spreads->at(spread_->exchange)->help;
  struct Taking {
    BucketHelp& help;
    ~Taking() { help.join_ends(); }
  } taking{help};
  help.join_begins(probe);
  Task<void> probing = left_->produce(context, probe);
  co_await probing;
}

Task<void> JoinOperator::produce_build_rows(RunContext& context, const BuildSide& build, at::Tensor rows, ChunkSink& sink) {
  int64_t step = context.chunk_rows();
  for (int64_t begin = 0; begin < rows.numel() && !sink.is_full(); begin += step) {
    at::Tensor part = rows.slice(0, begin, std::min(begin + step, rows.numel()));
    std::vector<Column> columns;
    for (size_t place : left_places_) columns.push_back(null_column(left_types_[place], part.numel(), context.device));
    for (size_t place : right_places_) columns.push_back(take_rows(build.rows().column(place), part));
    Task<void> passing = pass_on(metrics_, sink, 0, Chunk(std::move(columns), part.numel(), context.device));
    co_await passing;
  }
}

}  // namespace pistachio
