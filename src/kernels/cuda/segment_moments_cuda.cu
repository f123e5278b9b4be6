// Moments per group on the GPU. The last bits of the result depend on the row order, which is visible when the mean is near zero. So rows
// are sorted stably by group, and one thread folds a group of up to chunk_rows rows in row order, bit for bit as on the CPU. Larger groups
// are cut into chunks, which are merged in order; the result then depends on chunk_rows but never on timing.
// Additions and multiplications are never fused, as on the CPU.
#include "kernels/cuda/segment_moments_cuda.h"

#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/sorted_keys.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int64_t chunk_rows = 4096;

__device__ void add_value(Moments& moments, double value) {
  moments.count += 1;
  const double distance = __dsub_rn(value, moments.mean);
  moments.mean = __dadd_rn(moments.mean, __dmul_rn(distance, __drcp_rn(moments.count)));
  moments.m2 = __dadd_rn(moments.m2, __dmul_rn(distance, __dsub_rn(value, moments.mean)));
}

__device__ void merge(Moments& into, const Moments& added) {
  if (added.count == 0) return;
  if (into.count == 0) {
    into = added;
    return;
  }
  const double total = __dadd_rn(into.count, added.count), distance = __dsub_rn(added.mean, into.mean);
  into.mean = __dadd_rn(into.mean, __dmul_rn(distance, __ddiv_rn(added.count, total)));
  const double weight = __ddiv_rn(__dmul_rn(into.count, added.count), total);
  into.m2 = __dadd_rn(into.m2, __dadd_rn(added.m2, __dmul_rn(__dmul_rn(distance, distance), weight)));
  into.count = total;
}

struct SortedValues {
  const double* values;
  __device__ void add_to(Moments& moments, int64_t place) const { add_value(moments, values[place]); }
};

struct SortedMoments {
  const Moments* other;
  const int64_t* order;
  __device__ void add_to(Moments& moments, int64_t place) const { merge(moments, other[order[place]]); }
};

// Invalid rows sort after all groups.
struct KeyOfRow {
  const int64_t* ids;
  const bool* valid;
  uint32_t behind;
  __device__ uint32_t operator()(int64_t row) const {
    return valid != nullptr && !valid[row] ? behind : static_cast<uint32_t>(ids[row]);
  }
};

template <typename T>
struct DoubleOfRow {
  const T* values;
  __device__ double operator()(int64_t row) const { return static_cast<double>(values[row]); }
};

struct ChunksOfGroup {
  const int64_t* offsets;
  int64_t groups;
  __device__ int64_t operator()(int64_t group) const {
    return group == groups ? 0 : (offsets[group + 1] - offsets[group] + chunk_rows - 1) / chunk_rows;
  }
};

