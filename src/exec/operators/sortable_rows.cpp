#include "exec/operators/sortable_rows.h"

#include <algorithm>

#include "columns/device_copy.h"
#include "exec/core/lane_sort.h"
#include "exec/core/sorted_merge.h"
#include "memory/fitting_ranges.h"

namespace pistachio {

namespace {

// Pieces are as small as disks handle well, so that many runs can be merged at once.
constexpr int64_t kPiecesPerBatch = 16;
constexpr int64_t kMinPieceBytes = 64 << 10;
// A round of a merge, if there is room; its rows are in memory as they were read, concatenated, and sorted.
constexpr int64_t kBatchesPerRound = 4;
constexpr int64_t kCopiesInRound = 3;
// Rows beyond the limit that are added, at least, before rows are dropped.
constexpr int64_t kRowsBetweenChoices = 1 << 10;

}  // namespace

// Writes rows that arrive in order to a run.
class SortableRows::RunWriter final : public ChunkSink {
 public:
  RunWriter(SortableRows& owner, OperatorMetrics& metrics)
      : owner_(owner), rows_(std::make_unique<SpilledChunks>(owner.file_)), metrics_(metrics) {}

  Task<void> consume(int, Chunk chunk) override {
    const TaskContext& task = co_await current_context();
    if (owner_.has_bounds_) {
      Chunk last = own_chunk(owner_.order_.key_values(chunk.slice(chunk.rows() - 1, 1), task.token));
      if (owner_.may_keep_last(last)) lasts_.push_back(std::move(last));
    }
    const int64_t before = rows_->bytes();
    Task<void> adding = rows_->add(std::move(chunk));
    co_await adding;
    metrics_.spilled += rows_->bytes() - before;
  }

  // After the last chunk.
  Run finish() {
    if (!owner_.has_bounds_) return {std::move(rows_), {}};
    return {std::move(rows_), to_device(concatenate_chunks(lasts_, owner_.key_types(), owner_.context_.device), at::kCPU)};
  }

 private:
  SortableRows& owner_;
  std::unique_ptr<SpilledChunks> rows_;
  std::vector<Chunk> lasts_;
  OperatorMetrics& metrics_;
};

// Passes on the first rows only.
class SortableRows::FirstRows final : public ChunkSink {
 public:
  FirstRows(ChunkSink& next, std::optional<int64_t> rows) : next_(next), left_(rows.value_or(INT64_MAX)) {}
  bool is_full() const override { return left_ == 0 || next_.is_full(); }
  Task<void> consume(int lane, Chunk chunk) override {
    const int64_t rows = std::min(left_, chunk.rows());
    left_ -= rows;
    if (rows < chunk.rows()) chunk = chunk.slice(0, rows);
    if (rows > 0) {
      Task<void> passing = next_.consume(lane, std::move(chunk));
      co_await passing;
    }
  }

