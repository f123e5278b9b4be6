#include "exec/core/held_chunks.h"

#include <ATen/core/Tensor.h>

#include "columns/concatenate_columns.h"
#include "columns/own_column.h"
#include "columns/row_selection.h"

namespace pistachio {

void HeldChunks::add(const Chunk& chunk) {
  std::vector<Column> columns;
  int64_t bytes = 0;
  for (const Column& column : chunk.columns()) {
    columns.push_back(own_column(column));
    bytes += columns.back().memory_bytes();
    if (columns.back().is_dictionary() && dictionaries_.insert(columns.back().dictionary_column().get()).second)
      bytes += columns.back().dictionary_column()->memory_bytes();
  }
  int64_t rows = chunk.rows();
  // Not waited for: the lane that is here may hold the very memory it would wait for.
  memory_.push_back(account_.reserve_now(bytes, ReservationKind::Held));
  chunks_.emplace_back(std::move(columns), rows, chunk.device());
  rows_ += rows;
  bytes_ += bytes;
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
