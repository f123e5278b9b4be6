#include "exec/core/held_chunks.h"

#include <ATen/core/Tensor.h>

#include "columns/concatenate_columns.h"
#include "columns/own_column.h"
#include "columns/row_selection.h"

namespace pistachio {

Chunk own_chunk(const Chunk& chunk) {
  std::vector<Column> columns;
  for (const Column& column : chunk.columns()) columns.push_back(own_column(column));
  return Chunk(std::move(columns), chunk.rows(), chunk.device());
}

int64_t CountedDictionaries::add(const Chunk& chunk) {
  int64_t bytes = 0;
  for (const Column& column : chunk.columns()) {
    if (column.is_dictionary() && counted_.insert(column.dictionary_column().get()).second) bytes += column.dictionary_column()->memory_bytes();
  }
  return bytes;
}

void HeldChunks::add(const Chunk& chunk) {
  Chunk own = own_chunk(chunk);
  const int64_t bytes = own.memory_bytes() + dictionaries_.add(own);
  // Fails rather than waits: this lane may itself hold the memory it would wait for.
  memory_.push_back(account_.reserve_now(bytes, ReservationKind::Held));
  rows_ += own.rows();
  bytes_ += bytes;
  chunks_.push_back(std::move(own));
}

Chunk concatenate_chunks(const std::vector<Chunk>& chunks, const std::vector<LogicalType>& types, at::Device device,
                         const CancelToken& token) {
  std::vector<Column> columns;
  int64_t rows = 0;
  for (const Chunk& chunk : chunks) rows += chunk.rows();
  for (size_t i = 0; i < types.size(); ++i) {
    std::vector<Column> pieces;
    for (const Chunk& chunk : chunks) pieces.push_back(chunk.column(i));
    columns.push_back(pieces.empty() ? null_column(types[i], 0, device) : concatenate_columns(pieces, token));
  }
  return Chunk(std::move(columns), rows, device);
}

}  // namespace pistachio
