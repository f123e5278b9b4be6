#include "data/chunk.h"

#include "base/check.h"

namespace pistachio {

Chunk::Chunk(std::vector<Column> columns, int64_t rows, at::Device device)
    : columns_(std::move(columns)), rows_(rows), device_(columns_.empty() ? device : columns_[0].device()) {
  for (const Column& column : columns_) ENSURE_EQ(column.rows(), rows_);
}

Chunk Chunk::slice(int64_t begin, int64_t count) const {
  std::vector<Column> parts;
  parts.reserve(columns_.size());
  for (const Column& column : columns_) parts.push_back(column.slice(begin, count));
  return Chunk(std::move(parts), count, device_);
}

int64_t Chunk::memory_bytes() const {
  int64_t total = 0;
  for (const Column& column : columns_) total += column.memory_bytes();
  return total;
}

}  // namespace pistachio
