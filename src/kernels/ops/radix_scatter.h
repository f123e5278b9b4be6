// Copies rows of several chunks into radix partitions by the top bits of their hashes: radix_count counts the rows of each partition chunk
// by chunk, then radix_scatter writes the columns of each chunk to where its rows of each partition go.
//   hashes  int64 [n], from hash64
//   counts  int64 [2^bits], modified: grows by the rows of each partition; bits in [0, 12]
//   places  int64 [2^bits], not modified: the row of `out` for the chunk's first row of each partition; not checked
//   values  [n] of any column dtype, or int64 [n, 2]
//   out     of the same dtype, contiguous, modified
//   stop    bool [1] on the host, as in stop_flag.h, or undefined
// Rows of a partition keep their order. Partitions are those of partition_rows.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

void radix_count(at::Tensor& counts, const at::Tensor& hashes, const at::Tensor& stop = {});
void radix_scatter(at::Tensor& out, const at::Tensor& values, const at::Tensor& hashes, const at::Tensor& places,
                   const at::Tensor& stop = {});

}  // namespace pistachio::kernels