 private:
  ChunkSink& next_;
  int64_t left_;
};

SortableRows::SortableRows(RunContext& context, const RowOrder& order, std::optional<int64_t> limit, std::vector<LogicalType> types,
                           OperatorMetrics& metrics)
    : SpillableRows(context, context.memory.make_child("sort"), std::move(types), metrics),
      order_(order),
      limit_(limit),
      metrics_(metrics) {}

Task<void> SortableRows::keep_best() {
  if (!limit_) co_return;
  const TaskContext& task = co_await current_context();
  auto choose = [&](const Chunk& rows) { return order_.order_of(rows, task.token).slice(0, 0, *limit_); };
  // Sorting four times as many rows as are kept makes each row take part in few sorts.
  Task<void> reducing = reduce(4 * *limit_ + kRowsBetweenChoices, choose);
  co_await reducing;
}

int64_t SortableRows::bytes_per_piece() const {
  return std::max(kMinPieceBytes, context_.spill.batch_bytes() / kPiecesPerBatch);
}

size_t SortableRows::runs_per_merge() const {
  // Each run needs memory for its piece, for the copy of its rows in the merged chunk, and for their sort words.
  const int64_t pieces = context_.spill.batch_bytes() * 8 / (4 * bytes_per_piece());
  return static_cast<size_t>(std::max<int64_t>(2, pieces));
}

Task<int64_t> SortableRows::write(Chunk rows) {
  if (context_.needs_all_lanes(rows.rows())) {
    Task<int64_t> writing = write_run(rows, at::Tensor());
    const int64_t written = co_await writing;
    co_return written;
  }
  const TaskContext& task = co_await current_context();
  struct Sorted {
    Chunk rows;
    at::Tensor order;
  };
  auto sort = [&](int64_t begin, int64_t count) {
    WorkTimer timer(metrics_);
    Chunk part = rows.slice(begin, count);
    at::Tensor order = order_.order_of(part, task.token);
    return Sorted{std::move(part), std::move(order)};
  };
  int64_t written = 0;
  FittingRanges ranges(rows.rows());
  while (!ranges.is_done()) {
    const std::optional<Sorted> sorted = ranges.try_next(sort);
    if (!sorted) continue;
    Task<int64_t> writing = write_run(sorted->rows, sorted->order);
    written += co_await writing;
  }
  co_return written;
}

Task<int64_t> SortableRows::write_run(const Chunk& rows, at::Tensor order) {
  if (!file_) file_ = context_.spill.make_file();
  OperatorMetrics apart;  // not the operator's own: these rows do not leave it
  RunWriter writer(*this, apart);
  const int64_t step = std::max<int64_t>(1, bytes_per_piece() * rows.rows() / std::max<int64_t>(1, rows.memory_bytes()));
  const SortedOutput output{.step = step, .limit = limit_};
  Task<void> writing = order.defined() ? pass_on_in_order(rows, order, output, apart, writer)
                                       : pass_on_sorted(context_, order_, rows, output, apart, writer);
  co_await writing;
  metrics_.nanoseconds += apart.nanoseconds;
  runs_.push_back(writer.finish());
  co_return runs_.back().rows->bytes();
}

Task<void> SortableRows::merge(ChunkSink& sink) {
  while (runs_.size() > runs_per_merge()) {
    std::vector<Run> merged;
    const auto end = runs_.begin() + static_cast<std::ptrdiff_t>(runs_per_merge());
    std::move(runs_.begin(), end, std::back_inserter(merged));
    runs_.erase(runs_.begin(), end);
    RunWriter writer(*this, metrics_);
    FirstRows first(writer, limit_);
    OperatorMetrics apart;  // not the operator's own: these rows do not leave it
    Task<void> merging = merge(merged, apart, first);
    co_await merging;
    metrics_.nanoseconds += apart.nanoseconds;
    runs_.push_back(writer.finish());
  }
  FirstRows first(sink, limit_);
  Task<void> merging = merge(runs_, metrics_, first);
  co_await merging;
}

bool SortableRows::may_keep_last(const Chunk& key) {
  lasts_bytes_ += key.memory_bytes();
  if (lasts_bytes_ <= context_.spill.batch_bytes()) return true;
  has_bounds_ = false;
  for (Run& run : runs_) run.lasts = {};
  return false;
}

int64_t SortableRows::bytes_per_round() const {
  const int64_t least = 2 * context_.spill.batch_bytes();
  int64_t bytes = kBatchesPerRound * context_.spill.batch_bytes();
  while (bytes > least && !context_.spill.has_room(kCopiesInRound * bytes)) bytes /= 2;
  return bytes;
}

int64_t SortableRows::bytes_of_words() const {
  return order_.bytes_per_row() + 2 * static_cast<int64_t>(sizeof(int64_t));
}

std::vector<LogicalType> SortableRows::key_types() const {
  std::vector<LogicalType> types;
  for (const SortKey& key : order_.keys()) types.push_back(key.expression->type());
  return types;
}

MergeBounds SortableRows::bounds_of(const std::vector<Run>& runs, const CancelToken& token) const {
  std::vector<MergeBounds::RunPieces> pieces;
  for (const Run& run : runs) {
    MergeBounds::RunPieces& of_run = pieces.emplace_back(MergeBounds::RunPieces{run.lasts, {}});
    // With the words to sort them by, which take more than narrow rows themselves.
    for (const SpilledChunks::Piece& piece : run.rows->pieces()) of_run.bytes.push_back(piece.bytes() + piece.rows * bytes_of_words());
  }
  return MergeBounds(order_, key_types(), std::move(pieces), context_.device, token);
}

Task<void> SortableRows::merge(const std::vector<Run>& runs, OperatorMetrics& metrics, ChunkSink& sink) {
  const TaskContext& task = co_await current_context();
  std::optional<MergeBounds> bounds;
  if (has_bounds_) bounds = bounds_of(runs, task.token);
  std::vector<size_t> next_piece(runs.size());
  auto read_next = [&](size_t run) -> Task<std::optional<Chunk>> {
    const size_t piece = next_piece[run]++;
    if (piece == runs[run].rows->pieces().size()) co_return std::nullopt;
    Task<Chunk> reading = runs[run].rows->read(piece, context_.device);
    Chunk rows = co_await reading;
    runs[run].rows->release(piece);
    co_return rows;
  };
  SortedRuns sorted{runs.size(), types(), read_next, /*is_concurrent=*/true};
  if (bounds) sorted.next_bound = [&] { return bounds->next(bytes_per_round()); };
  Task<void> merging = merge_sorted(context_, order_, sorted, account(), metrics, sink);
  co_await merging;
}

}  // namespace pistachio
