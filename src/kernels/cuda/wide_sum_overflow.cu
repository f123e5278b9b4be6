// A bound first: if |value| <= (v + 1) * 2^64 for all rows and |sum| <= (s + 1) * 2^64 initially, no prefix reaches 2^127 while rows * (v +
// 1) + s + 1 <= 2^63. Only beyond that are the exact prefixes computed, in 192 bits.
#include "kernels/cuda/wide_sum_overflow.h"

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/sorted_keys.h"
#include "kernels/cuda/wide_number.h"

namespace pistachio::kernels::cuda {

namespace {

// The maximum over all rows of v with |value| <= (v + 1) * 2^64.
__global__ void __launch_bounds__(threads_per_block)
    largest_high_word_kernel(const WideWords* __restrict__ values, const bool* __restrict__ valid, int64_t rows, unsigned long long* out) {
  unsigned long long largest = 0;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads_per_block;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x; row < rows; row += stride) {
    if (valid != nullptr && !valid[row]) continue;
    const int64_t high = values[row].high;
    largest = max(largest, static_cast<unsigned long long>(high ^ (high >> 63)));
  }
  for (int offset = 16; offset > 0; offset /= 2) largest = max(largest, __shfl_down_sync(0xffffffff, largest, offset));
  if (threadIdx.x % 32 == 0 && largest != 0) atomicMax(out, largest);
}

struct KeyOfRow {
  const int64_t* ids;
  __device__ uint32_t operator()(int64_t row) const { return ids == nullptr ? 0 : static_cast<uint32_t>(ids[row]); }
};

struct AddendOfPlace {
  const WideWords* values;
  const bool* valid;
  const int64_t* order;
  __host__ __device__ Int192 operator()(int64_t place) const {
    const int64_t row = order[place];
    return valid != nullptr && !valid[row] ? Int192{0, 0, 0} : widen(values[row]);
  }
};

struct CheckPrefix {
  const WideWords* sums;
  const uint32_t* keys;
  const Int192* prefixes;
  const int64_t* order;
  unsigned long long* error_word;
  __device__ void operator()(int64_t place) const {
    const Int192 sum = Add192()(prefixes[place], widen(sums[keys[place]]));
    if (!fits_two_words(sum)) report_failure(error_word, order[place], 0);
  }
};

void launch_largest(const WideWords* values, const bool* valid, int64_t rows, unsigned long long* out, cudaStream_t stream) {
  if (rows == 0) return;
  const unsigned blocks = std::min(blocks_for(rows, 4 * threads_per_block), 2048u);
  largest_high_word_kernel<<<blocks, threads_per_block, 0, stream>>>(values, valid, rows, out);
  check_cuda(cudaGetLastError());
}

// `bounds`: the largest high words of values and sums.
__global__ void compare_bound_kernel(const unsigned long long* __restrict__ bounds, int64_t rows, unsigned long long* error_word) {
  const WideUnsigned per_row = static_cast<WideUnsigned>(bounds[0]) + 1, before = static_cast<WideUnsigned>(bounds[1]) + 1;
  if (static_cast<WideUnsigned>(rows) * per_row + before > WideUnsigned{1} << 63) report_failure(error_word, 0, 0);
}

}  // namespace

void check_wide_sums_fit(const WideWords* sums, int64_t groups, const WideWords* values, const bool* valid, int64_t rows,
                         const DeviceErrorFlag& errors, cudaStream_t stream) {
  ScratchMemory scratch;
  auto* bounds = scratch.take<unsigned long long>(2);
  check_cuda(cudaMemsetAsync(bounds, 0, 2 * sizeof(*bounds), stream));
  launch_largest(values, valid, rows, bounds, stream);
  launch_largest(sums, nullptr, groups, bounds + 1, stream);
  compare_bound_kernel<<<1, 1, 0, stream>>>(bounds, rows, errors.device_word());
  check_cuda(cudaGetLastError());
}

bool wide_sums_overflow(const WideWords* sums, int64_t groups, const int64_t* ids, const WideWords* values, const bool* valid, int64_t rows,
                        cudaStream_t stream) {
  if (rows == 0) return false;
  const DeviceErrorFlag bound(stream);
  check_wide_sums_fit(sums, groups, values, valid, rows, bound, stream);
  if (!bound.wait_for_failure()) return false;
  ScratchMemory scratch;
  auto* keys = scratch.take<uint32_t>(rows);
  auto* sorted_keys = scratch.take<uint32_t>(rows);
  auto* numbers = scratch.take<int64_t>(rows);
  auto* order = scratch.take<int64_t>(rows);
  map_rows(rows, keys, KeyOfRow{ids}, stream);
  fill_row_numbers(numbers, rows, stream);
  sort_pairs(keys, sorted_keys, numbers, order, rows, 0, bits_of(static_cast<uint64_t>(groups - 1)), scratch, stream);
  auto* prefixes = scratch.take<Int192>(rows);
  const auto addends = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), AddendOfPlace{values, valid, order});
  size_t bytes = 0;
  check_cuda(cub::DeviceScan::InclusiveScanByKey(nullptr, bytes, sorted_keys, addends, prefixes, Add192{}, rows, ::cuda::std::equal_to<>{},
                                                 stream));
  void* temporary = scratch.take_bytes(bytes);
  check_cuda(cub::DeviceScan::InclusiveScanByKey(temporary, bytes, sorted_keys, addends, prefixes, Add192{}, rows,
                                                 ::cuda::std::equal_to<>{}, stream));
  const DeviceErrorFlag errors(stream);
  for_rows(rows, CheckPrefix{sums, sorted_keys, prefixes, order, errors.device_word()}, stream);
  return errors.wait_for_failure().has_value();
}

}  // namespace pistachio::kernels::cuda
