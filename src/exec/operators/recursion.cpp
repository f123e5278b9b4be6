#include "exec/operators/recursion.h"

#include <ATen/core/Tensor.h>

#include "columns/own_column.h"
#include "exec/core/row_collector.h"
#include "exec/operators/group_table.h"

namespace pistachio {

namespace {

// All rows that a recursive UNION has produced so far.
class SeenRows {
 public:
  SeenRows(const std::vector<LogicalType>& types, MemoryAccount account, at::Device device)
      : account_(std::move(account)), rows_(types, device) {}

  // Returns the rows of the chunk that are new, each once.
  Chunk add(const Chunk& chunk, const CancelToken& token) {
    int64_t before = rows_.groups();
    rows_.assign(chunk.columns(), chunk.rows(), token);
    int64_t bytes = rows_.memory_bytes();
    if (bytes > paid_) memory_.push_back(account_.reserve_now(bytes - paid_, ReservationKind::Held));
    paid_ = std::max(paid_, bytes);
    int64_t count = rows_.groups() - before;
    std::vector<Column> columns;
    for (const Column& column : rows_.keys()) columns.push_back(own_column(column.slice(before, count)));
    return Chunk(std::move(columns), count, chunk.device());
  }

 private:
  MemoryAccount account_;
  GroupTable rows_;
  int64_t paid_ = 0;
  std::vector<Reservation> memory_;
};

}  // namespace

Task<void> WorkingReadOperator::produce(RunContext& context, ChunkSink& sink) {
  Task<void> passing = pass_kept(metrics_, context, sink, rows_->chunks, places_);
  co_await passing;
}

Task<void> RecursionOperator::produce(RunContext& context, ChunkSink& sink) {
  MemoryAccount account = context.memory.make_child("recursion");
  std::optional<SeenRows> seen;
  if (!plan_.keeps_all) seen.emplace(plan_.types, account, context.device);
  std::vector<size_t> places;
  for (size_t i = 0; i < layout_.size(); ++i) places.push_back(i);
  std::vector<Reservation> memory;  // of the working rows
  Operator* source = plan_.first.get();
  const TaskContext& task = co_await current_context();
  while (!sink.is_full()) {
    RowCollector round(account, context.lanes);
    Task<void> producing = source->produce(context, round);
    co_await producing;
    plan_.working->chunks.clear();
    memory.clear();
    for (HeldChunks& lane : round.lanes()) {
      for (Chunk& chunk : lane.take_chunks()) {
        Chunk fresh = seen ? seen->add(chunk, task.token) : std::move(chunk);
        if (fresh.rows() > 0) plan_.working->chunks.push_back(std::move(fresh));
      }
      for (Reservation& part : lane.take_memory()) memory.push_back(std::move(part));
    }
    if (plan_.working->chunks.empty()) break;
    Task<void> passing = pass_kept(metrics_, context, sink, plan_.working->chunks, places);
    co_await passing;
    for (const std::shared_ptr<SharedRows>& shared : plan_.in_rounds) shared->forget();
    source = plan_.next.get();
  }
  plan_.working->chunks.clear();
}

}  // namespace pistachio
