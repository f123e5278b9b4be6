#include "exec/operators/scan_operator.h"

#include <algorithm>

#include "base/check.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "exec/adaptive/join_filter.h"
#include "exec/core/fault_hook.h"
#include "exec/core/small_chunks.h"
#include "exec/core/top_filter.h"
#include "network/exchange_hub.h"
#include "readers/row_file_scan.h"
#include "storage/device_scan.h"
#include "storage/table_scan.h"

namespace pistachio {

namespace {

// Smallest number of rows to decode together; shorter strips cost more than they save.
constexpr int64_t kShortestStrip = 4096;

// Chunks of a GPU scan are joined up to this fraction of device_chunk_bytes.
constexpr int64_t kSmallChunksInLarge = 8;

}  // namespace

ScanOperator::ScanOperator(std::vector<ColumnId> layout, const PhysicalScan& scan, uint32_t number, size_t scans_of_files)
    : Operator(std::move(layout)),
      table_(scan.table),
      sources_(scan.sources),
      filters_(scan.filters),
      is_split_(scan.is_split),
      join_filters_(scan.join_filters),
      top_filter_(scan.top_filter),
      number_(number),
      scans_of_files_(scans_of_files) {
  if (scan.row_tests.empty()) return;
  const ExpressionPtr condition = conjunction_of(scan.row_tests);
  const ColumnSet used = columns_of(*condition);
  std::vector<ColumnId> columns;
  for (size_t place = 0; place < layout_.size(); ++place) {
    if (!used.contains(layout_[place])) continue;
    tested_.push_back(place);
    columns.push_back(layout_[place]);
  }
  row_test_ = std::make_unique<const ExpressionEvaluator>(std::vector<ExpressionPtr>{condition}, columns);
}

Task<void> ScanOperator::produce(RunContext& context, ChunkSink& sink) {
  bool only_counts = sources_.empty() && filters_.empty() && table_->has_footers();
  Task<void> producing = only_counts                      ? produce_counts(context, sink)
                         : table_->has_footers()          ? produce_files(context, sink)
                         : table_->row_files() != nullptr ? produce_row_files(context, sink)
                                                          : produce_chunks(context, sink);
  co_await producing;
}

Task<bool> ScanOperator::wait_for_joins(RunContext& context, std::vector<RangeFilter>& bounds) {
  bool may_match = true;
  for (const ScanJoinFilter& wanted : join_filters_) {
    JoinFilter& filter = *context.filters->at(wanted.number);
    Task<void> waiting = filter.wait();
    co_await waiting;
    may_match = may_match && !filter.is_empty();
    for (size_t key = 0; key < wanted.columns.size(); ++key) {
      const TableColumnInfo& column = table_->columns()[sources_[wanted.columns[key]]];
      for (RangeFilter& bound : filter.bounds(key, column.name, column.type)) bounds.push_back(std::move(bound));
    }
  }
  co_return may_match;
}

bool ScanOperator::is_tested_by_storage(const ScanJoinFilter& filter) const {
  return table_->has_footers() && std::all_of(filter.columns.begin(), filter.columns.end(),
                                              [&](size_t place) { return table_->files().columns[sources_[place]].partition < 0; });
}

std::vector<ScanRequest::Test> ScanOperator::tests_of_joins(RunContext& context) {
  std::vector<ScanRequest::Test> tests;
  for (const ScanJoinFilter& wanted : join_filters_) {
    if (!is_tested_by_storage(wanted)) continue;
    JoinFilter* filter = context.filters->at(wanted.number).get();
    ScanRequest::Test& test = tests.emplace_back(ScanRequest::Test{{}, [filter](const std::vector<Column>& keys) { return filter->test(keys); }});
    for (size_t place : wanted.columns) test.columns.push_back(table_->columns()[sources_[place]].name);
  }
  return tests;
}

std::optional<ScanRequest::Threshold> ScanOperator::threshold_of_sort(RunContext& context, const CancelToken& token) const {
  if (!top_filter_) return std::nullopt;
  TopFilter* filter = context.top_filters->at(top_filter_->number).get();
  ScanRequest::Threshold made{table_->columns()[sources_[top_filter_->column]].name, top_filter_->descending, top_filter_->nulls_first,
                              [filter] { return filter->threshold(); }, {}};
  if (top_filter_->announces_rows) made.add = [filter, &token](const Column& keys) { filter->add_announced(keys, token); };
  return made;
}

ScanRequest::Test ScanOperator::test_of_rows(const CancelToken& token) const {
  ScanRequest::Test test;
  for (size_t place : tested_) test.columns.push_back(table_->columns()[sources_[place]].name);
  test.passes = [this, &token](const std::vector<Column>& columns) {
    return row_test_->evaluate_condition(Chunk(columns, columns[0].rows()), token);
  };
  return test;
}

// Applies the join filters and row tests that storage does not; it does so only on the host.
Chunk ScanOperator::passing(RunContext& context, Chunk chunk, const CancelToken& token) {
  const bool has_row_test = row_test_ != nullptr && !context.device.is_cpu();
  if (join_filters_.empty() && !has_row_test) return chunk;
  WorkTimer timer(metrics_);
  if (has_row_test) {
    std::vector<Column> columns;
    for (size_t place : tested_) columns.push_back(chunk.column(place));
    chunk = select_rows(chunk, row_test_->evaluate_condition(Chunk(std::move(columns), chunk.rows()), token));
  }
  for (const ScanJoinFilter& wanted : join_filters_) {
    if (context.device.is_cpu() && is_tested_by_storage(wanted)) continue;
    chunk = context.filters->at(wanted.number)->passing(chunk, wanted.columns);
  }
  return chunk;
}

// A scan without columns, as for count(*): the row counts are in the footers.
Task<void> ScanOperator::produce_counts(RunContext& context, ChunkSink& sink) {
  int64_t rows = table_->rows();
  if (is_split_ && !context.settings().local_files) {
    int64_t rank = context.exchanges->rank();
    int64_t ranks = context.exchanges->ranks();
    rows = rows / ranks + (rank < rows % ranks ? 1 : 0);
  }
  int64_t step = context.chunk_rows();
  for (int64_t done = 0; done < rows && !sink.is_full(); done += step) {
    Task<void> passing = pass_on(metrics_, sink, 0, Chunk({}, std::min(step, rows - done), context.device));
    co_await passing;
  }
}

// On several ranks, and on a GPU, all scans of a query run concurrently. A scan on the probe side of a join may hold rows in memory while
// it waits for the build side. If it could take more than its share, the scan of the build side might get none: a deadlock.
int64_t ScanOperator::memory_shares(const RunContext& context) const {
  const bool runs_alone = context.exchanges == nullptr && context.device.is_cpu();
  return runs_alone ? 1 : std::max<int64_t>(1, static_cast<int64_t>(scans_of_files_));
}

// Shortens strips if rows are so wide that a strip exceeds the scan's memory. Depends only on settings, which are the same on all ranks,
// since all ranks must make the same plan.
ScanPlan ScanOperator::plan_within(ScanLimits limits, const ScanRequest& request, int64_t threads) const {
  while (true) {
    ScanPlan plan = plan_scan(table_->files(), request, limits, threads);
    bool fits = std::all_of(plan.units.begin(), plan.units.end(),
                            [&](const ScanUnit& unit) { return unit.memory_bytes <= limits.memory_bytes / 2; });
    if (fits || limits.chunk_rows <= kShortestStrip) return plan;
    limits.chunk_rows = std::max(kShortestStrip, limits.chunk_rows / 4);
  }
}

std::unique_ptr<SharedUnits> ScanOperator::share_units(RunContext& context, ScanPlan& plan) {
  if (!is_split_ || context.settings().local_files) return nullptr;
  const Settings& settings = context.settings();
  // A blocking reader reads all of its units before it produces rows: it has none left to give away and should not take over more.
  bool asks_others = settings.scan_help && settings.reader != ReaderMode::Blocking;
  std::vector<std::vector<size_t>> shares = deal_units(plan, context.exchanges->ranks());
  put_first(plan, shares[static_cast<size_t>(context.exchanges->rank())]);
  return std::make_unique<SharedUnits>(context.exchanges->scan_shares(), number_, std::move(shares), context.exchanges->rank(), asks_others,
                                       TableScan::window(context.decoders, settings));
}

ScanRequest ScanOperator::request_for(RunContext& context, std::vector<RangeFilter> filters, const CancelToken& token) {
  ScanRequest request;
  request.filters = std::move(filters);
  request.first_need = int64_t{number_} << 32;
  // Set even if storage does not evaluate them here: ranks with and without a GPU must make the same plan.
  request.tests = tests_of_joins(context);
  if (row_test_ != nullptr) request.tests.push_back(test_of_rows(token));
  request.threshold = threshold_of_sort(context, token);
  for (size_t source : sources_) request.columns.push_back(table_->columns()[source].name);
  if (only_filters()) request.columns.push_back(filters_[0].column);
  return request;
}

Task<void> ScanOperator::produce_files(RunContext& context, ChunkSink& sink) {
  std::vector<RangeFilter> filters = filters_;
  Task<bool> waiting = wait_for_joins(context, filters);
  if (!co_await waiting) co_return;
  const TaskContext& task = co_await current_context();
  const ScanRequest request = request_for(context, std::move(filters), task.token);
  const int64_t shares = memory_shares(context);
  ScanLimits limits(context.settings());
  limits.memory_bytes /= shares;
  StorageContext storage = context.storage;
  if (std::optional<int64_t> whole = storage.memory.limit(); whole && shares > 1)
    storage.memory = storage.memory.make_child(table_->name(), *whole / shares);
  ScanPlan plan = plan_within(limits, request, storage.settings.threads);
  // Reading ahead into more than half of the memory would keep other operators from retaining rows. A blocking reader has all units at
  // once.
  if (context.device.is_cpu() && storage.settings.reader != ReaderMode::Blocking) {
    int64_t most = limits.memory_bytes / 2;
    for (const ScanUnit& unit : plan.units) most = std::max(most, unit.memory_bytes);
    storage.memory = storage.memory.make_child(table_->name(), most);
  }
  std::unique_ptr<SharedUnits> units = share_units(context, plan);
  ScanCounters counters;
  counters.spans = metrics_.spans;
  auto select = [&](Chunk scanned) {
    reach(context, FaultPoint::ScanChunk);
    Chunk chunk = only_filters() ? Chunk({}, scanned.rows(), context.device) : std::move(scanned);
    metrics_.bytes += chunk.memory_bytes();
    return passing(context, std::move(chunk), task.token);
  };
  const FileScan scan{storage, plan, counters, units.get(), select};
  Task<void> running = context.device.is_cpu() ? scan_on_host(context, scan, sink) : scan_on_device(context, scan, sink);
  co_await running;
  metrics_.nanoseconds += counters.nanoseconds;
  metrics_.device_waits.add(counters.device_waits);
  if (units) metrics_.from_others += units->from_others();
}

Task<void> ScanOperator::scan_on_host(RunContext& context, const FileScan& files, ChunkSink& sink) {
  TableScan scan(files.storage, files.plan, files.counters, files.units);
  std::atomic<int> next_lane = 0;
  auto consume = [&](ScanLane& lane) -> Task<void> {
    int number = next_lane++;
    while (true) {
      if (sink.is_full()) scan.stop();
      Task<std::optional<ScannedChunk>> taking = lane.next();
      std::optional<ScannedChunk> scanned = co_await taking;
      if (!scanned) co_return;
      Task<void> passing = pass_on(metrics_, sink, number, files.select(std::move(scanned->chunk)));
      co_await passing;
    }
  };
  Task<void> running = scan.run(context.lanes, consume);
  co_await running;
}

Task<void> ScanOperator::scan_on_device(RunContext& context, const FileScan& files, ChunkSink& sink) {
  const Settings& settings = files.storage.settings;
  DeviceScan scan(files.storage, files.plan, files.counters, files.units, context.device);
  std::vector<SmallChunks> small(static_cast<size_t>(context.lanes), SmallChunks(settings.device_chunk_bytes / kSmallChunksInLarge));
  auto consume = [&](int lane, Chunk scanned) -> Task<void> {
    if (sink.is_full()) scan.stop();
    std::optional<Chunk> rows = small[static_cast<size_t>(lane)].add(files.select(std::move(scanned)));
    if (!rows) co_return;
    Task<void> passing = pass_on(metrics_, sink, lane, std::move(*rows));
    co_await passing;
  };
  const DeviceScan::Lanes lanes{context.decoders, static_cast<int>(settings.device_scan_lanes), context.lanes};
  Task<void> running = scan.run(lanes, consume);
  co_await running;
  for (int lane = 0; lane < context.lanes; ++lane) {
    std::optional<Chunk> rows = small[static_cast<size_t>(lane)].take();
    if (!rows) continue;
    Task<void> passing = pass_on(metrics_, sink, lane, std::move(*rows));
    co_await passing;
  }
}

Task<void> ScanOperator::produce_row_files(RunContext& context, ChunkSink& sink) {
  ENSURE(filters_.empty());
  std::vector<RangeFilter> bounds;  // not used: there are no statistics to prune by
  Task<bool> waiting = wait_for_joins(context, bounds);
  if (!co_await waiting) co_return;
  const TaskContext& task = co_await current_context();
  RowFileShare share;
  if (is_split_) share = {context.exchanges->rank(), context.exchanges->ranks()};
  StorageContext storage = context.storage;
  // As for Parquet files: reading ahead must leave room for the other scans and operators.
  if (std::optional<int64_t> whole = storage.memory.limit())
    storage.memory = storage.memory.make_child(table_->name(), *whole / (2 * memory_shares(context)));
  ScanCounters counters;
  counters.spans = metrics_.spans;
  RowFileScan scan(storage, *table_->row_files(), sources_, share, int64_t{number_} << 32, counters);
  ChunkCopier copier(context.device);
  auto consume = [&](int lane, Chunk chunk) -> Task<void> {
    reach(context, FaultPoint::ScanChunk);
    if (sink.is_full()) scan.stop();
    metrics_.bytes += chunk.memory_bytes();
    Task<void> handing = pass_on(metrics_, sink, lane, passing(context, copier.copy(std::move(chunk)), task.token));
    co_await handing;
  };
  Task<void> running = scan.run(context.lanes, consume);
  co_await running;
  metrics_.nanoseconds += counters.nanoseconds;
  metrics_.skipped_records += scan.skipped_records();
}

Task<void> ScanOperator::produce_chunks(RunContext& context, ChunkSink& sink) {
  ENSURE(filters_.empty());
  std::vector<RangeFilter> bounds;  // not used: pruning does not pay for rows in memory
  Task<bool> waiting = wait_for_joins(context, bounds);
  if (!co_await waiting) co_return;
  int64_t step = context.chunk_rows();
  struct Piece {
    const Chunk* chunk;
    int64_t begin;
  };
  std::vector<Piece> pieces;
  for (const Chunk& chunk : table_->chunks()) {
    for (int64_t begin = 0; begin < chunk.rows(); begin += step) pieces.push_back({&chunk, begin});
  }
  const TaskContext& task = co_await current_context();
  ChunkCopier copier(context.device);
  auto produce_one = [&](int lane, int64_t index) -> Task<void> {
    if (sink.is_full()) co_return;
    const Piece& piece = pieces[static_cast<size_t>(index)];
    int64_t count = std::min(step, piece.chunk->rows() - piece.begin);
    std::vector<Column> columns;
    for (size_t source : sources_) columns.push_back(piece.chunk->column(source).slice(piece.begin, count));
    Task<void> handing = pass_on(metrics_, sink, lane, passing(context, copier.copy(Chunk(std::move(columns), count)), task.token));
    co_await handing;
  };
  Task<void> all = for_each_lane(context, static_cast<int64_t>(pieces.size()), produce_one);
  co_await all;
}

Task<void> ValuesOperator::produce(RunContext& context, ChunkSink& sink) {
  Task<void> passing = pass_on_in_steps(metrics_, sink, 0, to_device(rows_, context.device), context.chunk_rows());
  co_await passing;
}

}  // namespace pistachio
