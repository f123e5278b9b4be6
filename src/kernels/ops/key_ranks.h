// Numbers the distinct integers of a limited range in ascending order: a value's rank is found with two loads from one cache line, without
// hashing or comparing.
//   ranks     int64 [2 w], zeros at first. For the values least + 64 i to least + 64 i + 63: word 2 i has a bit for each that is in the
//             set, word 2 i + 1 is the number of smaller values in the set, once the ranks are closed
//   values    [n] integers
//   validity  bool [n], or undefined: no NULLs. Rows where it is false are not added and have no rank
//
// add_key_ranks    adds values, which must be in the range: not checked. Threads may add to the same ranks concurrently.
// close_key_ranks  after all values were added. Returns the number of distinct values.
// find_key_ranks   int64 [n]: the rank of each value, -1 if it is not in the set
// has_key_ranks    bool [n]: whether each value is in the set
// place_by_rank    order[rank] = first + i (int32) for each value i, all of which are in the set. Threads may place different values into
//                  the same order concurrently. Returns whether every row went to the place of its own number.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

void add_key_ranks(at::Tensor& ranks, const at::Tensor& values, const at::Tensor& validity, int64_t least);
int64_t close_key_ranks(at::Tensor& ranks);
at::Tensor find_key_ranks(const at::Tensor& ranks, const at::Tensor& values, const at::Tensor& validity, int64_t least);
at::Tensor has_key_ranks(const at::Tensor& ranks, const at::Tensor& values, const at::Tensor& validity, int64_t least);
bool place_by_rank(at::Tensor& order, const at::Tensor& ranks, const at::Tensor& values, const at::Tensor& validity, int64_t least,
                   int64_t first);

}  // namespace pistachio::kernels
