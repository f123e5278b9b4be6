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

// How the steps of a query over ranks follow each other; what is off is slower, and there to be compared.
struct ExchangeSchedule {
  bool build_first = false;  // the probe side of a join is read when the build side has been sent
  bool hold_rows = false;    // rows are sent when all of them are there, and given on when all have come
  bool one_message = false;  // all rows for a rank go at once, however large that is

  static ExchangeSchedule of(const Settings& settings);
};

// What operators share in one run of a query on one rank. Operators read it; who fills what stands with the members.
struct RunContext {
  // Filled by PlanRun (engine/query_pipeline), from the engine and the query's scope.
  StorageContext& storage;
  MemoryAccount memory;  // operators make child accounts of it for what they retain
  QuerySpill& spill;     // where retained rows go when memory runs short
  // Tasks that carry chunks through operators concurrently. Few on a GPU: each waits for results of its kernels, and many get in each
  // other's way.
  int lanes = 1;
  at::Device device = at::kCPU;  // of the tensors of operators
  // Tasks that read files on the host concurrently, and decompress or decode them.
  int decoders = 1;
  ExchangeSchedule schedule;

  // Filled by PlanRun, from the RankService, if the query runs on several ranks.
  QueryExchanges* exchanges = nullptr;  // null: on one rank alone
  int64_t message_bytes = 1 << 20;      // rows for another rank are buffered until they have this size; 0: they are not buffered

  // Filled by run_stages (exec/pipeline), which owns them, before the first operator runs.
  // Joins whose frequent keys all ranks work on, by the number of the exchange of their probe side.
  const std::map<size_t, std::unique_ptr<SharedBuckets>>* spreads = nullptr;
  // What scans know of the build sides of joins, by the number of the filter.
  const std::map<size_t, std::unique_ptr<JoinFilter>>* filters = nullptr;
  // Whether partial results are merged on their host, by the number of the exchange that brings them to the rank that does.
  const std::map<size_t, std::unique_ptr<OnPathChoice>>* on_path = nullptr;

  const Settings& settings() const { return storage.settings; }
  // Rows of a chunk that operators pass on, at most.
  int64_t chunk_rows() const;
  at::TensorOptions tensors_of(at::ScalarType type) const { return at::TensorOptions(type).device(device); }
};

class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  // One call at a time for each lane; lanes run at the same time.
  virtual Task<void> consume(int lane, Chunk chunk) = 0;
  // Nothing more is wanted: producers may stop early.
  virtual bool is_full() const { return false; }
};

// Figures of one operator in one run, for EXPLAIN ANALYZE.
struct OperatorMetrics {
  std::atomic<int64_t> rows = 0;
  std::atomic<int64_t> chunks = 0;
  std::atomic<int64_t> nanoseconds = 0;  // of work inside it, over all lanes
  std::atomic<int64_t> bytes = 0;        // read, or held in memory at most
  std::atomic<int64_t> spilled = 0;      // bytes written to disk
  std::atomic<int64_t> from_others = 0;  // of a scan: units that were dealt to other ranks; of a join: their buckets
  kernels::DeviceWaits device_waits;     // if they are counted
  // Of rows that are merged on their host: those that came to its tables, and those of them that were merged into others; if the ranks
  // decide: whether they were merged in the end (1 or 0), how often that changed, and the shares in percent that were expected and needed.
  std::atomic<int64_t> rows_to_merge = 0;
  std::atomic<int64_t> rows_merged = 0;
  std::atomic<int64_t> merging_is_on = -1;
  std::atomic<int64_t> merging_changes = 0;
  std::atomic<int64_t> expected_percent = 0;
  std::atomic<int64_t> needed_percent = 0;
};

class Operator {
 public:
  explicit Operator(std::vector<ColumnId> layout) : layout_(std::move(layout)) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  // Pushes all chunks into the sink; ends when the last was consumed. Chunks have the columns of layout(), at least one row each.
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
  explicit WorkTimer(OperatorMetrics& metrics) : added_(metrics.nanoseconds), place_(metrics.device_waits) {}

 private:
  AddedTime added_;
  kernels::DeviceWaitPlace place_;
};

// Hands the chunk on unless it has no rows, and counts it.
Task<void> pass_on(OperatorMetrics& metrics, ChunkSink& sink, int lane, Chunk chunk);

// The same in pieces of at most `step` rows, until the sink is full.
Task<void> pass_on_in_steps(OperatorMetrics& metrics, ChunkSink& sink, int lane, Chunk rows, int64_t step);

// Runs body(lane, i) for i in [0, count), spread over the context's lanes; each lane takes the next free i.
Task<void> for_each_lane(RunContext& context, int64_t count, std::function<Task<void>(int lane, int64_t index)> body);

}  // namespace pistachio
