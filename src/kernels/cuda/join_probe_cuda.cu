// Hash join probes on the GPU: count the matches of each row, prefix-sum the counts, find the row to stop at, write the pairs. A thread
// scans the bucket of its row; a long bucket (a frequent key) is scanned by the whole warp.
#include "kernels/cuda/join_probe_cuda.h"

#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/sorted_keys.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr unsigned all_lanes = 0xffffffff;
constexpr int64_t long_bucket = 64;
// Budget of hash comparisons per window: with frequent keys on both sides, all rows of a window would be compared although the pairs of
// only a few are requested.
constexpr int64_t least_comparisons = int64_t{1} << 22;
constexpr int64_t comparisons_per_pair = 16;

struct Bucket {
  int64_t begin, end;
  int64_t hash;
};

__device__ Bucket bucket_of_row(const JoinProbe& probe, int64_t row) {
  if (probe.valid != nullptr && !probe.valid[row]) return {0, 0, 0};
  const int64_t hash = probe.hashes[row];
  const uint64_t bucket = probe.bits == 0 ? 0 : static_cast<uint64_t>(hash) >> (64 - probe.bits);
  return {probe.offsets[bucket], probe.offsets[bucket + 1], hash};
}

// Visits every row in [0, rows): visit(row, bucket) by one thread or, if the bucket is long, visit_together(row, bucket) by a whole warp.
template <typename BucketOf, typename Visit, typename VisitTogether>
__device__ void visit_buckets(int64_t rows, const BucketOf& bucket_of, const Visit& visit, const VisitTogether& visit_together) {
  const int lane = threadIdx.x % 32;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads_per_block;
  for (int64_t start = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x - lane; start < rows; start += stride) {
    const int64_t row = start + lane;
    const Bucket bucket = row < rows ? bucket_of(row) : Bucket{0, 0, 0};
    const bool is_long = bucket.end - bucket.begin > long_bucket;
    if (row < rows && !is_long) visit(row, bucket);
    for (unsigned left = __ballot_sync(all_lanes, is_long); left != 0; left &= left - 1) {
      const int source = __ffs(left) - 1;
      const Bucket shared{__shfl_sync(all_lanes, bucket.begin, source), __shfl_sync(all_lanes, bucket.end, source),
                          __shfl_sync(all_lanes, bucket.hash, source)};
      visit_together(start + source, shared, lane);
    }
  }
}

struct BucketSize {
  JoinProbe probe;
  int64_t begin;
  __device__ int64_t operator()(int64_t i) const {
    const Bucket bucket = bucket_of_row(probe, begin + i);
    return bucket.end - bucket.begin;
  }
};

// size_ends are the prefix sums of the bucket sizes; rows that start beyond the budget are not probed.
__global__ void __launch_bounds__(threads_per_block)
    count_pairs_kernel(JoinProbe probe, int64_t begin, int64_t rows, const int64_t* __restrict__ size_ends, int64_t budget,
                       int64_t* __restrict__ counts) {
  visit_buckets(
      rows,
      [&](int64_t i) { return i > 0 && size_ends[i - 1] >= budget ? Bucket{0, 0, 0} : bucket_of_row(probe, begin + i); },
      [&](int64_t i, const Bucket& bucket) {
        int64_t count = 0;
        for (int64_t place = bucket.begin; place < bucket.end; ++place) count += probe.ordered_hashes[place] == bucket.hash;
        counts[i] = count;
      },
      [&](int64_t i, const Bucket& bucket, int lane) {
        int64_t count = 0;
        for (int64_t place = bucket.begin + lane; place < bucket.end; place += 32) count += probe.ordered_hashes[place] == bucket.hash;
        for (int offset = 16; offset > 0; offset /= 2) count += __shfl_down_sync(all_lanes, count, offset);
        if (lane == 0) counts[i] = count;
      });
}

