// Assigns group ids to distinct hashes: an open-addressing table from hash to group id, kept by the caller over many calls. Only
// hashes are compared; the caller verifies that each row has the keys of its group.
//   slots        int64 [capacity, 2], contiguous, capacity a power of two; all zeros is an empty table. A slot is {hash, id + 1}. Linear
//                probing starts at the low bits of a hash (the top bits partition)
//   groups       number of existing groups, which is the next id
//   most_groups  limit on groups, at most capacity / 2
//   hashes       int64 [n]
//   begin        the first row to assign
// group_assign updates slots and returns (ids int64 [k], first_rows int64 [g]): row begin + i belongs to group ids[i]; first_rows are the
// first rows of the new groups, groups .. groups + g - 1. It stops (k < n - begin) before the row that would exceed most_groups; the
// caller then calls it again at begin + k, with a larger or an empty table.
// group_rehash returns slots of a larger capacity with the same content, inserted in the order of the old slots. `stop` (bool [1] on the
// host, as in stop_flag.h, or undefined) ends it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> group_assign(at::Tensor& slots, int64_t groups, int64_t most_groups, const at::Tensor& hashes,
                                                int64_t begin);
at::Tensor group_rehash(const at::Tensor& slots, int64_t capacity, const at::Tensor& stop = {});

}  // namespace pistachio::kernels