// The last group whose first chunk is at most `chunk`; empty groups share their first chunk with the next one.
__device__ int64_t group_of_chunk(const int64_t* first_chunks, int64_t groups, int64_t chunk) {
  int64_t low = 0, high = groups;  // first_chunks[low] <= chunk < first_chunks[high]
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (first_chunks[middle] <= chunk) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// One chunk per thread. The first chunk of a group continues from the group's state; a single chunk becomes the new state.
template <typename Source>
struct FoldChunk {
  Source source;
  const int64_t* offsets;
  const int64_t* first_chunks;
  int64_t groups;
  Moments* state;
  Moments* partial;
  __device__ void operator()(int64_t chunk) const {
    if (chunk >= first_chunks[groups]) return;
    const int64_t group = group_of_chunk(first_chunks, groups, chunk);
    const int64_t number = chunk - first_chunks[group];
    const int64_t begin = offsets[group] + number * chunk_rows;
    const int64_t end = min(begin + chunk_rows, offsets[group + 1]);
    Moments moments = number == 0 ? state[group] : Moments{0, 0, 0};
    for (int64_t place = begin; place < end; ++place) source.add_to(moments, place);
    if (first_chunks[group + 1] - first_chunks[group] == 1) {
      state[group] = moments;
    } else {
      partial[chunk] = moments;
    }
  }
};

__device__ double from_lane_above(double value, int distance) {
  return __shfl_down_sync(0xffffffff, value, distance);
}

// One warp per group: each lane merges a range of chunks, then neighbouring lanes merge in order.
__global__ void __launch_bounds__(threads_per_block)
    merge_chunks_kernel(const Moments* __restrict__ partial, const int64_t* __restrict__ first_chunks, int64_t groups, Moments* state) {
  const int lane = threadIdx.x % 32;
  const int64_t warps = static_cast<int64_t>(gridDim.x) * (threads_per_block / 32);
  for (int64_t group = static_cast<int64_t>(blockIdx.x) * (threads_per_block / 32) + threadIdx.x / 32; group < groups; group += warps) {
    const int64_t first = first_chunks[group], chunks = first_chunks[group + 1] - first;
    if (chunks <= 1) continue;
    const int64_t share = (chunks + 31) / 32;
    Moments moments{0, 0, 0};
    for (int64_t chunk = lane * share; chunk < min(chunks, (lane + 1) * share); ++chunk) merge(moments, partial[first + chunk]);
    for (int distance = 1; distance < 32; distance *= 2) {
      const Moments next{from_lane_above(moments.count, distance), from_lane_above(moments.mean, distance),
                         from_lane_above(moments.m2, distance)};
      if (lane % (2 * distance) == 0) merge(moments, next);
    }
    if (lane == 0) state[group] = moments;
  }
}

template <typename Source>
void fold_sorted(const Source& source, const uint32_t* sorted_keys, int64_t rows, Moments* moments, int64_t groups, ScratchMemory& scratch,
                 cudaStream_t stream) {
  auto* offsets = scratch.take<int64_t>(groups + 1);
  auto* first_chunks = scratch.take<int64_t>(groups + 1);
  find_segments(sorted_keys, rows, groups, offsets, stream);
  map_rows(groups + 1, first_chunks, ChunksOfGroup{offsets, groups}, stream);
  sum_exclusive(first_chunks, groups + 1, scratch, stream);
  const int64_t most_chunks = rows / chunk_rows + std::min(groups, rows);
  auto* partial = scratch.take<Moments>(most_chunks);
  for_rows(most_chunks, FoldChunk<Source>{source, offsets, first_chunks, groups, moments, partial}, stream);
  if (rows <= chunk_rows) return;
  merge_chunks_kernel<<<blocks_for(groups, threads_per_block / 32), threads_per_block, 0, stream>>>(partial, first_chunks, groups, moments);
  check_cuda(cudaGetLastError());
}

}  // namespace

void add_values_to_moments(ValueKind kind, Moments* moments, int64_t groups, const int64_t* ids, const void* values, const bool* valid,
                           int64_t rows, ScratchMemory& scratch, cudaStream_t stream) {
  if (rows == 0) return;
  auto* keys = scratch.take<uint32_t>(rows);
  auto* sorted_keys = scratch.take<uint32_t>(rows);
  auto* numbers = scratch.take<double>(rows);
  auto* sorted_numbers = scratch.take<double>(rows);
  map_rows(rows, keys, KeyOfRow{ids, valid, static_cast<uint32_t>(groups)}, stream);
  if (kind == ValueKind::Float) {
    map_rows(rows, numbers, DoubleOfRow<float>{static_cast<const float*>(values)}, stream);
  } else {
    map_rows(rows, numbers, DoubleOfRow<double>{static_cast<const double*>(values)}, stream);
  }
  const auto greatest_key = static_cast<uint64_t>(valid == nullptr ? groups - 1 : groups);
  sort_pairs(keys, sorted_keys, numbers, sorted_numbers, rows, 0, bits_of(greatest_key), scratch, stream);
  fold_sorted(SortedValues{sorted_numbers}, sorted_keys, rows, moments, groups, scratch, stream);
}

void merge_moments(Moments* moments, int64_t groups, const int64_t* ids, const Moments* other, int64_t rows, ScratchMemory& scratch,
                   cudaStream_t stream) {
  if (rows == 0) return;
  auto* keys = scratch.take<uint32_t>(rows);
  auto* sorted_keys = scratch.take<uint32_t>(rows);
  auto* numbers = scratch.take<int64_t>(rows);
  auto* order = scratch.take<int64_t>(rows);
  map_rows(rows, keys, KeyOfRow{ids, nullptr, 0}, stream);
  fill_row_numbers(numbers, rows, stream);
  sort_pairs(keys, sorted_keys, numbers, order, rows, 0, bits_of(static_cast<uint64_t>(groups - 1)), scratch, stream);
  fold_sorted(SortedMoments{other, order}, sorted_keys, rows, moments, groups, scratch, stream);
}

}  // namespace pistachio::kernels::cuda
