#include "exec/exchange/exchange_read.h"

#include "base/check.h"
#include "base/task_group.h"
#include "columns/device_copy.h"
#include "exec/core/fault_hook.h"
#include "exec/core/held_chunks.h"
#include "exec/core/memory_relief.h"
#include "exec/core/small_chunks.h"

namespace pistachio {

namespace {

// Reads the rows of one exchange on all lanes.
class ExchangeReading {
 public:
  ExchangeReading(RunContext& context, ExchangeInput& input, ChunkSink& sink, OperatorMetrics& metrics)
      : context_(context), input_(input), sink_(sink), metrics_(metrics), copier_(context.device), step_(context.chunk_rows()) {}

  // Passes rows on as they arrive.
  Task<void> pass_lane(int lane) {
    while (!sink_.is_full()) {
      Task<std::optional<ExchangeInput::Rows>> receiving = input_.receive();
      std::optional<ExchangeInput::Rows> rows = co_await receiving;
      if (!rows) co_return;
      Task<void> passing = context_.device.is_cpu() ? pass_message(lane, std::move(*rows)) : pass_gathered(lane, std::move(*rows));
      co_await passing;
    }
    input_.close();
  }

  // Keeps all rows.
  Task<void> hold_lane(HeldChunks& held) {
    while (true) {
      Task<std::optional<ExchangeInput::Rows>> receiving = input_.receive();
      std::optional<ExchangeInput::Rows> rows = co_await receiving;
      if (!rows) co_return;
      held.add(unpack(*rows));
      input_.release(*rows);
    }
  }

  Task<void> pass_held(int lane, const HeldChunks& held) {
    for (const Chunk& chunk : held.chunks()) {
      Task<void> passing = pass_on_in_steps(metrics_, sink_, lane, chunk, step_);
      co_await passing;
    }
  }

 private:
  Chunk unpack(ExchangeInput::Rows& rows) {
    WorkTimer timer(metrics_);
    metrics_.bytes += rows.bytes;
    reach(context_, FaultPoint::RowsUnpacked);
    return ExchangeInput::unpack(rows, copier_);
  }

  Task<void> pass_message(int lane, ExchangeInput::Rows rows) {
    Chunk chunk = unpack(rows);
    sink_.begin_message(lane, rows.source, rows.number);
    Task<void> passing = pass_on_in_steps(metrics_, sink_, lane, std::move(chunk), step_);
    co_await passing;
    input_.release(rows);
  }

  // A message is far too small to keep a GPU busy. Takes whatever arrived while the GPU worked on the last chunk, and returns the credit
  // for it before it is processed: it is in GPU memory now.
  Task<void> pass_gathered(int lane, ExchangeInput::Rows first) {
    std::vector<Chunk> pieces;
    int64_t bytes = 0;
    for (std::optional<ExchangeInput::Rows> rows = std::move(first); rows;) {
      bytes += rows->bytes;
      pieces.push_back(unpack(*rows));
      input_.release(*rows);
      rows = bytes < context_.settings().device_chunk_bytes ? input_.take() : std::nullopt;
    }
    auto join = [&] {
      WorkTimer timer(metrics_);
      return join_chunks(pieces);
    };
    Task<Chunk> joining = with_relief(context_, join);
    Chunk chunk = co_await joining;
    pieces.clear();
    Task<void> passing = pass_on_in_steps(metrics_, sink_, lane, std::move(chunk), step_);
    co_await passing;
  }

  RunContext& context_;
  ExchangeInput& input_;
  ChunkSink& sink_;
  OperatorMetrics& metrics_;
  ChunkCopier copier_;
  const int64_t step_;
};

template <typename Body>
Task<void> on_all_lanes(int lanes, const Body& body) {
  std::vector<Task<void>> running;
  for (int lane = 0; lane < lanes; ++lane) running.push_back(body(lane));
  return when_all(std::move(running));
}

}  // namespace

Task<void> ExchangeReadOperator::produce(RunContext& context, ChunkSink& sink) {
  ENSURE(context.exchanges != nullptr);
  ExchangeReading reading(context, context.exchanges->input(number_), sink, metrics_);
  if (!context.schedule.hold_rows) {
    Task<void> passing = on_all_lanes(context.lanes, [&](int lane) { return reading.pass_lane(lane); });
    co_await passing;
    co_return;
  }
  MemoryAccount account = context.memory.make_child("exchange");
  std::vector<HeldChunks> held;
  for (int lane = 0; lane < context.lanes; ++lane) held.emplace_back(account);
  Task<void> holding = on_all_lanes(context.lanes, [&](int lane) { return reading.hold_lane(held[static_cast<size_t>(lane)]); });
  co_await holding;
  Task<void> passing = on_all_lanes(context.lanes, [&](int lane) { return reading.pass_held(lane, held[static_cast<size_t>(lane)]); });
  co_await passing;
}

}  // namespace pistachio
