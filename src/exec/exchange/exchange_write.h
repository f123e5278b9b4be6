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

// The sending end of an exchange on this rank.
struct SendingEnd {
  const PhysicalExchange& exchange;
  OperatorMetrics& metrics;
};

class ExchangeSink final : public ChunkSink {
 public:
  // Sends through the first of `chain`; rows that are not merged in transit skip to a later one (combining_ranks.h), of which this is then
  // a further sender. `may_wait`: the input depends on no other rank, so producers may be blocked until the router is settled.
  ExchangeSink(RunContext& context, std::vector<SendingEnd> chain, const std::vector<ColumnId>& layout, std::vector<LogicalType> types,
               bool may_wait = false);

  Task<void> consume(int lane, Chunk chunk) override;
  // No rank accepts more rows.
  bool is_full() const override;
  // Runs concurrently with the producer: settles the router if necessary, then routes the rows kept until then.
  Task<void> settle();
  // Ends the input. Publishes the join filter if the exchange makes one. Buffered rows are sent by flush().
  void end_input();
  // After both: sends the buffered rows; with schedule.hold_rows these are all rows.
  Task<void> flush();
  // After that: no more rows come.
  void finish();

 private:
  // Rows for one rank through one exchange; copies that share no memory with the chunks they came from.
  struct Buffer {
    ExchangeOutput* output = nullptr;
    int rank = 0;
    int64_t message_bytes = 0;  // the buffer is sent once it holds this many bytes
    std::mutex mutex;
    std::vector<Chunk> pieces;        // guarded by mutex
    int64_t bytes = 0;                // of the pieces; guarded by mutex
    std::vector<Reservation> memory;  // with schedule.hold_rows, where pieces wait for the end of the input; guarded by mutex
  };

  // Keeps the chunk if the router is not settled yet; false: it is.
  bool keep(const Chunk& chunk);
  bool exceeds_buffer();
  // For a router that routes before it is settled.
  void inspect(const Chunk& chunk);
  void end_inspection();  // requires kept_mutex_
  void publish_filter(const BuildSideFilter& made);
  Task<void> route(Chunk chunk);
  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken& token);
  // Appends the piece, which shares no memory with others, to the buffer; returns and clears the buffer's contents once they fill a
  // message.
  std::vector<Chunk> add(Buffer& buffer, Chunk piece);
  // Whether the part need not be buffered: it stays on this rank, is all of the chunk, and is large enough.
  bool is_message(const Buffer& buffer, const Chunk& part, const Chunk& chunk) const;
  int64_t message_bytes(const PhysicalExchange& exchange, int rank) const;
  Task<void> send(Buffer& buffer, std::vector<Chunk> pieces);
  Task<void> send_message(Buffer& buffer, std::vector<Chunk> pieces);

  RunContext& context_;
  const PhysicalExchange& exchange_;
  const std::vector<ColumnId>& layout_;
  std::vector<LogicalType> types_;
  OperatorMetrics& metrics_;
  const std::vector<SendingEnd> chain_;
  MemoryAccount memory_;
  std::unique_ptr<RowRouter> router_;
  std::vector<std::unique_ptr<Buffer>> buffers_;  // by exchange of the chain and rank
  std::atomic<int64_t> waited_nanoseconds_ = 0;   // of all lanes, for room to send

  const bool is_kept_;  // rows are, until the router is settled
  std::atomic<bool> is_settled_;
  std::mutex kept_mutex_;
  HeldChunks kept_;                                 // until the router is settled; guarded by kept_mutex_
  std::atomic<bool> has_inspected_enough_ = false;  // changed under kept_mutex_
  Channel<int> enough_seen_;                        // closed when the router can be settled
  const bool may_wait_;
  Channel<int> settled_{0};  // closed once the router is settled
  ChunkDictionaryMerger dictionaries_;
};

}  // namespace pistachio
