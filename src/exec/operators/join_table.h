// The tensors of a join's hash table (kernels/ops/join_build.h), and how all lanes build a large one together. Immutable once built.
// Threads: lanes hash and scatter ranges of rows into radix partitions, then sort different partitions into buckets.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "exec/core/operator.h"

namespace pistachio {

struct JoinTable {
  at::Tensor offsets;
  at::Tensor order;
  at::Tensor hashes;

  // Memory that build_join_table() needs: hashes, order, buckets.
  static constexpr int64_t kBytesPerRow = 40;
};

// The hashes (int64) of build rows [begin, begin + rows). Called by any lane; outlives the build.
using RowHashes = std::function<at::Tensor(int64_t begin, int64_t rows)>;

// `valid`: bool [rows], the rows that can match; undefined: all rows.
JoinTable build_join_table(const RowHashes& hashes, int64_t rows, const at::Tensor& valid, const CancelToken& token);
// The same table, on all lanes if there are many rows.
Task<JoinTable> build_join_table_on_lanes(RunContext& context, const RowHashes& hashes, int64_t rows, at::Tensor valid,
                                          OperatorMetrics& metrics);

}  // namespace pistachio
