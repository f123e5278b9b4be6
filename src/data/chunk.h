// A chunk: columns of equal length, the unit that flows through channels and operators. Immutable, cheap to copy.
// A chunk whose tensors live on a device will also carry the event that says when they are ready; on the CPU they always are.
#pragma once

#include <vector>

#include "data/column.h"

namespace pistachio {

class Chunk {
 public:
  Chunk() = default;
  // The device of a chunk with columns is theirs.
  Chunk(std::vector<Column> columns, int64_t rows, at::Device device = at::kCPU);

  int64_t rows() const { return rows_; }
  at::Device device() const { return device_; }
  size_t column_count() const { return columns_.size(); }
  const Column& column(size_t index) const { return columns_[index]; }
  const std::vector<Column>& columns() const { return columns_; }

  Chunk slice(int64_t begin, int64_t count) const;
  int64_t memory_bytes() const;

 private:
  std::vector<Column> columns_;
  int64_t rows_ = 0;
  at::Device device_ = at::kCPU;
};

}  // namespace pistachio
