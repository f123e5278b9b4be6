// PLAIN text on the GPU: one block per page. Each length determines the position of the next; thread 0 follows that chain in a tile of the
// page and lists the values, then the block writes them in parallel.
#include "kernels/cuda/page_tile.cuh"
#include "kernels/cuda/plain_text_decode_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

// Small blocks: the chain of one page is slow, so many pages must be in flight.
constexpr int block_threads = 128;
constexpr int tile_bytes = 8192;
constexpr int max_values = 512;  // per batch
constexpr int64_t nothing_to_load = -1;
constexpr int64_t length_bytes = 4;

using Tile = PageTile<tile_bytes>;

// Values to write, in shared memory. Written by thread 0, read by all threads.
struct Batch {
  uint32_t begin[max_values];  // relative to the window's origin
  uint32_t length[max_values];
  int values;
  int64_t load_at;  // offset in the page of the next tile to load, or nothing_to_load
  bool done;
};

// Walks the lengths of one page. Used by thread 0 only.
class TextWalker {
 public:
  __device__ TextWalker(const TextPage& page, FailureWord failure)
      : failure_(failure), page_bytes_(page.end - page.begin), skip_(page.skip), take_(page.take) {}

  // Lists values until the batch is full, the tile is exhausted or the page is complete.
  __device__ void fill(const Tile& tile, const TileWindow& window, Batch& batch) {
    int values = 0;
    batch.load_at = nothing_to_load;
    bool failed = false;
    while (skip_ + take_ > 0 && values < max_values) {
      if (page_bytes_ - position_ < length_bytes) {
        failure_.report(DecodeProblem::EndsEarly, blockIdx.x, position_);
        failed = true;
        break;
      }
      if (position_ + length_bytes > window.limit) {
        batch.load_at = position_;
        break;
      }
      const int64_t begin = position_ + length_bytes;
      const uint32_t length = tile.bits32(static_cast<uint32_t>(position_ - window.origin) * 8);
      if (static_cast<int64_t>(length) > page_bytes_ - begin) {
        failure_.report(DecodeProblem::TextCrossesEnd, blockIdx.x, begin);
        failed = true;
        break;
      }
      position_ = begin + length;
      if (skip_ > 0) {
        --skip_;
        continue;
      }
      batch.begin[values] = static_cast<uint32_t>(begin - window.origin);
      batch.length[values] = length;
      ++values;
      --take_;
    }
    batch.values = values;
    batch.done = failed || skip_ + take_ == 0;
  }

 private:
  FailureWord failure_;
  int64_t page_bytes_;
  int64_t skip_, take_;  // values still to skip, then to list
  int64_t position_ = 0;
};

__global__ void __launch_bounds__(block_threads)
    find_text_kernel(const uint8_t* __restrict__ bytes, const TextPage* __restrict__ pages, int64_t* __restrict__ begins,
                     int64_t* __restrict__ ends, FailureWord failure) {
  __shared__ Tile tile;
  __shared__ Batch batch;
  const TextPage page = pages[blockIdx.x];
  TextWalker walker(page, failure);
  TileWindow window;
  int64_t target = page.target;
  while (true) {
    if (threadIdx.x == 0) walker.fill(tile, window, batch);
    __syncthreads();
    const int values = batch.values;
    for (int i = static_cast<int>(threadIdx.x); i < values; i += block_threads) {
      const int64_t begin = page.begin + window.origin + batch.begin[i];
      begins[target + i] = begin;
      ends[target + i] = begin + batch.length[i];
    }
    target += values;
    const bool last = batch.done;
    const int64_t load_at = batch.load_at;
    if (last) break;
    __syncthreads();  // the batch and the tile have been read
    if (load_at != nothing_to_load) window = tile.load(bytes + page.begin, page.end - page.begin, load_at);
    __syncthreads();
  }
}

}  // namespace

cudaError_t find_text(const uint8_t* bytes, const TextPage* pages, int64_t page_count, int64_t* begins, int64_t* ends, FailureWord failure,
                      cudaStream_t stream) {
  if (page_count == 0) return cudaSuccess;
  find_text_kernel<<<static_cast<unsigned>(page_count), block_threads, 0, stream>>>(bytes, pages, begins, ends, failure);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
