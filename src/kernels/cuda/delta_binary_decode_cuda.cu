// DELTA_BINARY_PACKED on the GPU: one block per page. Thread 0 walks the block headers in a tile of the page and lists pieces of
// miniblocks; then all threads unpack the deltas, compute a block-wide prefix sum and write the values. Sums wrap at 64 bits; values of
// 32-bit columns are the low halves.
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/delta_binary_decode_cuda.h"
#include "kernels/cuda/page_tile.cuh"

namespace pistachio::kernels::cuda {

namespace {

constexpr int block_threads = 256;
constexpr int values_per_thread = 4;
constexpr int batch_values = block_threads * values_per_thread;
constexpr int max_pieces = 64;  // per batch: miniblocks have at least 32 values, and the first and last may be partial
constexpr int tile_bytes = 8192;
constexpr int64_t max_miniblocks = 1024;
constexpr int64_t max_block_size = int64_t{1} << 20;
constexpr int64_t longest_number = 10;
constexpr int64_t nothing_to_load = -1;

using Tile = PageTile<tile_bytes>;

// Deltas to sum, in shared memory. Written by thread 0, read by all threads.
struct Batch {
  int first[max_pieces];       // index in the batch of each piece's first delta
  uint32_t bit[max_pieces];    // bit in the tile where that delta starts
  uint8_t width[max_pieces];   // bits per delta, 0..64
  uint64_t base[max_pieces];   // added to each delta of the piece
  int pieces;
  int values;
  int64_t load_at;  // offset in the page of the next tile to load, or nothing_to_load
  bool done;
};

__device__ uint64_t from_zigzag(uint64_t number) {
  return (number >> 1) ^ (0 - (number & 1));
}

// Walks the headers of one page. Used by thread 0 only.
class DeltaWalker {
 public:
  __device__ DeltaWalker(const DeltaPage& page, FailureWord failure)
      : page_(page),
        failure_(failure),
        page_bytes_(page.end - page.begin),
        needed_(page.skip + page.take),
        unpacked_end_(page.take == 0 ? 0 : needed_) {}

  __device__ int64_t position() const { return position_; }

  // Lists pieces until the batch is full, the tile is exhausted or the stream is complete. `bit_widths` (shared memory) holds those of the
  // current block, because the tile may move on inside the block; `first_value` is set once the header is read.
  __device__ void fill(const Tile& tile, const TileWindow& window, uint8_t* bit_widths, Batch& batch, uint64_t& first_value) {
    batch.pieces = 0;
    batch.values = 0;
    batch.load_at = nothing_to_load;
    bool done = page_bytes_ == 0 && needed_ == 0;
    while (!done && batch.pieces < max_pieces && batch.values < batch_values) {
      DecodeProblem problem = DecodeProblem::None;
      if (!has_header_) {
        if (!reach(window, 4 * longest_number, batch)) break;
        problem = read_header(tile, window, first_value);
      } else if (miniblock_left_ > 0) {
        if (!list_piece(window, batch)) break;
      } else if (index_ < total_ && miniblock_ < miniblocks_) {
        problem = start_miniblock(bit_widths);
      } else if (index_ < total_) {
        if (!reach(window, longest_number + miniblocks_, batch)) break;
        problem = start_block(tile, window, bit_widths);
      } else {
        done = true;
      }
      if (problem != DecodeProblem::None) {
        failure_.report(problem, page_.page, position_);
        done = true;
      }
    }
    batch.done = done;
  }

 private:
  __device__ static int64_t min_of(int64_t left, int64_t right) { return left < right ? left : right; }

  // Whether the window holds `bytes` bytes from position_, or the rest of the page; otherwise requests a tile that starts there.
  __device__ bool reach(const TileWindow& window, int64_t bytes, Batch& batch) const {
    if (window.limit == page_bytes_ || position_ + bytes <= window.limit) return true;
    batch.load_at = position_;
    return false;
  }

  __device__ DecodeProblem number(const Tile& tile, const TileWindow& window, uint64_t& value) {
    switch (read_number(tile, window, position_, value)) {
      case NumberState::CutShort: return DecodeProblem::EndsEarly;
      case NumberState::TooLong: return DecodeProblem::NumberTooLong;
      default: return DecodeProblem::None;
    }
  }

