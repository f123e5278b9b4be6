// A column that rows are appended to, with room to spare so that appending costs no copy of what is there. One thread at a time.
#pragma once

#include "data/column.h"

namespace pistachio {

class GrowingColumn {
 public:
  GrowingColumn(LogicalType type, at::Device device);

  // Dictionary-coded columns are decoded.
  void append(const Column& column);
  // What is there now; shares memory with this object and is valid until the next append.
  Column view() const;
  int64_t rows() const { return rows_; }
  int64_t memory_bytes() const;

 private:
  LogicalType type_;
  int64_t rows_ = 0;
  int64_t text_bytes_ = 0;
  at::Tensor values_;  // or begins of text
  at::Tensor ends_;
  at::Tensor bytes_;
  at::Tensor validity_;  // undefined while there are no NULLs
};

// The tensor, or a larger copy of it filled up with zeros, that has at least `rows` rows.
at::Tensor with_room(const at::Tensor& tensor, int64_t used, int64_t rows);

}  // namespace pistachio
