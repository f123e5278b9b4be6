#include "exec/exchange_write.h"

#include <ATen/ATen.h>

#include "columns/column_hash.h"
#include "columns/row_selection.h"
#include "exec/fault_hook.h"
#include "exec/held_chunks.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/partition_rows.h"

namespace pistachio {

namespace {

// More partitions than ranks by this factor: ranks get shares that differ by little even if their number is no power of two.
constexpr int64_t kPartitionsPerRank = 32;
constexpr int64_t kMostBits = 12;

int64_t partition_bits(int ranks) {
  int64_t bits = 0;
  while ((int64_t{1} << bits) < kPartitionsPerRank * ranks && bits < kMostBits) ++bits;
  return bits;
}

Chunk own_chunk(const Chunk& chunk) {
  std::vector<Column> columns;
  for (const Column& column : chunk.columns()) columns.push_back(own_column(column));
  return Chunk(std::move(columns), chunk.rows(), chunk.device());
}

}  // namespace

ExchangeSink::ExchangeSink(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout,
                           std::vector<LogicalType> types, OperatorMetrics& metrics)
    : context_(context),
      exchange_(exchange),
      types_(std::move(types)),
      metrics_(metrics),
      output_(context.exchanges->output(exchange.number)),
      memory_(context.memory.make_child("exchange")) {
  if (!exchange.keys.empty()) keys_ = std::make_unique<ExpressionEvaluator>(exchange.keys, layout);
  for (int rank = 0; rank < context.exchanges->ranks(); ++rank) buffers_.push_back(std::make_unique<Buffer>());
}

bool ExchangeSink::is_full() const {
  return exchange_.kind == PhysicalExchange::Kind::Gather ? !output_.is_wanted(0) : !output_.is_wanted_anywhere();
}

Task<void> ExchangeSink::consume(int, Chunk chunk) {
  std::vector<Chunk> parts = parts_of(chunk);
  reach(context_, FaultPoint::RowsPartitioned);
  for (int rank = 0; rank < static_cast<int>(parts.size()); ++rank) {
    const Chunk& part = parts[static_cast<size_t>(rank)];
    if (part.rows() == 0 || !output_.is_wanted(rank)) continue;
    std::vector<Chunk> full = add(rank, part);
    if (full.empty()) continue;
    Task<void> sending = send(rank, std::move(full));
    co_await sending;
  }
}

Task<void> ExchangeSink::flush() {
  for (int rank = 0; rank < static_cast<int>(buffers_.size()); ++rank) {
    Buffer& buffer = *buffers_[static_cast<size_t>(rank)];
    std::vector<Chunk> rest;
    {
      std::lock_guard lock(buffer.mutex);
      rest = std::move(buffer.pieces);
    }
    std::vector<Chunk> message;
    int64_t bytes = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
      bytes += rest[i].memory_bytes();
      message.push_back(std::move(rest[i]));
      bool is_full = !context_.schedule.one_message && bytes >= context_.message_bytes;
      if (!is_full && i + 1 < rest.size()) continue;
      Task<void> sending = send(rank, std::exchange(message, {}));
      co_await sending;
      bytes = 0;
    }
  }
}

std::vector<Chunk> ExchangeSink::parts_of(const Chunk& chunk) {
  WorkTimer timer(metrics_);
  metrics_.rows += chunk.rows();
  metrics_.chunks += 1;
  switch (exchange_.kind) {
    case PhysicalExchange::Kind::Gather: return {chunk};
    case PhysicalExchange::Kind::Broadcast: return std::vector<Chunk>(buffers_.size(), chunk);
    case PhysicalExchange::Kind::Repartition: return hashed_parts(chunk);
    case PhysicalExchange::Kind::Scatter: return even_parts(chunk);
  }
  return {};
}

std::vector<Chunk> ExchangeSink::hashed_parts(const Chunk& chunk) const {
  auto ranks = static_cast<int64_t>(buffers_.size());
  // Hashed once more: joins and groupings on the rank use the bits of the first hash, and must find all of them in use.
  at::Tensor hashes = kernels::hash64(hash_rows(keys_->evaluate(chunk)));
  int64_t bits = partition_bits(static_cast<int>(ranks));
  auto [order, offsets] = kernels::partition_rows(hashes, bits);
  at::Tensor places = offsets.to(at::kCPU);
  const int64_t* place = places.const_data_ptr<int64_t>();
  std::vector<Chunk> parts;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t begin = place[(rank << bits) / ranks];
    int64_t end = place[((rank + 1) << bits) / ranks];
    parts.push_back(take_rows(chunk, order.slice(0, begin, end)));
  }
  return parts;
}

std::vector<Chunk> ExchangeSink::even_parts(const Chunk& chunk) {
  auto ranks = static_cast<int64_t>(buffers_.size());
  std::vector<Chunk> parts(buffers_.size());
  int64_t first = scattered_++;
  for (int64_t i = 0; i < ranks; ++i) {
    int64_t begin = chunk.rows() * i / ranks;
    int64_t end = chunk.rows() * (i + 1) / ranks;
    parts[static_cast<size_t>((first + i) % ranks)] = chunk.slice(begin, end - begin);
  }
  return parts;
}

std::vector<Chunk> ExchangeSink::add(int rank, const Chunk& piece) {
  WorkTimer timer(metrics_);
  Chunk own = own_chunk(piece);
  int64_t bytes = std::max<int64_t>(1, own.memory_bytes());
  Buffer& buffer = *buffers_[static_cast<size_t>(rank)];
  std::lock_guard lock(buffer.mutex);
  buffer.pieces.push_back(std::move(own));
  buffer.bytes += bytes;
  if (context_.schedule.hold_rows) {
    buffer.memory.push_back(memory_.reserve_now(bytes, ReservationKind::Held));
    return {};
  }
  if (buffer.bytes < context_.message_bytes) return {};
  buffer.bytes = 0;
  return std::exchange(buffer.pieces, {});
}

Task<void> ExchangeSink::send(int rank, std::vector<Chunk> pieces) {
  Chunk rows = concatenate_chunks(pieces, types_, context_.device);
  metrics_.bytes += rows.memory_bytes();
  Task<bool> sending = output_.send(rank, std::move(rows));
  co_await sending;
}

}  // namespace pistachio
