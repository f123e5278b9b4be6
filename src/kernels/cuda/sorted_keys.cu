// Radix sorts, segment bounds and prefix sums that several kernels share.
#include "kernels/cuda/sorted_keys.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

template <typename Key, typename Value>
void sort(const Key* keys, Key* sorted_keys, const Value* values, Value* sorted_values, int64_t rows, int begin_bit, int end_bit,
          ScratchMemory& scratch, cudaStream_t stream) {
  if (rows == 0) return;
  if (begin_bit >= end_bit) {
    const auto count = static_cast<size_t>(rows);
    check_cuda(cudaMemcpyAsync(sorted_keys, keys, count * sizeof(Key), cudaMemcpyDeviceToDevice, stream));
    check_cuda(cudaMemcpyAsync(sorted_values, values, count * sizeof(Value), cudaMemcpyDeviceToDevice, stream));
    return;
  }
  size_t bytes = 0;
  check_cuda(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted_keys, values, sorted_values, rows, begin_bit, end_bit, stream));
  void* temporary = scratch.take_bytes(bytes);
  check_cuda(cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, sorted_keys, values, sorted_values, rows, begin_bit, end_bit, stream));
}

struct RowNumber {
  __device__ int64_t operator()(int64_t row) const { return row; }
};

// Row i writes the offsets in (previous key, own key]. Most rows write none or a few; where many keys are missing, the whole warp writes.
__global__ void __launch_bounds__(threads_per_block)
    find_segments_kernel(const uint32_t* __restrict__ keys, int64_t rows, int64_t segments, int64_t* __restrict__ offsets) {
  constexpr int64_t few = 16;
  const int lane = threadIdx.x % 32;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads_per_block;
  for (int64_t start = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x - lane; start <= rows; start += stride) {
    const int64_t row = start + lane;
    int64_t from = 0, to = -1;  // offsets [from, to]
    if (row <= rows) {
      from = row == 0 ? 0 : min(static_cast<int64_t>(keys[row - 1]), segments) + 1;
      to = row == rows ? segments : min(static_cast<int64_t>(keys[row]), segments);
    }
    const bool many = to - from >= few;
    if (!many) {
      for (int64_t segment = from; segment <= to; ++segment) offsets[segment] = row;
    }
    for (unsigned left = __ballot_sync(0xffffffff, many); left != 0; left &= left - 1) {
      const int source = __ffs(left) - 1;
      const int64_t first = __shfl_sync(0xffffffff, from, source), last = __shfl_sync(0xffffffff, to, source);
      for (int64_t segment = first + lane; segment <= last; segment += 32) offsets[segment] = start + source;
    }
  }
}

}  // namespace

void sort_pairs(const uint32_t* keys, uint32_t* sorted_keys, const int64_t* values, int64_t* sorted_values, int64_t rows, int begin_bit,
                int end_bit, ScratchMemory& scratch, cudaStream_t stream) {
  sort(keys, sorted_keys, values, sorted_values, rows, begin_bit, end_bit, scratch, stream);
}

void sort_pairs(const uint32_t* keys, uint32_t* sorted_keys, const double* values, double* sorted_values, int64_t rows, int begin_bit,
                int end_bit, ScratchMemory& scratch, cudaStream_t stream) {
  sort(keys, sorted_keys, values, sorted_values, rows, begin_bit, end_bit, scratch, stream);
}

void sort_pairs(const uint64_t* keys, uint64_t* sorted_keys, const int64_t* values, int64_t* sorted_values, int64_t rows, int begin_bit,
                int end_bit, ScratchMemory& scratch, cudaStream_t stream) {
  sort(keys, sorted_keys, values, sorted_values, rows, begin_bit, end_bit, scratch, stream);
}

int bits_of(uint64_t most) {
  int bits = 0;
  for (; most != 0; most >>= 1) ++bits;
  return bits;
}

void fill_row_numbers(int64_t* words, int64_t rows, cudaStream_t stream) {
  map_rows(rows, words, RowNumber{}, stream);
}

void find_segments(const uint32_t* sorted_keys, int64_t rows, int64_t segments, int64_t* offsets, cudaStream_t stream) {
  const unsigned blocks = blocks_for(rows + 1, threads_per_block);
  find_segments_kernel<<<blocks, threads_per_block, 0, stream>>>(sorted_keys, rows, segments, offsets);
  check_cuda(cudaGetLastError());
}

void sum_inclusive(int64_t* words, int64_t count, ScratchMemory& scratch, cudaStream_t stream) {
  if (count == 0) return;
  size_t bytes = 0;
  check_cuda(cub::DeviceScan::InclusiveSum(nullptr, bytes, words, words, count, stream));
  void* temporary = scratch.take_bytes(bytes);
  check_cuda(cub::DeviceScan::InclusiveSum(temporary, bytes, words, words, count, stream));
}

void sum_exclusive(int64_t* words, int64_t count, ScratchMemory& scratch, cudaStream_t stream) {
  if (count == 0) return;
  size_t bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, words, words, count, stream));
  void* temporary = scratch.take_bytes(bytes);
  check_cuda(cub::DeviceScan::ExclusiveSum(temporary, bytes, words, words, count, stream));
}

}  // namespace pistachio::kernels::cuda
