// Partitions rows into 2^bits partitions by the top bits of their hashes. A partition is a range of a join table, which uses the same bits;
// group tables use the low bits, so partitioning does not make them collide.
//   hashes  int64 [n], from hash64
//   bits    in [0, 12]
//   stop    bool [1] on the host, as in stop_flag.h, or undefined
// Returns (order int64 [n], offsets int64 [2^bits + 1]): partition p holds the rows order[offsets[p], offsets[p + 1]), ascending.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> partition_rows(const at::Tensor& hashes, int64_t bits, const at::Tensor& stop = {});

}  // namespace pistachio::kernels
