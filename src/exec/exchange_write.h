// The sending end of an exchange: gathers the rows for a rank, which a router chooses, until they fill a message.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/held_chunks.h"
#include "exec/operator.h"
#include "exec/row_router.h"
#include "network/exchange_hub.h"
#include "physical/physical_node.h"

namespace pistachio {

class ExchangeSink final : public ChunkSink {
 public:
  ExchangeSink(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout, std::vector<LogicalType> types,
               OperatorMetrics& metrics);

  Task<void> consume(int lane, Chunk chunk) override;
  // No rank wants more.
  bool is_full() const override;
  // Beside the producer: settles the router if it must be, and sends what was kept until then.
  Task<void> settle();
  // Nothing more will be consumed. What is left is sent by flush().
  void end_input();
  // After both: sends what is left, or, with schedule.hold_rows, everything.
  Task<void> flush();

 private:
  // Pieces that share nothing with the chunks they came from.
  struct Buffer {
    std::mutex mutex;
    std::vector<Chunk> pieces;        // guarded by mutex
    int64_t bytes = 0;                // of the pieces; guarded by mutex
    std::vector<Reservation> memory;  // for pieces that wait for the end of the input; guarded by mutex
  };

  // Whether the chunk was kept, as the router is not settled yet.
  bool keep(const Chunk& chunk);
  Task<void> route(Chunk chunk);
  std::vector<Chunk> parts_of(const Chunk& chunk);
  // Puts the piece into the rank's buffer; gives everything in there when it fills a message.
  std::vector<Chunk> add(int rank, const Chunk& piece);
  Task<void> send(int rank, std::vector<Chunk> pieces);

  RunContext& context_;
  const PhysicalExchange& exchange_;
  std::vector<LogicalType> types_;
  OperatorMetrics& metrics_;
  ExchangeOutput& output_;
  MemoryAccount memory_;
  std::unique_ptr<RowRouter> router_;
  std::vector<std::unique_ptr<Buffer>> buffers_;

  std::atomic<bool> is_settled_;
  std::mutex kept_mutex_;
  HeldChunks kept_;           // until the router is settled; guarded by kept_mutex_
  Channel<int> enough_seen_;  // closed when the router can be settled
};

}  // namespace pistachio
