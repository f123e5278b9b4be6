// A chunk: columns of equal length, the unit that flows through channels and operators. Immutable, cheap to copy.
#pragma once

#include <vector>

#include "data/column.h"

namespace pistachio {

class Chunk {
 public:
  Chunk() = default;
  // `device` is ignored if there are columns: the chunk is where they are.
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
