// Folds rows into one accumulator per group, for .cu files. With few groups each block first folds into copies of the accumulators in
// shared memory, as many as fit up to one per thread, to avoid contention on a frequent group; with many groups rows go directly to the
// state.
// A Fold has
//   Cell, State                 the accumulator in shared memory and in the state
//   identity()                  an empty cell
//   add(Cell*, row, group)      adds a row, atomically
//   combine(Cell&, Cell)        adds a cell, not atomically
//   flush(State*, Cell)         adds a cell to the state, atomically
//   add_to_state(State*, row, group)
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

constexpr int64_t fold_shared_bytes = 48 << 10;  // available to a block without opting in to more
constexpr int64_t fold_blocks_per_processor = 4;

template <typename Fold>
__global__ void __launch_bounds__(threads_per_block)
    fold_in_shared_memory_kernel(Fold fold, typename Fold::State* state, int groups, int copies, const int64_t* __restrict__ ids,
                                 const bool* __restrict__ valid, int64_t rows) {
  using Cell = typename Fold::Cell;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  Cell* cells = reinterpret_cast<Cell*>(shared_bytes);
  for (int i = threadIdx.x; i < groups * copies; i += threads_per_block) cells[i] = Fold::identity();
  __syncthreads();
  Cell* own = cells + (threadIdx.x & (copies - 1));
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads_per_block;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x; row < rows; row += stride) {
    if (valid != nullptr && !valid[row]) continue;
    const int64_t group = ids[row];
    fold.add(own + group * copies, row, group);
  }
  __syncthreads();
  for (int half = copies / 2; half > 0; half /= 2) {
    for (int i = threadIdx.x; i < groups * half; i += threads_per_block) {
      Cell* first = cells + i / half * copies + i % half;
      Fold::combine(*first, first[half]);
    }
    __syncthreads();
  }
  for (int group = threadIdx.x; group < groups; group += threads_per_block) Fold::flush(state + group, cells[group * copies]);
}

template <typename Fold>
struct FoldIntoState {
  Fold fold;
  typename Fold::State* state;
  const int64_t* ids;
  const bool* valid;
  __device__ void operator()(int64_t row) const {
    if (valid != nullptr && !valid[row]) return;
    const int64_t group = ids[row];
    fold.add_to_state(state + group, row, group);
  }
};

inline int64_t processor_count() {
  int device = 0, processors = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  return processors;
}

template <typename Fold>
void fold_segments(const Fold& fold, typename Fold::State* state, int64_t groups, const int64_t* ids, const bool* valid, int64_t rows,
                   cudaStream_t stream) {
  if (rows == 0) return;
  constexpr int64_t cells = fold_shared_bytes / static_cast<int64_t>(sizeof(typename Fold::Cell));
  // A block should fold many more rows than it flushes groups, but fewer than 2^31: counters in shared memory may have 32 bits.
  const int64_t rows_per_block = std::max<int64_t>(8 * threads_per_block, 4 * groups);
  if (groups <= cells && rows >= 2 * groups) {
    const int64_t blocks = std::clamp<int64_t>(rows / rows_per_block, 1, fold_blocks_per_processor * processor_count());
    if (rows / blocks < int64_t{1} << 30) {
      int64_t copies = 1;
      while (copies < threads_per_block && 2 * copies * groups <= cells) copies *= 2;
      const size_t bytes = static_cast<size_t>(groups * copies) * sizeof(typename Fold::Cell);
      fold_in_shared_memory_kernel<<<static_cast<unsigned>(blocks), threads_per_block, bytes, stream>>>(
          fold, state, static_cast<int>(groups), static_cast<int>(copies), ids, valid, rows);
      return check_cuda(cudaGetLastError());
    }
  }
  for_rows(rows, FoldIntoState<Fold>{fold, state, ids, valid}, stream);
}

}  // namespace pistachio::kernels::cuda
