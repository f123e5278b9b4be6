// One pass over a column on the GPU: threads fold rows, blocks fold threads, a final block folds blocks. The grid depends only on the rows
// and the device, so sums of doubles are reproducible.
#include "kernels/cuda/summarize_cuda.h"

#include <type_traits>

#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/segment_fold.h"
#include "kernels/cuda/wide_number.h"

namespace pistachio::kernels::cuda {

namespace {

__device__ WideWords add_words(WideWords left, WideWords right) {
  return wide_words(static_cast<WideInt>(static_cast<WideUnsigned>(wide_number(left)) + static_cast<WideUnsigned>(wide_number(right))));
}

__device__ bool is_less(WideWords left, WideWords right) {
  return wide_number(left) < wide_number(right);
}

struct IntegerFold {
  using Summary = IntegerSummary;
  __device__ static Summary identity() { return {0, INT64_MAX, INT64_MIN, {0, 0}}; }
  __device__ static void add(Summary& summary, int64_t value) { merge(summary, {1, value, value, {value, value >> 63}}); }
  __device__ static void merge(Summary& into, const Summary& other) {
    into.count += other.count;
    into.min = min(into.min, other.min);
    into.max = max(into.max, other.max);
    into.sum = add_words(into.sum, other.sum);
  }
};

struct WideFold {
  using Summary = WideSummary;
  __device__ static Summary identity() { return {0, {-1, INT64_MAX}, {0, INT64_MIN}, {0, 0}}; }
  __device__ static void add(Summary& summary, WideWords value) { merge(summary, {1, value, value, value}); }
  __device__ static void merge(Summary& into, const Summary& other) {
    into.count += other.count;
    if (is_less(other.min, into.min)) into.min = other.min;
    if (is_less(into.max, other.max)) into.max = other.max;
    into.sum = add_words(into.sum, other.sum);
  }
};

struct FloatFold {
  using Summary = FloatSummary;
  __device__ static Summary identity() {
    const double infinity = __longlong_as_double(0x7ff0000000000000);
    return {0, 0, infinity, -infinity, 0};
  }
  // fmin and fmax ignore NaN.
  __device__ static void add(Summary& summary, double value) {
    summary.count += 1;
    summary.nans += value != value ? 1 : 0;
    summary.min = fmin(summary.min, value);
    summary.max = fmax(summary.max, value);
    summary.sum += value;
  }
  __device__ static void merge(Summary& into, const Summary& other) {
    into.count += other.count;
    into.nans += other.nans;
    into.min = fmin(into.min, other.min);
    into.max = fmax(into.max, other.max);
    into.sum += other.sum;
  }
};

// Folds the summaries of a block's threads; thread 0 returns the result.
template <typename Fold>
__device__ typename Fold::Summary fold_block(typename Fold::Summary summary) {
  __shared__ typename Fold::Summary summaries[threads_per_block];
  summaries[threadIdx.x] = summary;
  __syncthreads();
  for (int half = threads_per_block / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) Fold::merge(summaries[threadIdx.x], summaries[threadIdx.x + half]);
    __syncthreads();
  }
  return summaries[0];
}

template <typename Fold, typename T>
__global__ void __launch_bounds__(threads_per_block)
    summarize_kernel(const T* __restrict__ values, const int32_t* __restrict__ codes, const bool* __restrict__ valid, int64_t rows,
                     typename Fold::Summary* __restrict__ partial) {
  typename Fold::Summary summary = Fold::identity();
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads_per_block;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x; row < rows; row += stride) {
    if (valid != nullptr && !valid[row]) continue;
    Fold::add(summary, values[codes == nullptr ? row : codes[row]]);
  }
  summary = fold_block<Fold>(summary);
  if (threadIdx.x == 0) partial[blockIdx.x] = summary;
}

template <typename Fold>
__global__ void __launch_bounds__(threads_per_block)
    fold_partial_kernel(const typename Fold::Summary* __restrict__ partial, int count, typename Fold::Summary* __restrict__ out) {
  typename Fold::Summary summary = Fold::identity();
  for (int i = threadIdx.x; i < count; i += threads_per_block) Fold::merge(summary, partial[i]);
  summary = fold_block<Fold>(summary);
  if (threadIdx.x == 0) *out = summary;
}

template <typename Fold, typename T>
typename Fold::Summary summarize(const SummarizedColumn& column, ScratchMemory& scratch, cudaStream_t stream) {
  using Summary = typename Fold::Summary;
  static_assert(sizeof(Summary) % sizeof(int64_t) == 0);
  if (column.rows == 0) return Summary{};
  const int64_t blocks = std::clamp<int64_t>(column.rows / (8 * threads_per_block), 1, 8 * processor_count());
  auto* partial = scratch.take<Summary>(blocks + 1);
  summarize_kernel<Fold, T><<<static_cast<unsigned>(blocks), threads_per_block, 0, stream>>>(
      static_cast<const T*>(column.values), column.codes, column.valid, column.rows, partial);
  check_cuda(cudaGetLastError());
  fold_partial_kernel<Fold><<<1, threads_per_block, 0, stream>>>(partial, static_cast<int>(blocks), partial + blocks);
  check_cuda(cudaGetLastError());
  Summary summary;
  read_back(reinterpret_cast<const int64_t*>(partial + blocks), sizeof(Summary) / sizeof(int64_t), reinterpret_cast<int64_t*>(&summary),
            stream);
  return summary;
}

struct CodedValue {
  const WideWords* values;
  const int32_t* codes;
  __device__ WideWords operator()(int64_t row) const { return values[codes[row]]; }
};

}  // namespace

IntegerSummary summarize_integers(const SummarizedColumn& column, ScratchMemory& scratch, cudaStream_t stream) {
  return with_type(column.kind, [&](auto type) -> IntegerSummary {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      return summarize<IntegerFold, T>(column, scratch, stream);
    } else {
      return {};
    }
  });
}

WideSummary summarize_wide(const SummarizedColumn& column, ScratchMemory& scratch, cudaStream_t stream) {
  return summarize<WideFold, WideWords>(column, scratch, stream);
}

FloatSummary summarize_floats(const SummarizedColumn& column, ScratchMemory& scratch, cudaStream_t stream) {
  return column.kind == ValueKind::Float ? summarize<FloatFold, float>(column, scratch, stream)
                                         : summarize<FloatFold, double>(column, scratch, stream);
}

void expand_wide(const SummarizedColumn& column, WideWords* out, cudaStream_t stream) {
  map_rows(column.rows, out, CodedValue{static_cast<const WideWords*>(column.values), column.codes}, stream);
}

}  // namespace pistachio::kernels::cuda
