// The sending end of an exchange: decides which rank each row goes to and gathers what goes to a rank until it fills a message.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "exec/operator.h"
#include "expr/expression_evaluator.h"
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
  // Sends what is left, or, with schedule.hold_rows, everything.
  Task<void> flush();

 private:
  // Pieces that share nothing with the chunks they came from.
  struct Buffer {
    std::mutex mutex;
    std::vector<Chunk> pieces;        // guarded by mutex
    int64_t bytes = 0;                // of the pieces; guarded by mutex
    std::vector<Reservation> memory;  // for pieces that wait for the end of the input; guarded by mutex
  };

  // The rows of the chunk for each rank.
  std::vector<Chunk> parts_of(const Chunk& chunk);
  std::vector<Chunk> hashed_parts(const Chunk& chunk) const;
  std::vector<Chunk> even_parts(const Chunk& chunk);
  // Puts the piece into the rank's buffer; gives everything in there when it fills a message.
  std::vector<Chunk> add(int rank, const Chunk& piece);
  Task<void> send(int rank, std::vector<Chunk> pieces);

  RunContext& context_;
  const PhysicalExchange& exchange_;
  std::vector<LogicalType> types_;
  OperatorMetrics& metrics_;
  ExchangeOutput& output_;
  MemoryAccount memory_;
  std::unique_ptr<ExpressionEvaluator> keys_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::atomic<int64_t> scattered_ = 0;  // chunks; the next one begins at another rank
};

}  // namespace pistachio
