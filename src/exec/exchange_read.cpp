#include "exec/exchange_read.h"

#include "base/check.h"
#include "base/task_group.h"
#include "columns/chunk_packing.h"
#include "columns/device_copy.h"
#include "network/exchange_hub.h"

namespace pistachio {

Task<void> ExchangeReadOperator::produce(RunContext& context, ChunkSink& sink) {
  ENSURE(context.exchanges != nullptr);
  ExchangeInput& input = context.exchanges->input(number_);
  int64_t step = context.settings().chunk_rows;
  auto unpacked = [&](ExchangeInput::Rows& rows) {
    WorkTimer timer(metrics_);
    metrics_.bytes += rows.bytes;
    return to_device(rows.block.defined() ? unpack_chunk(rows.block) : std::move(rows.chunk), context.device);
  };
  auto run_lane = [&](int lane) -> Task<void> {
    while (!sink.is_full()) {
      Task<std::optional<ExchangeInput::Rows>> receiving = input.receive();
      std::optional<ExchangeInput::Rows> rows = co_await receiving;
      if (!rows) co_return;
      Chunk chunk = unpacked(*rows);
      Task<void> passing = pass_on_in_steps(metrics_, sink, lane, std::move(chunk), step);
      co_await passing;
      input.release(*rows);
    }
    input.close();
  };
  std::vector<Task<void>> lanes;
  for (int lane = 0; lane < context.lanes; ++lane) lanes.push_back(run_lane(lane));
  Task<void> all = when_all(std::move(lanes));
  co_await all;
}

}  // namespace pistachio
