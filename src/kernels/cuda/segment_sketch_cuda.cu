// HyperLogLog sketches on the GPU. A register is raised by compare-and-swap of the word around it, which few rows do: a register of n
// values is raised about log n times.
#include "kernels/cuda/segment_sketch_cuda.h"

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

__device__ void raise_register(uint8_t* cell, uint8_t rank) {
  if (*static_cast<volatile uint8_t*>(cell) >= rank) return;
  const auto address = reinterpret_cast<uintptr_t>(cell);
  auto* word = reinterpret_cast<unsigned*>(address & ~uintptr_t{3});
  const unsigned shift = static_cast<unsigned>(address & 3) * 8;
  unsigned before = *static_cast<volatile unsigned*>(word);
  while ((before >> shift & 0xff) < rank) {
    const unsigned raised = (before & ~(0xffU << shift)) | static_cast<unsigned>(rank) << shift;
    const unsigned found = atomicCAS(word, before, raised);
    if (found == before) return;
    before = found;
  }
}

struct AddHash {
  uint8_t* registers;
  const int64_t* ids;
  const int64_t* hashes;
  __device__ void operator()(int64_t row) const {
    const auto hash = static_cast<uint64_t>(hashes[row]);
    const uint64_t bounded = hash >> sketch_bits | uint64_t{1} << (greatest_rank - 1);
    const auto place = static_cast<int64_t>(hash % sketch_size);
    raise_register(registers + ids[row] * sketch_size + place, static_cast<uint8_t>(__ffsll(static_cast<long long>(bounded))));
  }
};

struct MergeRegister {
  uint8_t* registers;
  const int64_t* ids;
  const uint8_t* others;
  __device__ void operator()(int64_t place) const {
    raise_register(registers + ids[place / sketch_size] * sketch_size + place % sketch_size, others[place]);
  }
};

// One block per sketch. Sums of warps meet in shared memory.
__global__ void __launch_bounds__(threads_per_block)
    sum_sketches_kernel(const uint8_t* __restrict__ registers, int64_t sketches, int64_t* __restrict__ sums) {
  constexpr int warps = threads_per_block / 32;
  __shared__ long long zeros_of_warp[warps], sum_of_warp[warps];
  for (int64_t sketch = blockIdx.x; sketch < sketches; sketch += gridDim.x) {
    long long zeros = 0, sum = 0;
    for (int64_t i = threadIdx.x; i < sketch_size; i += threads_per_block) {
      const int rank = registers[sketch * sketch_size + i];
      if (rank == 0) {
        ++zeros;
      } else {
        sum += 1LL << (greatest_rank - min(rank, greatest_rank));
      }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      zeros += __shfl_down_sync(0xffffffff, zeros, offset);
      sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (threadIdx.x % 32 == 0) {
      zeros_of_warp[threadIdx.x / 32] = zeros;
      sum_of_warp[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int warp = 1; warp < warps; ++warp) {
        zeros += zeros_of_warp[warp];
        sum += sum_of_warp[warp];
      }
      sums[2 * sketch] = zeros;
      sums[2 * sketch + 1] = sum;
    }
    __syncthreads();
  }
}

}  // namespace

void add_to_sketches(uint8_t* registers, const int64_t* ids, const int64_t* hashes, int64_t rows, cudaStream_t stream) {
  for_rows(rows, AddHash{registers, ids, hashes}, stream);
}

void merge_sketches(uint8_t* registers, const int64_t* ids, const uint8_t* others, int64_t rows, cudaStream_t stream) {
  for_rows(rows * sketch_size, MergeRegister{registers, ids, others}, stream);
}

void sum_sketches(const uint8_t* registers, int64_t sketches, int64_t* sums, cudaStream_t stream) {
  if (sketches == 0) return;
  sum_sketches_kernel<<<blocks_for(sketches, 1), threads_per_block, 0, stream>>>(registers, sketches, sums);
  check_cuda(cudaGetLastError());
}

}  // namespace pistachio::kernels::cuda
