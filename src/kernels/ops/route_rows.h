// Sorts rows by the rank they go to: the top bits of a row's hash name a bucket, a table says which rank owns that bucket. The table is the
// caller's to choose, so that shares can be uneven or moved; one that gives ascending ranks makes the same parts as partition_rows.
//   hashes  int64 [n], as hash64 makes them
//   owners  int32 or int64 [2^bits], bits in [0, 16], on the device of the hashes: the rank of each bucket, in [0, ranks)
//   ranks   in [1, 65536]
// Returns (order int64 [n], offsets int64 [ranks + 1]): rank r gets the rows order[offsets[r], offsets[r + 1]), ascending.
// An owner outside of its range is a bug of the caller: InternalError.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> route_rows(const at::Tensor& hashes, const at::Tensor& owners, int64_t ranks);

}  // namespace pistachio::kernels
