// The operator contract. Producers push chunks into a sink, on several lanes concurrently. A streaming operator is a sink that forwards
// transformed chunks; a blocking operator consumes all input, then produces. Operators are immutable plans: run state lives in the coroutine
// frame of `produce` and in the sinks it creates. All work is kernel calls on whole columns.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "base/added_time.h"
#include "base/task.h"
#include "config/settings.h"
#include "data/chunk.h"
#include "expr/expression.h"
#include "kernels/ops/device_waits.h"
#include "memory/memory_account.h"
#include "storage/storage_context.h"

namespace pistachio {

struct SharedBuckets;
class JoinFilter;
class OnPathChoice;
class QueryExchanges;
class QuerySpill;
class TopFilter;

// How the steps of a distributed query overlap. The defaults overlap most; the other schedules are slower and serve as a comparison.
struct ExchangeSchedule {
  bool build_first = false;  // the probe side of a join is read once the build side has been sent
  bool hold_rows = false;    // an exchange sends once it has all input rows, and forwards received rows once all have arrived
  bool one_message = false;  // all rows for a rank are sent as one message, however large

  static ExchangeSchedule of(const Settings& settings);
};

// State that the operators of one run share on one rank. Operators only read it; the comments say who fills which members.
struct RunContext {
  // Filled by PlanRun (engine/query_pipeline), from the engine and the query's scope.
  StorageContext& storage;
  MemoryAccount memory;  // operators make child accounts of it for what they retain
  QuerySpill& spill;     // where retained rows go when memory runs short
  // Tasks that carry chunks through operators concurrently. Few on a GPU: each waits for the results of its kernels, and many would compete
  // for the device.
  int lanes = 1;
  at::Device device = at::kCPU;  // where operators keep their tensors
  // Whether joins read both inputs at the same time: a scan takes milliseconds to produce its first chunk on a GPU, however small its
  // table, and the GPU would idle meanwhile. A CPU is kept busy by one input at a time, and waiting rows would only take memory.
  bool reads_both_inputs = false;
  // Tasks that read, decompress and decode files on the host concurrently.
  int decoders = 1;
  ExchangeSchedule schedule;

  // Filled by PlanRun, from the RankService, if the query runs on several ranks.
  QueryExchanges* exchanges = nullptr;  // null: a single rank
  int64_t message_bytes = 1 << 20;      // rows for another rank are buffered up to this size; 0: no buffering

  // Filled by run_stages (exec/pipeline), which owns them, before the first operator runs.
  // Joins whose frequent keys are spread over all ranks, by the number of their probe side's exchange.
  const std::map<size_t, std::unique_ptr<SharedBuckets>>* spreads = nullptr;
  // Join filters by their number.
  const std::map<size_t, std::unique_ptr<JoinFilter>>* filters = nullptr;
  // What sorts with a limit tell the scans below them, by the number of the filter.
  const std::vector<std::unique_ptr<TopFilter>>* top_filters = nullptr;
  // Whether partial results are merged on their host, by the number of the exchange that sends them to the merging rank.
  const std::map<size_t, std::unique_ptr<OnPathChoice>>* on_path = nullptr;

  const Settings& settings() const { return storage.settings; }
  // Upper bound on the rows of a chunk that an operator emits.
  int64_t chunk_rows() const;
  // Whether work on this many retained rows is to be divided among the lanes. A GPU processes them in one call.
  bool needs_all_lanes(int64_t rows) const { return device.is_cpu() && lanes > 1 && rows > chunk_rows(); }
  at::TensorOptions tensors_of(at::ScalarType type) const { return at::TensorOptions(type).device(device); }
};

class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  // One call per lane at a time; lanes run concurrently.
  virtual Task<void> consume(int lane, Chunk chunk) = 0;
  // The lane passes the rows of this message next, which may arrive out of order; readers of exchanges call it.
  virtual void begin_message(int /*lane*/, int /*source*/, int64_t /*number*/) {}
  // The sink needs no more rows: producers may stop early.
  virtual bool is_full() const { return false; }
};

// Figures of one operator in one run, for EXPLAIN ANALYZE.
struct OperatorMetrics {
  std::atomic<int64_t> rows = 0;
  std::atomic<int64_t> chunks = 0;
  std::atomic<int64_t> nanoseconds = 0;  // of work in this operator, summed over lanes
  std::atomic<int64_t> bytes = 0;        // read or sent; for operators that retain rows, peak memory
  std::atomic<int64_t> spilled = 0;      // bytes written to disk
  std::atomic<int64_t> from_others = 0;  // scan: units taken over from other ranks; join: buckets taken over from them
  std::atomic<int64_t> skipped_records = 0;  // scan: bad lines of files that the query ignores
  kernels::DeviceWaits device_waits;     // if they are counted
  SpanTarget spans;                      // set before the run, if it is traced
  // Merging partial results in transit: rows that entered the tables, and how many of those were merged into others. If the ranks choose
  // (on_path = auto): whether merging was on at the end (1 or 0; -1: no choice), how often that changed, the merged share in percent
  // that was expected here, on arrival, and that was needed for merging to pay, and the picoseconds of a row that this follows from.
  std::atomic<int64_t> rows_to_merge = 0;
  std::atomic<int64_t> rows_merged = 0;
  std::atomic<int64_t> merging_is_on = -1;
  std::atomic<int64_t> merging_changes = 0;
  std::atomic<int64_t> expected_percent = 0;
  std::atomic<int64_t> arrival_percent = 0;
  std::atomic<int64_t> needed_percent = 0;
  std::atomic<int64_t> picoseconds_to_produce = 0;
  std::atomic<int64_t> picoseconds_to_merge = 0;
  std::atomic<int64_t> picoseconds_on_link = 0;
};

class Operator {
 public:
  explicit Operator(std::vector<ColumnId> layout) : layout_(std::move(layout)) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  // Pushes all chunks into the sink; ends when the last one was consumed. Chunks have the columns of layout() and at least one row.
  virtual Task<void> produce(RunContext& context, ChunkSink& sink) = 0;

  const std::vector<ColumnId>& layout() const { return layout_; }
  OperatorMetrics& metrics() { return metrics_; }

 protected:
  std::vector<ColumnId> layout_;
  OperatorMetrics metrics_;
};

using OperatorPtr = std::unique_ptr<Operator>;

// Adds the time until the end of the block to an operator's metrics, and this thread's waits for a GPU. Only for blocks without co_await.
class WorkTimer {
 public:
  explicit WorkTimer(OperatorMetrics& metrics) : added_(metrics.nanoseconds, metrics.spans), place_(metrics.device_waits) {}

 private:
  AddedTime added_;
  kernels::DeviceWaitPlace place_;
};

// Counts the chunk and passes it to the sink, unless it has no rows.
Task<void> pass_on(OperatorMetrics& metrics, ChunkSink& sink, int lane, Chunk chunk);

// The same in pieces of at most `step` rows, until the sink is full.
Task<void> pass_on_in_steps(OperatorMetrics& metrics, ChunkSink& sink, int lane, Chunk rows, int64_t step);

// Runs body(lane, i) for i in [0, count), spread over the context's lanes; each lane takes the next free i.
Task<void> for_each_lane(RunContext& context, int64_t count, std::function<Task<void>(int lane, int64_t index)> body);

}  // namespace pistachio
