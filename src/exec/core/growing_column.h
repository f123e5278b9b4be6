// A column with spare capacity, so that appending rows is amortized O(1). Not thread-safe.
#pragma once

#include "base/cancel_token.h"
#include "data/column.h"

namespace pistachio {

class GrowingColumn {
 public:
  GrowingColumn(LogicalType type, at::Device device);

  // Dictionary-coded columns are decoded. Throws Cancelled soon after the token is cancelled; the column is unusable then.
  void append(const Column& column, const CancelToken& token = {});
  // The rows so far; shares memory with this object and is valid until the next append.
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

// The tensor itself if it has at least `rows` rows, else a larger copy padded with zeros. Throws Cancelled soon after the token is
// cancelled.
at::Tensor with_room(const at::Tensor& tensor, int64_t used, int64_t rows, const CancelToken& token = {});

}  // namespace pistachio
