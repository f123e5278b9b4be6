// Text ranks on the GPU: an LSD radix sort whose digits are eight bytes of text, big-endian and zero-padded. The length is the least
// significant digit, since of values that are equal when padded the shorter one is less. The number of sorts grows with the longest value.
#include "kernels/cuda/text_ranks_cuda.h"

#include <algorithm>

#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/sorted_keys.h"

namespace pistachio::kernels::cuda {

namespace {

__global__ void __launch_bounds__(threads_per_block) longest_text_kernel(TextColumn text, int64_t rows, long long* longest) {
  long long most = 0;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads_per_block;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x; row < rows; row += stride) {
    most = max(most, static_cast<long long>(text.ends[row] - text.begins[row]));
  }
  for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_down_sync(0xffffffff, most, offset));
  if (threadIdx.x % 32 == 0 && most != 0) atomicMax(longest, most);
}

struct LengthOfRow {
  TextColumn text;
  __device__ uint64_t operator()(int64_t row) const { return static_cast<uint64_t>(text.ends[row] - text.begins[row]); }
};

struct KeyOfPlace {
  TextColumn text;
  const int64_t* order;
  int64_t offset;
  __device__ uint64_t operator()(int64_t place) const { return load_text_key(text[order[place]], offset); }
};

struct DiffersFromFormer {
  TextColumn text;
  const int64_t* order;
  __device__ int64_t operator()(int64_t place) const {
    return place > 0 && compare_text(text[order[place - 1]], text[order[place]]) != 0 ? 1 : 0;
  }
};

struct StoreRank {
  const int64_t* order;
  const int64_t* sorted_ranks;
  int64_t* ranks;
  __device__ void operator()(int64_t place) const { ranks[order[place]] = sorted_ranks[place]; }
};

int64_t longest_text(const TextColumn& text, int64_t rows, ScratchMemory& scratch, cudaStream_t stream) {
  auto* longest = scratch.take<long long>(1);
  check_cuda(cudaMemsetAsync(longest, 0, sizeof(*longest), stream));
  longest_text_kernel<<<std::min(blocks_for(rows, threads_per_block), 2048u), threads_per_block, 0, stream>>>(text, rows, longest);
  check_cuda(cudaGetLastError());
  int64_t length = 0;
  read_back(reinterpret_cast<const int64_t*>(longest), 1, &length, stream);
  return length;
}

}  // namespace

void rank_texts(const TextColumn& text, int64_t rows, int64_t* ranks, ScratchMemory& scratch, cudaStream_t stream) {
  if (rows == 0) return;
  const int64_t longest = longest_text(text, rows, scratch, stream);
  auto* keys = scratch.take<uint64_t>(rows);
  auto* sorted_keys = scratch.take<uint64_t>(rows);
  auto* order = scratch.take<int64_t>(rows);
  auto* next_order = scratch.take<int64_t>(rows);
  const auto sort_by_keys = [&](int bits) {
    ScratchMemory of_this_sort;
    sort_pairs(keys, sorted_keys, order, next_order, rows, 0, bits, of_this_sort, stream);
    std::swap(order, next_order);
  };
  fill_row_numbers(order, rows, stream);
  map_rows(rows, keys, LengthOfRow{text}, stream);
  sort_by_keys(bits_of(static_cast<uint64_t>(longest)));
  for (int64_t offset = (longest + 7) / 8 * 8 - 8; offset >= 0; offset -= 8) {
    map_rows(rows, keys, KeyOfPlace{text, order, offset}, stream);
    sort_by_keys(64);
  }
  map_rows(rows, next_order, DiffersFromFormer{text, order}, stream);
  sum_inclusive(next_order, rows, scratch, stream);
  for_rows(rows, StoreRank{order, next_order, ranks}, stream);
}

}  // namespace pistachio::kernels::cuda
