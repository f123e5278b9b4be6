// Groups rows by destination rank: the top bits of a row's hash select a bucket, and a table maps buckets to ranks. The caller chooses the
// table, so shares can be uneven or reassigned; with ascending ranks the result is that of partition_rows.
//   hashes  int64 [n], from hash64
//   owners  int32 or int64 [2^bits], bits in [0, 16], on the device of the hashes: the rank of each bucket, in [0, ranks)
//   ranks   in [1, 65536]
// Returns (order int64 [n], offsets int64 [ranks + 1]): rank r gets the rows order[offsets[r], offsets[r + 1]), ascending.
// InternalError: an owner is out of range.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> route_rows(const at::Tensor& hashes, const at::Tensor& owners, int64_t ranks);

}  // namespace pistachio::kernels
