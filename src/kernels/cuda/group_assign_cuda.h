// The CUDA kernels of group_assign and group_rehash, on raw device memory and a stream. No torch headers: nvcc compiles this too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

// A slot of the table: the hash and id + 1; 0 if empty.
struct GroupSlot {
  int64_t hash;
  unsigned long long id_plus_one;
};

struct AssignedRows {
  int64_t rows;        // rows before the first that would exceed the group limit
  int64_t new_groups;
};

constexpr int64_t most_window_rows = int64_t{1} << 24;

// Assigns groups to the rows [begin, begin + rows), rows in [1, most_window_rows]. `ids` has room for `rows` elements, `first_rows` for
// min(rows, most_groups - groups). Synchronizes once.
AssignedRows assign_groups(GroupSlot* slots, int64_t capacity, int64_t groups, int64_t most_groups, const int64_t* hashes, int64_t begin,
                           int64_t rows, int64_t* ids, int64_t* first_rows, ScratchMemory& scratch, cudaStream_t stream);

// Inserts the used slots of `from` into `to`, which is all zeros, in their order.
void rehash_groups(const GroupSlot* from, int64_t from_capacity, GroupSlot* to, int64_t to_capacity, cudaStream_t stream);

}  // namespace pistachio::kernels::cuda
