// Spread on the GPU: counts valid rows per tile, prefix-sums the counts with CUB to find where each tile's values start. Inside a tile a
// warp has a contiguous range of rows, whose validity it keeps as ballots; loads and stores of a warp are consecutive.
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/cuda/spread_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int block_threads = 256;
constexpr int warp_threads = 32;
constexpr int block_warps = block_threads / warp_threads;
constexpr int rounds = 16;
constexpr int warp_rows = warp_threads * rounds;
constexpr int64_t tile_rows = int64_t{block_warps} * warp_rows;
constexpr unsigned all_lanes = 0xffffffff;
constexpr size_t alignment = 256;

struct TwoWords {
  uint64_t low, high;
};

int64_t tiles_for(int64_t rows) {
  return (rows + tile_rows - 1) / tile_rows;
}

// The counts, with a zero after the last, so that their exclusive sums end with the total.
size_t counts_bytes(int64_t rows) {
  const size_t bytes = static_cast<size_t>(tiles_for(rows) + 1) * sizeof(int64_t);
  return (bytes + alignment - 1) / alignment * alignment;
}

cudaError_t sum_counts(void* scratch, size_t& scratch_bytes, int64_t* counts, int64_t tiles, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, counts, counts, tiles + 1, stream);
}

__global__ void __launch_bounds__(block_threads)
    count_valid_kernel(const uint8_t* __restrict__ validity, int64_t rows, int64_t* __restrict__ counts) {
  using BlockSum = cub::BlockReduce<int, block_threads>;
  __shared__ typename BlockSum::TempStorage storage;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * tile_rows;
  const int64_t end = first + tile_rows < rows ? first + tile_rows : rows;
  int valid = 0;
  for (int64_t row = first + threadIdx.x; row < end; row += block_threads) valid += validity[row] != 0;
  const int sum = BlockSum(storage).Sum(valid);
  if (threadIdx.x == 0) {
    counts[blockIdx.x] = sum;
    if (blockIdx.x == gridDim.x - 1) counts[gridDim.x] = 0;
  }
}

template <typename Value>
__global__ void __launch_bounds__(block_threads)
    spread_kernel(const Value* __restrict__ values, int64_t stored, const uint8_t* __restrict__ validity, int64_t rows,
                  const int64_t* __restrict__ starts, Value* __restrict__ out, int64_t* __restrict__ valid_count) {
  __shared__ int warp_counts[block_warps];
  const int warp = static_cast<int>(threadIdx.x) / warp_threads, lane = static_cast<int>(threadIdx.x) % warp_threads;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * tile_rows + warp * warp_rows + lane;
  unsigned ballots[rounds];
  int count = 0;
#pragma unroll
  for (int round = 0; round < rounds; ++round) {
    const int64_t row = first + round * warp_threads;
    ballots[round] = __ballot_sync(all_lanes, row < rows && validity[row] != 0);
    count += __popc(ballots[round]);
  }
  if (lane == 0) warp_counts[warp] = count;
  __syncthreads();
  int64_t next = starts[blockIdx.x];
  for (int before = 0; before < warp; ++before) next += warp_counts[before];
  const unsigned lanes_before = (1u << lane) - 1;
#pragma unroll
  for (int round = 0; round < rounds; ++round) {
    const int64_t row = first + round * warp_threads;
    const int64_t place = next + __popc(ballots[round] & lanes_before);
    const bool has_value = (ballots[round] >> lane & 1) != 0 && place < stored;
    if (row < rows) out[row] = has_value ? values[place] : Value{};
    next += __popc(ballots[round]);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *valid_count = starts[gridDim.x];
}

template <typename Value>
cudaError_t launch(const void* values, int64_t stored, const uint8_t* validity, int64_t rows, const int64_t* starts, void* out,
                   int64_t* valid_count, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(tiles_for(rows));
  const Value* source = static_cast<const Value*>(values);
  Value* target = static_cast<Value*>(out);
  spread_kernel<Value><<<blocks, block_threads, 0, stream>>>(source, stored, validity, rows, starts, target, valid_count);
  return cudaGetLastError();
}

}  // namespace

size_t spread_scratch_bytes(int64_t rows) {
  size_t sum_bytes = 0;
  sum_counts(nullptr, sum_bytes, nullptr, tiles_for(rows), nullptr);
  return counts_bytes(rows) + sum_bytes;
}

cudaError_t spread_values(const void* values, int64_t value_bytes, int64_t stored, const uint8_t* validity, int64_t rows, void* out,
                          void* scratch, size_t scratch_bytes, int64_t* valid_count, cudaStream_t stream) {
  int64_t* counts = static_cast<int64_t*>(scratch);
  const int64_t tiles = tiles_for(rows);
  count_valid_kernel<<<static_cast<unsigned>(tiles), block_threads, 0, stream>>>(validity, rows, counts);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  size_t sum_bytes = scratch_bytes - counts_bytes(rows);
  const cudaError_t error = sum_counts(static_cast<uint8_t*>(scratch) + counts_bytes(rows), sum_bytes, counts, tiles, stream);
  if (error != cudaSuccess) return error;
  switch (value_bytes) {
    case 1: return launch<uint8_t>(values, stored, validity, rows, counts, out, valid_count, stream);
    case 2: return launch<uint16_t>(values, stored, validity, rows, counts, out, valid_count, stream);
    case 4: return launch<uint32_t>(values, stored, validity, rows, counts, out, valid_count, stream);
    case 8: return launch<uint64_t>(values, stored, validity, rows, counts, out, valid_count, stream);
    case 16: return launch<TwoWords>(values, stored, validity, rows, counts, out, valid_count, stream);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace pistachio::kernels::cuda
