// Finds the pairs of a join whose build keys have ranks (key_ranks.h).
//   ranks     closed; k distinct values
//   offsets   int64 [at least k + 1]: order[offsets[rank], offsets[rank + 1]) are the build rows of a rank, ascending; undefined: a rank
//             has one build row, order[rank]
//   order     int32; undefined if offsets are: the build row is the rank itself
//   values    [p] integers
//   validity  bool [p], or undefined: no NULLs. Rows where it is false match nothing
//   least     the value of the first bit
//   begin     the first row to probe
//   most_pairs  limit on pairs, at least 1
// probe_ranks returns (probe_rows int64 [m], build_rows int64 [m], next) as join_probe does (join_probe.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor, int64_t> probe_ranks(const at::Tensor& ranks, const at::Tensor& offsets, const at::Tensor& order,
                                                        const at::Tensor& values, const at::Tensor& validity, int64_t least, int64_t begin,
                                                        int64_t most_pairs);

}  // namespace pistachio::kernels
