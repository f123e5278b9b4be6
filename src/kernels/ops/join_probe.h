// Probes the table of a hash join. Only hashes are compared; the caller verifies the keys of the pairs.
//   offsets, order, ordered_hashes  from join_build
//   probe_hashes                    int64 [p]
//   probe_validity                  bool [p], or undefined: no NULLs. Rows where it is false match nothing
//   begin                           the first row to probe
//   most_pairs                      limit on pairs, at least 1
// join_probe returns (probe_rows int64 [m], build_rows int64 [m], next): all pairs of rows with equal hashes, by probe row and then by
// build row. It stops after the row that makes m >= most_pairs, so one row with many matches may exceed the limit; next is the first row
// not yet probed, p at the end.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor, int64_t> join_probe(const at::Tensor& offsets, const at::Tensor& order, const at::Tensor& ordered_hashes,
                                                       const at::Tensor& probe_hashes, const at::Tensor& probe_validity, int64_t begin,
                                                       int64_t most_pairs);

}  // namespace pistachio::kernels
