#include "exec/simple_operators.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "storage/table_scan.h"

namespace pistachio {

ScanOperator::ScanOperator(std::vector<ColumnId> layout, TablePtr table, std::vector<size_t> sources, std::vector<RangeFilter> filters)
    : Operator(std::move(layout)), table_(std::move(table)), sources_(std::move(sources)), filters_(std::move(filters)) {}

Task<void> ScanOperator::produce(RunContext& context, ChunkSink& sink) {
  Task<void> producing = table_->is_in_memory() ? produce_chunks(context, sink) : produce_files(context, sink);
  co_await producing;
}

Task<void> ScanOperator::produce_files(RunContext& context, ChunkSink& sink) {
  ScanRequest request;
  request.filters = filters_;
  for (size_t source : sources_) request.columns.push_back(table_->columns()[source].name);
  // A scan without columns (count(*)) still needs rows: the plan gives none, the row counts come from the footers.
  if (sources_.empty() && filters_.empty()) {
    int64_t rows = table_->rows();
    int64_t step = context.settings().chunk_rows;
    for (int64_t done = 0; done < rows && !sink.is_full(); done += step) {
      Task<void> passing = pass_on(metrics_, sink, 0, Chunk({}, std::min(step, rows - done)));
      co_await passing;
    }
    co_return;
  }
  bool only_filters = sources_.empty();
  if (only_filters) request.columns.push_back(filters_[0].column);
  ScanPlan plan = plan_scan(table_->files(), request, context.settings());
  ScanCounters counters;
  TableScan scan(context.storage, plan, counters);
  std::atomic<int> next_lane = 0;
  auto consume = [&](ScanLane& lane) -> Task<void> {
    int number = next_lane++;
    while (true) {
      if (sink.is_full()) scan.stop();
      Task<std::optional<ScannedChunk>> taking = lane.next();
      std::optional<ScannedChunk> scanned = co_await taking;
      if (!scanned) co_return;
      Chunk chunk = only_filters ? Chunk({}, scanned->chunk.rows()) : std::move(scanned->chunk);
      metrics_.bytes += chunk.memory_bytes();
      Task<void> passing = pass_on(metrics_, sink, number, std::move(chunk));
      co_await passing;
    }
  };
  Task<void> running = scan.run(context.lanes, consume);
  co_await running;
}

Task<void> ScanOperator::produce_chunks(RunContext& context, ChunkSink& sink) {
  ENSURE(filters_.empty());
  int64_t step = context.settings().chunk_rows;
  struct Piece {
    const Chunk* chunk;
    int64_t begin;
  };
  std::vector<Piece> pieces;
  for (const Chunk& chunk : table_->chunks()) {
    for (int64_t begin = 0; begin < chunk.rows(); begin += step) pieces.push_back({&chunk, begin});
  }
  auto produce_one = [&](int lane, int64_t index) -> Task<void> {
    if (sink.is_full()) co_return;
    const Piece& piece = pieces[static_cast<size_t>(index)];
    int64_t count = std::min(step, piece.chunk->rows() - piece.begin);
    std::vector<Column> columns;
    for (size_t source : sources_) columns.push_back(piece.chunk->column(source).slice(piece.begin, count));
    Task<void> passing = pass_on(metrics_, sink, lane, Chunk(std::move(columns), count));
    co_await passing;
  };
  Task<void> all = for_each_lane(context, static_cast<int64_t>(pieces.size()), produce_one);
  co_await all;
}

Task<void> ValuesOperator::produce(RunContext& context, ChunkSink& sink) {
  int64_t step = context.settings().chunk_rows;
  for (int64_t begin = 0; begin < rows_.rows() && !sink.is_full(); begin += step) {
    Task<void> passing = pass_on(metrics_, sink, 0, rows_.slice(begin, std::min(step, rows_.rows() - begin)));
    co_await passing;
  }
}

FilterOperator::FilterOperator(OperatorPtr input, std::vector<ExpressionPtr> conditions)
    : Operator(input->layout()), input_(std::move(input)), condition_({conjunction_of(std::move(conditions))}, input_->layout()) {}

Task<void> FilterOperator::produce(RunContext& context, ChunkSink& sink) {
  class Filter final : public ChunkSink {
   public:
    Filter(FilterOperator& owner, ChunkSink& next) : owner_(owner), next_(next) {}
    Task<void> consume(int lane, Chunk chunk) override {
      Chunk kept = select(chunk);
      Task<void> passing = pass_on(owner_.metrics_, next_, lane, std::move(kept));
      co_await passing;
    }
    bool is_full() const override { return next_.is_full(); }

   private:
    Chunk select(const Chunk& chunk) {
      WorkTimer timer(owner_.metrics_);
      at::Tensor mask = owner_.condition_.evaluate_condition(chunk);
      int64_t count = kernels::count_true(mask);
      if (count == chunk.rows()) return chunk;
      if (count == 0) return Chunk();
      return select_rows(chunk, mask);
    }

    FilterOperator& owner_;
    ChunkSink& next_;
  } filter(*this, sink);
  Task<void> producing = input_->produce(context, filter);
  co_await producing;
}

namespace {

std::vector<ColumnId> ids_of(const std::vector<NamedExpression>& columns) {
  std::vector<ColumnId> ids;
  for (const NamedExpression& column : columns) ids.push_back(column.id);
  return ids;
}

std::vector<ExpressionPtr> expressions_of(const std::vector<NamedExpression>& columns) {
  std::vector<ExpressionPtr> expressions;
  for (const NamedExpression& column : columns) expressions.push_back(column.expression);
  return expressions;
}

}  // namespace

ProjectOperator::ProjectOperator(OperatorPtr input, std::vector<NamedExpression> columns)
    : Operator(ids_of(columns)), input_(std::move(input)), columns_(expressions_of(columns), input_->layout()) {}

Task<void> ProjectOperator::produce(RunContext& context, ChunkSink& sink) {
  class Project final : public ChunkSink {
   public:
    Project(ProjectOperator& owner, ChunkSink& next) : owner_(owner), next_(next) {}
    Task<void> consume(int lane, Chunk chunk) override {
      Chunk made = compute(chunk);
      Task<void> passing = pass_on(owner_.metrics_, next_, lane, std::move(made));
      co_await passing;
    }
    bool is_full() const override { return next_.is_full(); }

   private:
    Chunk compute(const Chunk& chunk) {
      WorkTimer timer(owner_.metrics_);
      return Chunk(owner_.columns_.evaluate(chunk), chunk.rows());
    }

    ProjectOperator& owner_;
    ChunkSink& next_;
  } project(*this, sink);
  Task<void> producing = input_->produce(context, project);
  co_await producing;
}

LimitOperator::LimitOperator(OperatorPtr input, std::optional<int64_t> limit, int64_t offset)
    : Operator(input->layout()), input_(std::move(input)), limit_(limit.value_or(INT64_MAX)), offset_(offset) {}

Task<void> LimitOperator::produce(RunContext& context, ChunkSink& sink) {
  class Limit final : public ChunkSink {
   public:
    Limit(LimitOperator& owner, ChunkSink& next) : owner_(owner), next_(next), skip_(owner.offset_), take_(owner.limit_) {}
    Task<void> consume(int lane, Chunk chunk) override {
      Chunk part = cut(chunk);
      Task<void> passing = pass_on(owner_.metrics_, next_, lane, std::move(part));
      co_await passing;
    }
    bool is_full() const override {
      std::lock_guard lock(mutex_);
      return take_ == 0 || next_.is_full();
    }

   private:
    Chunk cut(const Chunk& chunk) {
      std::lock_guard lock(mutex_);
      int64_t begin = std::min(skip_, chunk.rows());
      skip_ -= begin;
      int64_t count = std::min(take_, chunk.rows() - begin);
      take_ -= count;
      return chunk.slice(begin, count);
    }

    LimitOperator& owner_;
    ChunkSink& next_;
    mutable std::mutex mutex_;
    int64_t skip_;  // guarded by mutex_
    int64_t take_;  // guarded by mutex_
  } limit(*this, sink);
  if (limit_ == 0) co_return;
  Task<void> producing = input_->produce(context, limit);
  co_await producing;
}

Task<void> UnionOperator::produce(RunContext& context, ChunkSink& sink) {
  class Count final : public ChunkSink {
   public:
    Count(UnionOperator& owner, ChunkSink& next) : owner_(owner), next_(next) {}
    Task<void> consume(int lane, Chunk chunk) override {
      Task<void> passing = pass_on(owner_.metrics_, next_, lane, std::move(chunk));
      co_await passing;
    }
    bool is_full() const override { return next_.is_full(); }

   private:
    UnionOperator& owner_;
    ChunkSink& next_;
  } count(*this, sink);
  for (OperatorPtr& input : inputs_) {
    if (sink.is_full()) co_return;
    Task<void> producing = input->produce(context, count);
    co_await producing;
  }
}

RepeatOperator::RepeatOperator(OperatorPtr input, ColumnId count) : Operator(input->layout()), input_(std::move(input)) {
  auto found = std::find(layout_.begin(), layout_.end(), count);
  ENSURE(found != layout_.end());
  count_ = static_cast<size_t>(found - layout_.begin());
  layout_.erase(found);
}

Task<void> RepeatOperator::produce(RunContext& context, ChunkSink& sink) {
  class Repeat final : public ChunkSink {
   public:
    Repeat(RepeatOperator& owner, RunContext& run, ChunkSink& next) : owner_(owner), run_(run), next_(next) {}
    Task<void> consume(int lane, Chunk chunk) override {
      std::vector<Column> columns = chunk.columns();
      at::Tensor counts = columns[owner_.count_].values();
      columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(owner_.count_));
      Chunk kept(std::move(columns), chunk.rows());
      at::Tensor rows = at::repeat_interleave(at::arange(chunk.rows(), at::kLong), counts);
      int64_t step = run_.settings().chunk_rows;
      for (int64_t begin = 0; begin < rows.numel() && !next_.is_full(); begin += step) {
        at::Tensor part = rows.slice(0, begin, std::min(begin + step, rows.numel()));
        Task<void> passing = pass_on(owner_.metrics_, next_, lane, take_rows(kept, part));
        co_await passing;
      }
    }
    bool is_full() const override { return next_.is_full(); }

   private:
    RepeatOperator& owner_;
    RunContext& run_;
    ChunkSink& next_;
  } repeat(*this, context, sink);
  Task<void> producing = input_->produce(context, repeat);
  co_await producing;
}

}  // namespace pistachio
