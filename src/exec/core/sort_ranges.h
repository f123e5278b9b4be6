// Divides rows into ranges of their sort order, of about equal size, so that lanes can sort different ranges: sorting each range sorts all
// rows. Bounds come from a sample. Rows with equal keys are divided by their numbers, so that frequent keys do no harm; only texts that
// agree in many bytes stay together. Immutable, used by all lanes. Memory: the sample.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "exec/core/row_order.h"

namespace pistachio {

class SortRanges {
 public:
  // `key_values`: RowOrder::key_values of all rows, on the CPU and at least one. About 2^bits ranges.
  SortRanges(const std::vector<SortKey>& keys, Chunk key_values, int64_t bits, const CancelToken& token);

  int64_t count() const { return int64_t{1} << bits_; }
  // int64 [count]: the ranges of the rows [begin, begin + count), in the top bits, as radix_scatter takes them.
  at::Tensor radix_words(int64_t begin, int64_t count, const CancelToken& token) const;

 private:
  std::vector<at::Tensor> words_of(const Chunk& values, at::Tensor numbers) const;

  const std::vector<SortKey>& keys_;
  const Chunk values_;
  const int64_t bits_;
  std::vector<at::Tensor> prefixes_;  // of each text key: the bytes that all rows of the sample begin with; else undefined
  std::vector<at::Tensor> bounds_;
};

}  // namespace pistachio
