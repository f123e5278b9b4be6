// Sums of ranges of rows on the GPU: differences of prefix sums. Prefixes may wrap; the difference is exact, since the sum of a range fits.
// They have 64 bits for values of up to 32 bits, 128 for 64-bit values and 192 for two-word values, whose sums may not fit two words.
#include "kernels/cuda/range_sum_cuda.h"

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cuda/std/functional>
#include <type_traits>

#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/wide_number.h"

namespace pistachio::kernels::cuda {

namespace {

template <typename T, typename Sum>
struct AddendOfRow {
  const T* values;
  const bool* valid;
  __host__ __device__ Sum operator()(int64_t row) const {
    return valid == nullptr || valid[row] ? static_cast<Sum>(static_cast<int64_t>(values[row])) : Sum{0};
  }
};

struct WideAddendOfRow {
  const WideWords* values;
  const bool* valid;
  __host__ __device__ Int192 operator()(int64_t row) const {
    return valid == nullptr || valid[row] ? widen(values[row]) : Int192{0, 0, 0};
  }
};

// prefixes[i] = sum of the first i rows, for i in [0, rows].
template <typename Sum, typename Add, typename AddendOf>
Sum* prefix_sums(const AddendOf& addend_of, const Add& add, int64_t rows, ScratchMemory& scratch, cudaStream_t stream) {
  Sum* prefixes = scratch.take<Sum>(rows + 1);
  check_cuda(cudaMemsetAsync(prefixes, 0, sizeof(Sum), stream));
  if (rows == 0) return prefixes;
  const auto addends = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), addend_of);
  size_t bytes = 0;
  check_cuda(cub::DeviceScan::InclusiveScan(nullptr, bytes, addends, prefixes + 1, add, rows, stream));
  void* temporary = scratch.take_bytes(bytes);
  check_cuda(cub::DeviceScan::InclusiveScan(temporary, bytes, addends, prefixes + 1, add, rows, stream));
  return prefixes;
}

__device__ WideUnsigned sum_between(uint64_t before, uint64_t behind) {
  return static_cast<WideUnsigned>(static_cast<WideInt>(static_cast<int64_t>(behind - before)));
}

__device__ WideUnsigned sum_between(WideUnsigned before, WideUnsigned behind) {
  return behind - before;
}

template <typename Sum>
struct SumOfRange {
  const Sum* prefixes;
  RowRanges ranges;
  __device__ WideWords operator()(int64_t range) const {
    WideUnsigned sum = 0;
    for (int64_t place = range; place < ranges.parts * ranges.count; place += ranges.count) {
      const int64_t begin = ranges.begins[place], end = ranges.ends[place];
      if (begin < end) sum += sum_between(prefixes[begin], prefixes[end]);
    }
    return wide_words(static_cast<WideInt>(sum));
  }
};

struct WideSumOfRange {
  const Int192* prefixes;
  RowRanges ranges;
  unsigned long long* error_word;
  __device__ WideWords operator()(int64_t range) const {
    Int192 sum{0, 0, 0};
    for (int64_t place = range; place < ranges.parts * ranges.count; place += ranges.count) {
      const int64_t begin = ranges.begins[place], end = ranges.ends[place];
      if (begin < end) sum = Add192()(sum, difference(prefixes[end], prefixes[begin]));
    }
    if (!fits_two_words(sum)) report_failure(error_word, range, 0);
    return {static_cast<int64_t>(sum.low), static_cast<int64_t>(sum.middle)};
  }
};

template <typename T, typename Sum>
void sum_typed(const void* values, const bool* valid, int64_t rows, const RowRanges& ranges, WideWords* sums, ScratchMemory& scratch,
               cudaStream_t stream) {
  const AddendOfRow<T, Sum> addend_of{static_cast<const T*>(values), valid};
  const Sum* prefixes = prefix_sums<Sum>(addend_of, ::cuda::std::plus<Sum>{}, rows, scratch, stream);
  map_rows(ranges.count, sums, SumOfRange<Sum>{prefixes, ranges}, stream);
}

}  // namespace

void sum_ranges(ValueKind kind, const void* values, const bool* valid, int64_t rows, const RowRanges& ranges, WideWords* sums,
                ScratchMemory& scratch, cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      using Sum = std::conditional_t<sizeof(T) < sizeof(int64_t), uint64_t, WideUnsigned>;
      sum_typed<T, Sum>(values, valid, rows, ranges, sums, scratch, stream);
    }
  });
}

void sum_wide_ranges(const WideWords* values, const bool* valid, int64_t rows, const RowRanges& ranges, WideWords* sums,
                     const DeviceErrorFlag& errors, ScratchMemory& scratch, cudaStream_t stream) {
  const Int192* prefixes = prefix_sums<Int192>(WideAddendOfRow{values, valid}, Add192{}, rows, scratch, stream);
  map_rows(ranges.count, sums, WideSumOfRange{prefixes, ranges, errors.device_word()}, stream);
}

}  // namespace pistachio::kernels::cuda
