// Extremes and lengths of text on the GPU. A better row replaces the best of its group by compare-and-swap; rows are totally ordered (text,
// then row number), so the result does not depend on timing, and exchanges soon become rare.
#include "kernels/cuda/text_extreme_cuda.h"

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

using Row = unsigned long long;
constexpr Row no_row = ~Row{0};  // -1 as int64

struct TakeIfBetter {
  TextColumn text;
  const int64_t* ids;
  bool take_max;
  const bool* valid;
  Row* best;

  __device__ bool is_better(Row row, Row than) const {
    if (than == no_row) return true;
    const int order = compare_text(text[static_cast<int64_t>(row)], text[static_cast<int64_t>(than)]);
    if (order == 0) return row < than;
    return take_max ? order > 0 : order < 0;
  }

  __device__ void operator()(int64_t row) const {
    if (valid != nullptr && !valid[row]) return;
    Row* place = best + (ids == nullptr ? 0 : ids[row]);
    const Row own = static_cast<Row>(row);
    Row former = *static_cast<volatile Row*>(place);
    while (is_better(own, former)) {
      const Row found = atomicCAS(place, former, own);
      if (found == former) return;
      former = found;
    }
  }
};

// Counts bytes other than continuation bytes (10xxxxxx). Padding zeros past the end are counted too; the caller subtracts them.
__device__ int count_starts(uint64_t word) {
  constexpr uint64_t tops = 0x8080808080808080;
  const uint64_t continuations = word & ~(word << 1) & tops;  // bit 7 set, bit 6 clear
  return 8 - __popcll(continuations);
}

__device__ int64_t count_characters(TextSpan text) {
  int64_t starts = 0;
  for (int64_t offset = 0; offset < text.length; offset += 8) starts += count_starts(load_text_word(text, offset));
  const int64_t padding = (8 - text.length % 8) % 8;
  return starts - padding;
}

__global__ void __launch_bounds__(threads_per_block)
    add_text_lengths_kernel(TextColumn text, const int32_t* __restrict__ codes, const bool* __restrict__ valid, int64_t rows,
                            unsigned long long* totals) {
  int64_t sums[3] = {0, 0, 0};
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads_per_block;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x; row < rows; row += stride) {
    if (valid != nullptr && !valid[row]) continue;
    const TextSpan value = text[codes == nullptr ? row : codes[row]];
    sums[0] += 1;
    sums[1] += count_characters(value);
    sums[2] += value.length;
  }
  for (int i = 0; i < 3; ++i) {
    for (int offset = 16; offset > 0; offset /= 2) sums[i] += __shfl_down_sync(0xffffffff, sums[i], offset);
    if (threadIdx.x % 32 == 0 && sums[i] != 0) atomicAdd(totals + i, static_cast<unsigned long long>(sums[i]));
  }
}

struct MarkUsed {
  const int32_t* codes;
  const bool* valid;
  bool* used;
  __device__ void operator()(int64_t row) const {
    if (valid == nullptr || valid[row]) used[codes[row]] = true;
  }
};

}  // namespace

void find_extreme_texts(const TextColumn& text, const int64_t* ids, int64_t groups, bool take_max, const bool* valid, int64_t rows,
                        int64_t* best, cudaStream_t stream) {
  if (groups == 0) return;
  check_cuda(cudaMemsetAsync(best, 0xff, static_cast<size_t>(groups) * sizeof(*best), stream));
  for_rows(rows, TakeIfBetter{text, ids, take_max, valid, reinterpret_cast<Row*>(best)}, stream);
}

void add_text_lengths(const TextColumn& text, const int32_t* codes, const bool* valid, int64_t rows, int64_t* totals, cudaStream_t stream) {
  if (rows == 0) return;
  const unsigned blocks = std::min(blocks_for(rows, threads_per_block), 4096u);
  auto* sums = reinterpret_cast<unsigned long long*>(totals);
  add_text_lengths_kernel<<<blocks, threads_per_block, 0, stream>>>(text, codes, valid, rows, sums);
  check_cuda(cudaGetLastError());
}

void mark_used_entries(const int32_t* codes, const bool* valid, int64_t rows, bool* used, cudaStream_t stream) {
  for_rows(rows, MarkUsed{codes, valid, used}, stream);
}

}  // namespace pistachio::kernels::cuda
