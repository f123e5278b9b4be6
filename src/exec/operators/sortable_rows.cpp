#include "exec/operators/sortable_rows.h"

#include <algorithm>

#include "columns/row_selection.h"
#include "exec/core/sorted_merge.h"

namespace pistachio {

namespace {

// Pieces are as small as disks handle well, so that many runs can be merged at once.
constexpr int64_t kPiecesPerBatch = 16;
constexpr int64_t kLeastPieceBytes = 64 << 10;

}  // namespace

// Writes rows that arrive in order to a run.
class SortableRows::RunWriter final : public ChunkSink {
 public:
  RunWriter(SpilledChunks& run, OperatorMetrics& metrics) : run_(run), metrics_(metrics) {}
  Task<void> consume(int, Chunk chunk) override {
    const int64_t before = run_.bytes();
    Task<void> adding = run_.add(std::move(chunk));
    co_await adding;
    metrics_.spilled += run_.bytes() - before;
  }

 private:
  SpilledChunks& run_;
  OperatorMetrics& metrics_;
};

SortableRows::SortableRows(RunContext& context, const RowOrder& order, std::vector<LogicalType> types, OperatorMetrics& metrics)
    : SpillableRows(context, context.memory.make_child("sort"), std::move(types), metrics), order_(order), metrics_(metrics) {}

int64_t SortableRows::bytes_per_piece() const {
  return std::max(kLeastPieceBytes, context_.spill.batch_bytes() / kPiecesPerBatch);
}

size_t SortableRows::runs_per_merge() const {
  // Each run needs memory for its piece, for the copy of its rows in the merged chunk, and for their sort words.
  const int64_t pieces = context_.spill.batch_bytes() * 8 / (4 * bytes_per_piece());
  return static_cast<size_t>(std::max<int64_t>(2, pieces));
}

Task<int64_t> SortableRows::write(Chunk rows) {
  const TaskContext& task = co_await current_context();
  if (!file_) file_ = context_.spill.make_file();
  auto run = std::make_unique<SpilledChunks>(file_);
  at::Tensor order;
  {
    WorkTimer timer(metrics_);
    order = order_.order_of(rows, task.token);
  }
  const int64_t step = std::max<int64_t>(1, bytes_per_piece() * rows.rows() / std::max<int64_t>(1, rows.memory_bytes()));
  for (int64_t begin = 0; begin < rows.rows(); begin += step) {
    Task<void> adding = run->add(take_rows(rows, order.slice(0, begin, std::min(begin + step, rows.rows()))));
    co_await adding;
  }
  const int64_t written = run->bytes();
  runs_.push_back(std::move(run));
  co_return written;
}

Task<void> SortableRows::merge(ChunkSink& sink) {
  while (runs_.size() > runs_per_merge()) {
    std::vector<Run> merged;
    const auto end = runs_.begin() + static_cast<std::ptrdiff_t>(runs_per_merge());
    std::move(runs_.begin(), end, std::back_inserter(merged));
    runs_.erase(runs_.begin(), end);
    auto longer = std::make_unique<SpilledChunks>(file_);
    RunWriter writer(*longer, metrics_);
    OperatorMetrics apart;  // not the operator's own: these rows do not leave it
    Task<void> merging = merge(merged, apart, writer);
    co_await merging;
    metrics_.nanoseconds += apart.nanoseconds;
    runs_.push_back(std::move(longer));
  }
  Task<void> merging = merge(runs_, metrics_, sink);
  co_await merging;
}

Task<void> SortableRows::merge(const std::vector<Run>& runs, OperatorMetrics& metrics, ChunkSink& sink) {
  std::vector<size_t> next_piece(runs.size());
  auto read_next = [&](size_t run) -> Task<std::optional<Chunk>> {
    const size_t piece = next_piece[run]++;
    if (piece == runs[run]->pieces().size()) co_return std::nullopt;
    Task<Chunk> reading = runs[run]->read(piece, context_.device);
    Chunk rows = co_await reading;
    runs[run]->release(piece);
    co_return rows;
  };
  const SortedRuns sorted{runs.size(), types(), read_next};
  Task<void> merging = merge_sorted(context_, order_, sorted, account(), metrics, sink);
  co_await merging;
}

}  // namespace pistachio
