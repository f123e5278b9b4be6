// Row selection on the GPU: counts flags sixteen at a time and copies with CUB.
#include "kernels/cuda/row_selection_cuda.h"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int64_t counting_blocks = 2048;
constexpr int64_t flags_per_step = sizeof(uint4);

__device__ int count_bytes(uint4 flags) {
  constexpr unsigned ones = 0x01010101;
  return __popc(flags.x & ones) + __popc(flags.y & ones) + __popc(flags.z & ones) + __popc(flags.w & ones);
}

// Flags before `begin` and from `begin + 16 * steps` do not fill an aligned step; the first threads count one each.
__global__ void __launch_bounds__(threads_per_block)
    count_flags_kernel(const bool* flags, int64_t rows, int64_t begin, int64_t steps, unsigned long long* count) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * threads_per_block;
  const auto* words = reinterpret_cast<const uint4*>(flags + begin);
  int64_t sum = 0;
  for (int64_t step = thread; step < steps; step += threads) sum += count_bytes(words[step]);
  if (thread < begin) sum += flags[thread];
  const int64_t rest = begin + steps * flags_per_step + thread;
  if (rest < rows) sum += flags[rest];  // fewer than 16
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(count, static_cast<unsigned long long>(sum));
}

template <typename Input, typename Output>
void select(Input values, const bool* flags, int64_t rows, Output out, ScratchMemory& scratch, cudaStream_t stream) {
  if (rows == 0) return;
  auto* selected = scratch.take<int64_t>(1);
  size_t bytes = 0;
  check_cuda(cub::DeviceSelect::Flagged(nullptr, bytes, values, flags, out, selected, rows, stream));
  void* temporary = scratch.take_bytes(bytes);
  check_cuda(cub::DeviceSelect::Flagged(temporary, bytes, values, flags, out, selected, rows, stream));
}

}  // namespace

int64_t* count_flags(const bool* flags, int64_t rows, ScratchMemory& scratch, cudaStream_t stream) {
  auto* count = scratch.take<unsigned long long>(1);
  check_cuda(cudaMemsetAsync(count, 0, sizeof(*count), stream));
  if (rows > 0) {
    const int64_t misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(flags) % flags_per_step);
    const int64_t begin = std::min(rows, misaligned == 0 ? 0 : flags_per_step - misaligned);
    const int64_t steps = (rows - begin) / flags_per_step;
    const int64_t blocks = std::clamp<int64_t>((steps + threads_per_block - 1) / threads_per_block, 1, counting_blocks);
    count_flags_kernel<<<static_cast<unsigned>(blocks), threads_per_block, 0, stream>>>(flags, rows, begin, steps, count);
    check_cuda(cudaGetLastError());
  }
  return reinterpret_cast<int64_t*>(count);
}

void select_values(ValueKind kind, const void* values, const bool* flags, int64_t rows, void* out, ScratchMemory& scratch,
                   cudaStream_t stream) {
  with_size(kind, [&](auto type) {
    using T = decltype(type);
    select(static_cast<const T*>(values), flags, rows, static_cast<T*>(out), scratch, stream);
  });
}

void select_rows(const bool* flags, int64_t rows, int64_t* out, ScratchMemory& scratch, cudaStream_t stream) {
  select(thrust::counting_iterator<int64_t>(0), flags, rows, out, scratch, stream);
}

}  // namespace pistachio::kernels::cuda
