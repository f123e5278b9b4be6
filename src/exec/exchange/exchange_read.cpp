#include "exec/exchange/exchange_read.h"

#include "base/check.h"
#include "base/task_group.h"
#include "columns/device_copy.h"
#include "exec/core/fault_hook.h"
#include "exec/core/held_chunks.h"
#include "exec/core/memory_relief.h"
#include "exec/core/small_chunks.h"

namespace pistachio {

Task<void> ExchangeReadOperator::produce(RunContext& context, ChunkSink& sink) {
  ENSURE(context.exchanges != nullptr);
  ExchangeInput& input = context.exchanges->input(number_);
  int64_t step = context.chunk_rows();
  ChunkCopier copier(context.device);
  auto unpacked = [&](ExchangeInput::Rows& rows) {
    WorkTimer timer(metrics_);
    metrics_.bytes += rows.bytes;
    reach(context, FaultPoint::RowsUnpacked);
    return ExchangeInput::unpack(rows, copier);
  };
  // A message is far too small to keep a GPU busy. Takes whatever arrived while the GPU worked on the last chunk, and returns the credit
  // for it before it is processed: it is in GPU memory now.
  auto gathered = [&](ExchangeInput::Rows first) -> Task<Chunk> {
    std::vector<Chunk> pieces;
    int64_t bytes = 0;
    for (std::optional<ExchangeInput::Rows> rows = std::move(first); rows;) {
      bytes += rows->bytes;
      pieces.push_back(unpacked(*rows));
      input.release(*rows);
      rows = bytes < context.settings().device_chunk_bytes ? input.take() : std::nullopt;
    }
    auto join = [&] {
      WorkTimer timer(metrics_);
      return join_chunks(pieces);
    };
    Task<Chunk> joining = with_relief(context, join);
    co_return co_await joining;
  };
  MemoryAccount account = context.memory.make_child("exchange");
  std::vector<HeldChunks> held;
  for (int lane = 0; lane < context.lanes; ++lane) held.emplace_back(account);
  auto hold_lane = [&](int lane) -> Task<void> {
    while (true) {
      Task<std::optional<ExchangeInput::Rows>> receiving = input.receive();
      std::optional<ExchangeInput::Rows> rows = co_await receiving;
      if (!rows) co_return;
      held[static_cast<size_t>(lane)].add(unpacked(*rows));
      input.release(*rows);
    }
  };
  auto pass_lane = [&](int lane) -> Task<void> {
    for (const Chunk& chunk : held[static_cast<size_t>(lane)].chunks()) {
      Task<void> passing = pass_on_in_steps(metrics_, sink, lane, chunk, step);
      co_await passing;
    }
  };
  auto run_lane = [&](int lane) -> Task<void> {
    while (!sink.is_full()) {
      Task<std::optional<ExchangeInput::Rows>> receiving = input.receive();
      std::optional<ExchangeInput::Rows> rows = co_await receiving;
      if (!rows) co_return;
      if (!context.device.is_cpu()) {
        Task<Chunk> gathering = gathered(std::move(*rows));
        Chunk chunk = co_await gathering;
        Task<void> passing = pass_on_in_steps(metrics_, sink, lane, std::move(chunk), step);
        co_await passing;
        continue;
      }
      Chunk chunk = unpacked(*rows);
      sink.begin_message(lane, rows->source, rows->number);
      Task<void> passing = pass_on_in_steps(metrics_, sink, lane, std::move(chunk), step);
      co_await passing;
      input.release(*rows);
    }
    input.close();
  };
  auto on_all_lanes = [&](auto& body) {
    std::vector<Task<void>> lanes;
    for (int lane = 0; lane < context.lanes; ++lane) lanes.push_back(body(lane));
    return when_all(std::move(lanes));
  };
  if (!context.schedule.hold_rows) {
    Task<void> running = on_all_lanes(run_lane);
    co_await running;
    co_return;
  }
  Task<void> holding = on_all_lanes(hold_lane);
  co_await holding;
  Task<void> passing = on_all_lanes(pass_lane);
  co_await passing;
}

}  // namespace pistachio