__global__ void __launch_bounds__(threads_per_block)
    write_pairs_kernel(JoinProbe probe, ProbeWindow window, int64_t* __restrict__ probe_rows, int64_t* __restrict__ build_rows) {
  const auto first_pair = [&](int64_t i) { return i == 0 ? 0 : window.pair_ends[i - 1]; };
  visit_buckets(
      window.rows,
      [&](int64_t i) { return first_pair(i) == window.pair_ends[i] ? Bucket{0, 0, 0} : bucket_of_row(probe, window.begin + i); },
      [&](int64_t i, const Bucket& bucket) {
        if (bucket.begin == bucket.end) return;
        int64_t pair = first_pair(i);
        for (int64_t place = bucket.begin; place < bucket.end; ++place) {
          if (probe.ordered_hashes[place] != bucket.hash) continue;
          probe_rows[pair] = window.begin + i;
          build_rows[pair++] = probe.order[place];
        }
      },
      [&](int64_t i, const Bucket& bucket, int lane) {
        int64_t pair = first_pair(i);
        for (int64_t base = bucket.begin; base < bucket.end; base += 32) {
          const int64_t place = base + lane;
          const bool found = place < bucket.end && probe.ordered_hashes[place] == bucket.hash;
          const unsigned finders = __ballot_sync(all_lanes, found);
          if (found) {
            const int64_t own = pair + __popc(finders & ((1u << lane) - 1));
            probe_rows[own] = window.begin + i;
            build_rows[own] = probe.order[place];
          }
          pair += __popc(finders);
        }
      });
}

// The first of ascending sums that is at least `wanted`, `count` if none is.
__device__ int64_t first_at_least(const int64_t* sums, int64_t count, int64_t wanted) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (sums[middle] >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// cut = {rows, pairs} of the window.
__global__ void find_cut_kernel(const int64_t* size_ends, const int64_t* pair_ends, int64_t rows, int64_t budget, int64_t most_pairs,
                                int64_t* cut) {
  const int64_t compared = min(rows, first_at_least(size_ends, rows, budget) + 1);
  const int64_t taken = min(compared, first_at_least(pair_ends, rows, most_pairs) + 1);
  cut[0] = taken;
  cut[1] = pair_ends[taken - 1];
}

}  // namespace

ProbeWindow count_pairs(const JoinProbe& probe, int64_t begin, int64_t rows, int64_t most_pairs, ScratchMemory& scratch,
                        cudaStream_t stream) {
  auto* size_ends = scratch.take<int64_t>(rows);
  auto* pair_ends = scratch.take<int64_t>(rows);
  auto* cut = scratch.take<int64_t>(2);
  const int64_t most_comparisons = INT64_MAX / comparisons_per_pair;
  const int64_t budget = std::max(least_comparisons, std::min(most_pairs, most_comparisons) * comparisons_per_pair);
  map_rows(rows, size_ends, BucketSize{probe, begin}, stream);
  sum_inclusive(size_ends, rows, scratch, stream);
  const unsigned blocks = blocks_for(rows, threads_per_block);
  count_pairs_kernel<<<blocks, threads_per_block, 0, stream>>>(probe, begin, rows, size_ends, budget, pair_ends);
  check_cuda(cudaGetLastError());
  sum_inclusive(pair_ends, rows, scratch, stream);
  find_cut_kernel<<<1, 1, 0, stream>>>(size_ends, pair_ends, rows, budget, most_pairs, cut);
  check_cuda(cudaGetLastError());
  int64_t words[2];
  read_back(cut, 2, words, stream);
  return {begin, words[0], words[1], pair_ends};
}

void write_pairs(const JoinProbe& probe, const ProbeWindow& window, int64_t* probe_rows, int64_t* build_rows, cudaStream_t stream) {
  if (window.pairs == 0) return;
  write_pairs_kernel<<<blocks_for(window.rows, threads_per_block), threads_per_block, 0, stream>>>(probe, window, probe_rows, build_rows);
  check_cuda(cudaGetLastError());
}

}  // namespace pistachio::kernels::cuda
