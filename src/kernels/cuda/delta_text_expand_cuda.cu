// DELTA_BYTE_ARRAY on the GPU. A value depends on its predecessor, but byte p of value i has a direct source: the suffix of the last value
// j <= i whose prefix is at most p bytes long. So each warp takes a segment of values and each lane a byte column: it finds the column's
// byte at the start of the segment by searching backwards, using the minimum prefix of each segment to skip segments, and from there
// carries the column in a register. The search is quadratic in the number of segments at worst, with one load per step.
#include <cub/device/device_scan.cuh>

#include <algorithm>

#include "kernels/cuda/delta_text_expand_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int block_threads = 256;
constexpr int warp_threads = 32;
constexpr int64_t block_warps = block_threads / warp_threads;
constexpr int64_t segment_values = 64;
constexpr unsigned all_lanes = 0xffffffff;
// Sums saturate here, so that neither they nor their sums overflow.
constexpr int64_t largest_size = int64_t{1} << 61;

// Saturating addition: sums of a hostile page would otherwise wrap. Associative for arguments in [0, cap].
struct AddUpTo {
  int64_t cap;
  __host__ __device__ int64_t operator()(int64_t left, int64_t right) const { return left + right < cap ? left + right : cap; }
};

__device__ bool has_sound_suffix(const DeltaText& text, int64_t i) {
  return text.from[i] >= 0 && text.to[i] >= text.from[i] && text.to[i] <= text.size;
}

// 0 for a value that is rejected anyway.
__device__ int64_t length_of(const DeltaText& text, int64_t i) {
  const int64_t prefix = text.prefixes[i];
  if (!has_sound_suffix(text, i) || prefix < 0 || prefix > largest_size) return 0;
  return prefix + (text.to[i] - text.from[i]);
}

__global__ void __launch_bounds__(block_threads)
    check_kernel(DeltaText text, int64_t cap, int64_t* __restrict__ lengths, FailureWord failure) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= text.count) return;
  if (!has_sound_suffix(text, i)) {
    failure.report(DecodeProblem::SuffixOutOfRange, 0, i);
  } else if (text.prefixes[i] < 0 || text.prefixes[i] > largest_size || text.prefixes[i] > (i == 0 ? 0 : length_of(text, i - 1))) {
    failure.report(DecodeProblem::PrefixTooLong, 0, i);
  }
  const int64_t length = length_of(text, i);
  lengths[i] = length < cap ? length : cap;
}

__global__ void __launch_bounds__(block_threads)
    least_prefix_kernel(const int64_t* __restrict__ prefixes, int64_t count, int64_t segments, int64_t* __restrict__ least_prefixes) {
  const int64_t segment = static_cast<int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (segment >= segments) return;
  const int64_t first = segment * segment_values, end = first + segment_values < count ? first + segment_values : count;
  int64_t least = prefixes[first];
  for (int64_t i = first + 1; i < end; ++i) least = prefixes[i] < least ? prefixes[i] : least;
  least_prefixes[segment] = least;
}

// Byte `column` of the last value of `segment`, which must be longer than that. Ends at value 0 at the latest, whose prefix is empty.
__device__ uint8_t find_byte(const DeltaText& text, const int64_t* least_prefixes, int64_t segment, int64_t column) {
  while (segment > 0 && least_prefixes[segment] > column) --segment;
  int64_t i = (segment + 1) * segment_values - 1;
  while (i > 0 && text.prefixes[i] > column) --i;
  return text.bytes[text.from[i] + column - text.prefixes[i]];
}

__global__ void __launch_bounds__(block_threads)
    expand_kernel(DeltaText text, const int64_t* __restrict__ ends, const int64_t* __restrict__ least_prefixes, uint8_t* __restrict__ out,
                  int64_t* __restrict__ begins) {
  const int64_t segment = static_cast<int64_t>(blockIdx.x) * block_warps + threadIdx.x / warp_threads;
  const int lane = static_cast<int>(threadIdx.x) % warp_threads;
  const int64_t first = segment * segment_values;
  if (first >= text.count) return;  // uniform across the warp
  const int64_t end = first + segment_values < text.count ? first + segment_values : text.count;
  const auto begin_of = [ends](int64_t i) { return i == 0 ? 0 : ends[i - 1]; };

  int64_t longest = 0;
  for (int64_t i = first + lane; i < end; i += warp_threads) {
    const int64_t begin = begin_of(i), length = ends[i] - begin;
    begins[i] = begin;
    longest = length > longest ? length : longest;
  }
  for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
    const int64_t other = __shfl_xor_sync(all_lanes, longest, distance);
    longest = other > longest ? other : longest;
  }

  for (int64_t column = lane; column < longest; column += warp_threads) {
    uint8_t byte = 0;
    if (segment > 0 && column < text.prefixes[first]) byte = find_byte(text, least_prefixes, segment - 1, column);
    for (int64_t i = first; i < end; ++i) {
      const int64_t begin = begin_of(i), prefix = text.prefixes[i];
      if (column >= ends[i] - begin) continue;
      if (column >= prefix) byte = text.bytes[text.from[i] + column - prefix];
      out[begin + column] = byte;
    }
  }
}

unsigned blocks_for(int64_t items, int64_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace

int64_t delta_text_segments(int64_t count) {
  return (count + segment_values - 1) / segment_values;
}

size_t delta_text_scratch_bytes(int64_t count) {
  size_t bytes = 0;
  int64_t* lengths = nullptr;
  cub::DeviceScan::InclusiveScan(nullptr, bytes, lengths, lengths, AddUpTo{0}, count, nullptr);
  return bytes;
}

cudaError_t measure_delta_text(const DeltaText& text, int64_t max_output, int64_t* ends, int64_t* least_prefixes, void* scratch,
                               size_t scratch_bytes, int64_t* total, FailureWord failure, cudaStream_t stream) {
  const int64_t cap = std::min(max_output, largest_size) + 1, segments = delta_text_segments(text.count);
  check_kernel<<<blocks_for(text.count, block_threads), block_threads, 0, stream>>>(text, cap, ends, failure);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  least_prefix_kernel<<<blocks_for(segments, block_threads), block_threads, 0, stream>>>(text.prefixes, text.count, segments,
                                                                                         least_prefixes);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  const cudaError_t error = cub::DeviceScan::InclusiveScan(scratch, scratch_bytes, ends, ends, AddUpTo{cap}, text.count, stream);
  if (error != cudaSuccess) return error;
  return cudaMemcpyAsync(total, ends + text.count - 1, sizeof(int64_t), cudaMemcpyDeviceToDevice, stream);
}

cudaError_t expand_delta_text(const DeltaText& text, const int64_t* ends, const int64_t* least_prefixes, uint8_t* out, int64_t* begins,
                              cudaStream_t stream) {
  const unsigned blocks = blocks_for(delta_text_segments(text.count), block_warps);
  expand_kernel<<<blocks, block_threads, 0, stream>>>(text, ends, least_prefixes, out, begins);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
