#include "exec/core/small_chunks.h"

#include <utility>

#include "base/check.h"
#include "columns/concatenate_columns.h"

namespace pistachio {

Chunk join_chunks(std::vector<Chunk> chunks) {
  ENSURE(!chunks.empty());
  if (chunks.size() == 1) return std::move(chunks[0]);
  std::vector<Column> columns;
  int64_t rows = 0;
  for (const Chunk& chunk : chunks) rows += chunk.rows();
  for (size_t place = 0; place < chunks[0].column_count(); ++place) {
    std::vector<Column> pieces;
    for (const Chunk& chunk : chunks) pieces.push_back(chunk.column(place));
    columns.push_back(concatenate_coded(pieces));
  }
  return Chunk(std::move(columns), rows, chunks[0].device());
}

std::optional<Chunk> SmallChunks::add(Chunk chunk) {
  if (chunk.rows() == 0) return std::nullopt;
  bytes_ += chunk.memory_bytes();
  held_.push_back(std::move(chunk));
  if (bytes_ < most_bytes_ && held_.size() <= passed_) return std::nullopt;
  return take();
}

std::optional<Chunk> SmallChunks::take() {
  if (held_.empty()) return std::nullopt;
  passed_ += held_.size();
  bytes_ = 0;
  return join_chunks(std::exchange(held_, {}));
}

}  // namespace pistachio
