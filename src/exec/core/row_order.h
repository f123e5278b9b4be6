// Sorted order of rows by sort keys.
#pragma once

#include <vector>

#include "base/cancel_token.h"
#include "data/chunk.h"
#include "expr/expression_evaluator.h"
#include "physical/physical_node.h"

namespace pistachio {

class RowOrder {
 public:
  RowOrder(std::vector<SortKey> keys, const std::vector<ColumnId>& layout);

  // int64 [rows]: the row numbers in sorted order; the sort is stable. Throws Cancelled soon after the token is cancelled.
  at::Tensor order_of(const Chunk& rows, const CancelToken& token = {}) const;
  // The same by the values of the keys.
  at::Tensor order_of_keys(const Chunk& key_values, const CancelToken& token = {}) const;
  const std::vector<SortKey>& keys() const { return keys_; }
  // The values of the sort keys, as a chunk.
  Chunk key_values(const Chunk& rows, const CancelToken& token = {}) const;
  // Words (int64 [rows] each, the most significant first) whose lexicographic order is the sort order. Comparable only within one call: the
  // words of text are its ranks among the given rows. `stop` as in kernels/ops/stop_flag.h.
  std::vector<at::Tensor> words_of(const Chunk& key_values, const at::Tensor& stop = {}) const;
  // Bytes that order_of needs per row: the words of the keys, the order, and scratch space for ranking text.
  int64_t bytes_per_row() const;

 private:
  std::vector<SortKey> keys_;
  ExpressionEvaluator evaluator_;
};

}  // namespace pistachio
