// Sending end of an exchange: buffers rows per destination, as chosen by a router, until they fill a message.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "columns/merge_dictionaries.h"
#include "exec/core/held_chunks.h"
#include "exec/core/operator.h"
#include "exec/exchange/row_router.h"
#include "network/exchange_hub.h"
#include "physical/physical_node.h"

namespace pistachio {

class ExchangeSink final : public ChunkSink {
 public:
  // `may_wait`: nothing that comes here depends on other ranks, so a producer may wait until the router is settled.
  ExchangeSink(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout, std::vector<LogicalType> types,
               OperatorMetrics& metrics, bool may_wait = false);

  Task<void> consume(int lane, Chunk chunk) override;
  // No rank wants more.
  bool is_full() const override;
  // Beside the producer: settles the router if it must be, and sends what was kept until then.
  Task<void> settle();
  // Nothing more will be consumed. What is left is sent by flush(). If the exchange makes a join filter, it is told now.
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
  bool is_too_much_kept();
  void see_enough();  // under kept_mutex_
  void tell_filter(const BuildSideFilter& made);
  Task<void> route(Chunk chunk);
  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken& token);
  // Puts the piece into the rank's buffer; gives everything in there when it fills a message.
  std::vector<Chunk> add(int rank, const Chunk& piece);
  Task<void> send(int rank, std::vector<Chunk> pieces);

  RunContext& context_;
  const PhysicalExchange& exchange_;
  const std::vector<ColumnId>& layout_;
  std::vector<LogicalType> types_;
  OperatorMetrics& metrics_;
  ExchangeOutput& output_;
  MemoryAccount memory_;
  std::unique_ptr<RowRouter> router_;
  std::vector<std::unique_ptr<Buffer>> buffers_;

  std::atomic<bool> is_settled_;
  std::mutex kept_mutex_;
  HeldChunks kept_;           // until the router is settled; guarded by kept_mutex_
  bool has_seen_enough_ = false;  // guarded by kept_mutex_
  Channel<int> enough_seen_;  // closed when the router can be settled
  const bool may_wait_;
  Channel<int> settled_{0};  // closed then
  ChunkDictionaryMerger dictionaries_;
};

}  // namespace pistachio
