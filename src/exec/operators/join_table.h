// The tensors of a join's hash table (kernels/ops/join_build.h), and how all lanes build a large one together. Immutable once built.
// Threads: lanes hash and scatter ranges of rows into radix partitions, then sort different partitions into buckets.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "exec/core/operator.h"

namespace pistachio {

struct JoinTable {
  at::Tensor offsets;
  at::Tensor order;
  at::Tensor hashes;

  // Memory that build_join_table() needs: hashes, order, buckets.
  static constexpr int64_t kBytesPerRow = 40;
};

// `valid`: bool [rows], the rows that can match; undefined: all rows.
JoinTable build_join_table(const std::vector<Column>& keys, const at::Tensor& valid, const CancelToken& token);
// The same table, on all lanes if there are many rows. `keys` outlive it.
Task<JoinTable> build_join_table_on_lanes(RunContext& context, const std::vector<Column>& keys, at::Tensor valid, OperatorMetrics& metrics);

}  // namespace pistachio