  __device__ DecodeProblem read_header(const Tile& tile, const TileWindow& window, uint64_t& first_value) {
    uint64_t numbers[4];  // block size, miniblocks per block, values, first value
    for (uint64_t& value : numbers) {
      if (const DecodeProblem problem = number(tile, window, value); problem != DecodeProblem::None) return problem;
    }
    const uint64_t block_size = numbers[0], miniblocks = numbers[1], total = numbers[2];
    if (block_size == 0 || block_size % 128 != 0 || block_size > max_block_size || miniblocks == 0 || miniblocks > max_miniblocks ||
        block_size % miniblocks != 0 || block_size / miniblocks % 32 != 0) {
      return DecodeProblem::DeltaBlockSize;
    }
    if (total < static_cast<uint64_t>(needed_)) return DecodeProblem::DeltaTooFewValues;
    constexpr uint64_t enough = uint64_t{1} << 62;  // the bytes run out long before
    total_ = static_cast<int64_t>(total < enough ? total : enough);
    miniblocks_ = static_cast<int64_t>(miniblocks);
    miniblock_size_ = static_cast<int64_t>(block_size / miniblocks);
    miniblock_ = miniblocks_;
    index_ = min_of(1, total_);
    first_value = from_zigzag(numbers[3]);
    has_header_ = true;
    return DecodeProblem::None;
  }

  __device__ DecodeProblem start_block(const Tile& tile, const TileWindow& window, uint8_t* bit_widths) {
    uint64_t zigzag;
    if (const DecodeProblem problem = number(tile, window, zigzag); problem != DecodeProblem::None) return problem;
    if (page_bytes_ - position_ < miniblocks_) return DecodeProblem::EndsEarly;
    min_delta_ = from_zigzag(zigzag);
    for (int64_t i = 0; i < miniblocks_; ++i) bit_widths[i] = tile.byte(position_ - window.origin + i);
    position_ += miniblocks_;
    miniblock_ = 0;
    return DecodeProblem::None;
  }

  // Checks the next miniblock against the page's end and moves past it; list_piece() then lists the deltas that are needed.
  __device__ DecodeProblem start_miniblock(const uint8_t* bit_widths) {
    const int64_t width = bit_widths[miniblock_++];
    if (width > 64) return DecodeProblem::DeltaBitWidth;
    const int64_t count = min_of(miniblock_size_, total_ - index_), left = page_bytes_ - position_;
    if ((count * width + 7) / 8 > left) return DecodeProblem::EndsEarly;
    width_ = width;
    delta_bit_ = position_ * 8;
    miniblock_left_ = index_ < unpacked_end_ ? min_of(count, unpacked_end_ - index_) : 0;
    index_ += count;
    position_ += min_of(miniblock_size_ / 8 * width, left);  // padding after the last value may be missing
    return DecodeProblem::None;
  }

  // False if the tile does not hold the next delta.
  __device__ bool list_piece(const TileWindow& window, Batch& batch) {
    int64_t count = min_of(miniblock_left_, batch_values - batch.values);
    if (width_ > 0) {
      const int64_t in_tile = (window.limit * 8 - delta_bit_) / width_;
      if (in_tile <= 0) {
        batch.load_at = delta_bit_ / 8;
        return false;
      }
      count = min_of(count, in_tile);
    }
    batch.first[batch.pieces] = batch.values;
    batch.bit[batch.pieces] = width_ > 0 ? static_cast<uint32_t>(delta_bit_ - window.origin * 8) : 0;
    batch.width[batch.pieces] = static_cast<uint8_t>(width_);
    batch.base[batch.pieces] = min_delta_;
    ++batch.pieces;
    batch.values += static_cast<int>(count);
    miniblock_left_ -= count;
    delta_bit_ += count * width_;
    return true;
  }

