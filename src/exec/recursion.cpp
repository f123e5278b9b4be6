#include "exec/recursion.h"

#include <ATen/ATen.h>

#include "exec/group_table.h"
#include "exec/held_chunks.h"

namespace pistachio {

namespace {

// Hands chunks on, spread over the lanes.
Task<void> pass_all(OperatorMetrics& metrics, RunContext& context, ChunkSink& sink, const std::vector<Chunk>& chunks,
                    const std::vector<size_t>& places) {
  auto pass_one = [&](int lane, int64_t index) -> Task<void> {
    if (sink.is_full()) co_return;
    const Chunk& chunk = chunks[static_cast<size_t>(index)];
    std::vector<Column> columns;
    for (size_t place : places) columns.push_back(chunk.column(place));
    Task<void> passing = pass_on(metrics, sink, lane, Chunk(std::move(columns), chunk.rows()));
    co_await passing;
  };
  Task<void> all = for_each_lane(context, static_cast<int64_t>(chunks.size()), pass_one);
  co_await all;
}

// All rows that ever were in the result of a UNION.
class SeenRows {
 public:
  SeenRows(const std::vector<LogicalType>& types, MemoryAccount account) : account_(std::move(account)), rows_(types) {}

  // The rows of the chunk that were not there before, each once.
  Chunk add(const Chunk& chunk) {
    int64_t before = rows_.groups();
    rows_.assign(chunk.columns(), chunk.rows());
    int64_t bytes = rows_.memory_bytes();
    if (bytes > paid_) memory_.push_back(account_.reserve_now(bytes - paid_, ReservationKind::Held));
    paid_ = std::max(paid_, bytes);
    int64_t count = rows_.groups() - before;
    std::vector<Column> columns;
    for (const Column& column : rows_.keys()) columns.push_back(own_column(column.slice(before, count)));
    return Chunk(std::move(columns), count);
  }

 private:
  MemoryAccount account_;
  GroupTable rows_;
  int64_t paid_ = 0;
  std::vector<Reservation> memory_;
};

}  // namespace

Task<void> WorkingReadOperator::produce(RunContext& context, ChunkSink& sink) {
  Task<void> passing = pass_all(metrics_, context, sink, rows_->chunks, places_);
  co_await passing;
}

// What one round gives, kept for each lane.
class RecursionOperator::Round final : public ChunkSink {
 public:
  Round(int lanes, const MemoryAccount& account) {
    for (int lane = 0; lane < lanes; ++lane) held_.emplace_back(account);
  }
  Task<void> consume(int lane, Chunk chunk) override {
    held_[static_cast<size_t>(lane)].add(chunk);
    co_return;
  }
  std::vector<HeldChunks>& held() { return held_; }

 private:
  std::vector<HeldChunks> held_;
};

Task<void> RecursionOperator::produce(RunContext& context, ChunkSink& sink) {
  MemoryAccount account = context.memory.make_child("recursion");
  std::optional<SeenRows> seen;
  if (!plan_.keeps_all) seen.emplace(plan_.types, account);
  std::vector<size_t> places;
  for (size_t i = 0; i < layout_.size(); ++i) places.push_back(i);
  std::vector<Reservation> memory;  // of the working rows
  Operator* source = plan_.first.get();
  while (!sink.is_full()) {
    Round round(context.lanes, account);
    Task<void> producing = source->produce(context, round);
    co_await producing;
    plan_.working->chunks.clear();
    memory.clear();
    for (HeldChunks& lane : round.held()) {
      for (Chunk& chunk : lane.take_chunks()) {
        Chunk fresh = seen ? seen->add(chunk) : std::move(chunk);
        if (fresh.rows() > 0) plan_.working->chunks.push_back(std::move(fresh));
      }
      for (Reservation& part : lane.take_memory()) memory.push_back(std::move(part));
    }
    if (plan_.working->chunks.empty()) break;
    Task<void> passing = pass_all(metrics_, context, sink, plan_.working->chunks, places);
    co_await passing;
    for (const std::shared_ptr<SharedRows>& shared : plan_.in_rounds) shared->forget();
    source = plan_.next.get();
  }
  plan_.working->chunks.clear();
}

}  // namespace pistachio
