// Sorts rows into 2^bits partitions by the top bits of their hashes; joins and groupings look rows up by the same or by lower bits, so
// a partition is a range of a join table and loses nothing inside a group table.
//   hashes  int64 [n], as hash64 makes them
//   bits    in [0, 12]
// Returns (order int64 [n], offsets int64 [2^bits + 1]): partition p holds the rows order[offsets[p], offsets[p + 1]), ascending.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> partition_rows(const at::Tensor& hashes, int64_t bits);

}  // namespace pistachio::kernels