  const DeltaPage& page_;
  FailureWord failure_;
  int64_t page_bytes_;
  int64_t needed_;        // values that the stream must have
  int64_t unpacked_end_;  // values from this one on are only skipped
  int64_t position_ = 0;  // of the next header, or of the end of the current miniblock
  bool has_header_ = false;
  int64_t total_ = 0;  // values in the stream
  int64_t index_ = 0;  // of the first value after the current miniblock
  int64_t miniblocks_ = 0, miniblock_size_ = 0;
  int64_t miniblock_ = 0;  // next in the current block
  uint64_t min_delta_ = 0;
  int64_t width_ = 0;           // bits per delta of the current miniblock
  int64_t delta_bit_ = 0;       // bit in the page where its next delta starts
  int64_t miniblock_left_ = 0;  // deltas of it still to be listed
};

__device__ uint64_t unpack(const Tile& tile, uint32_t bit, int width) {
  if (width == 0) return 0;
  if (width <= 32) return tile.bits32(bit) & (~0u >> (32 - width));
  return tile.bits64(bit) & (~uint64_t{0} >> (64 - width));
}

// Unpacks the deltas of the batch to `sums`, in order.
__device__ void unpack_batch(const Batch& batch, const Tile& tile, uint64_t* sums) {
  int piece = 0;
  for (int i = static_cast<int>(threadIdx.x); i < batch.values; i += block_threads) {
    while (piece + 1 < batch.pieces && batch.first[piece + 1] <= i) ++piece;
    const int width = batch.width[piece];
    const uint32_t bit = batch.bit[piece] + static_cast<uint32_t>(i - batch.first[piece]) * static_cast<uint32_t>(width);
    sums[i] = batch.base[piece] + unpack(tile, bit, width);
  }
}

__global__ void __launch_bounds__(block_threads)
    decode_deltas_kernel(const uint8_t* __restrict__ bytes, const DeltaPage* __restrict__ pages, bool is_32_bit, int64_t* __restrict__ out,
                         int64_t* __restrict__ stream_ends, FailureWord failure) {
  using BlockSums = cub::BlockScan<uint64_t, block_threads>;
  __shared__ Tile tile;
  __shared__ Batch batch;
  __shared__ uint8_t bit_widths[max_miniblocks];
  __shared__ uint64_t first_value;
  __shared__ uint64_t sums[batch_values];
  __shared__ typename BlockSums::TempStorage scan_storage;
  const DeltaPage page = pages[blockIdx.x];
  DeltaWalker walker(page, failure);
  TileWindow window;
  const auto wrapped = [is_32_bit](uint64_t value) {
    return is_32_bit ? static_cast<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(value))) : static_cast<int64_t>(value);
  };
  uint64_t carry = 0;  // sum of the deltas before the batch, without the first value
  int64_t index = 1;   // of the batch's first value
  while (true) {
    if (threadIdx.x == 0) walker.fill(tile, window, bit_widths, batch, first_value);
    __syncthreads();
    const int values = batch.values;
    const bool last = batch.done;
    const int64_t load_at = batch.load_at;
    if (values > 0) {  // uniform across threads
      unpack_batch(batch, tile, sums);
      __syncthreads();
      uint64_t own[values_per_thread];
      uint64_t own_sum = 0;
      const int own_first = static_cast<int>(threadIdx.x) * values_per_thread;
      for (int i = 0; i < values_per_thread; ++i) {
        own_sum += own_first + i < values ? sums[own_first + i] : 0;
        own[i] = own_sum;
      }
      uint64_t before, all;
      BlockSums(scan_storage).ExclusiveSum(own_sum, before, all);
      for (int i = 0; i < values_per_thread; ++i) sums[own_first + i] = own[i] + before;  // each thread writes its own range
      __syncthreads();
      const uint64_t start = first_value + carry;
      for (int i = static_cast<int>(threadIdx.x); i < values; i += block_threads) {
        if (index + i >= page.skip) out[page.target + index + i - page.skip] = wrapped(start + sums[i]);
      }
      carry += all;
      index += values;
    }
    if (last) break;
    __syncthreads();  // the batch, the sums and the tile have been read
    if (load_at != nothing_to_load) window = tile.load(bytes + page.begin, page.end - page.begin, load_at);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  // Garbage on a failed page, but then the output is discarded.
  if (page.skip == 0 && page.take > 0) out[page.target] = wrapped(first_value);
  stream_ends[page.page] = page.begin + walker.position();
}

}  // namespace

cudaError_t decode_deltas(const uint8_t* bytes, const DeltaPage* pages, int64_t page_count, bool is_32_bit, int64_t* out,
                          int64_t* stream_ends, FailureWord failure, cudaStream_t stream) {
  if (page_count == 0) return cudaSuccess;
  decode_deltas_kernel<<<static_cast<unsigned>(page_count), block_threads, 0, stream>>>(bytes, pages, is_32_bit, out, stream_ends, failure);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
