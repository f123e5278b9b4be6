// RLE/bit-packed streams on the GPU: one block per part of a page. Thread 0 walks the run headers in a tile of the page and lists the runs;
// then all threads expand the list, each warp a contiguous range of rows, and the next tile is loaded where the walk stopped. A long
// bit-packed run is processed in tile-sized pieces, many short runs in batches of max_runs.
#include <cub/warp/warp_reduce.cuh>

#include "kernels/cuda/page_tile.cuh"
#include "kernels/cuda/rle_decode_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int block_threads = 256;
constexpr int warp_threads = 32;
constexpr int block_warps = block_threads / warp_threads;
constexpr int min_blocks = 5;  // per multiprocessor: while thread 0 of one block walks headers, others expand
constexpr int tile_bytes = 8192;
constexpr int max_runs = 512;                       // per batch
constexpr int64_t max_rows = int64_t{1} << 30;      // per batch, so that row numbers fit 32 bits
constexpr int64_t longest_header = 10 + 4;          // a varint and a repeated value
constexpr uint64_t max_groups = uint64_t{1} << 40;  // of eight values per bit-packed run
constexpr int64_t nothing_to_load = -1;

using Tile = PageTile<tile_bytes>;

// Runs to expand, in shared memory. Written by thread 0, read by all threads.
struct Batch {
  uint32_t first[max_runs];    // row of each run's first value, relative to the batch
  uint32_t content[max_runs];  // repeated value, or the bit in the tile where the first value starts
  uint8_t packed[max_runs];
  int runs;
  uint32_t rows;
  int64_t load_at;  // offset in the page of the next tile to load, or nothing_to_load
  bool done;
};

// Walks the run headers of one part. Used by thread 0 only.
class RunWalker {
 public:
  __device__ RunWalker(const RunPart& part, FailureWord failure)
      : part_(part), failure_(failure), page_bytes_(part.end - part.begin), skip_(part.skip), count_(part.count) {
    if (part.bit_width == 0) run_left_ = skip_ + count_;  // one run of zeros
  }

  // Lists runs until the batch is full, the tile is exhausted or the part is complete.
  __device__ void fill(const Tile& tile, const TileWindow& window, Batch& batch) {
    batch.runs = 0;
    batch.load_at = nothing_to_load;
    int64_t rows = 0;
    bool failed = false;
    while (skip_ + count_ > 0 && batch.runs < max_runs && rows < max_rows) {
      if (run_left_ == 0) {
        if (window.limit < page_bytes_ && position_ + longest_header > window.limit) {
          batch.load_at = position_;
          break;
        }
        if (const DecodeProblem problem = start_run(tile, window); problem != DecodeProblem::None) {
          failure_.report(problem, part_.page, position_);
          failed = true;
          break;
        }
      } else if (skip_ > 0) {
        advance(skip_, min_of(skip_, run_left_));
      } else {
        int64_t taken = min_of(min_of(count_, run_left_), max_rows - rows);
        if (is_packed_) {
          const int64_t in_tile = (window.limit * 8 - packed_bit_) / part_.bit_width;
          if (in_tile <= 0) {
            batch.load_at = packed_bit_ / 8;
            break;
          }
          taken = min_of(taken, in_tile);
        }
        batch.first[batch.runs] = static_cast<uint32_t>(rows);
        batch.content[batch.runs] = is_packed_ ? static_cast<uint32_t>(packed_bit_ - window.origin * 8) : value_;
        batch.packed[batch.runs] = is_packed_;
        ++batch.runs;
        rows += taken;
        advance(count_, taken);
      }
    }
    if (part_.ends_page && !failed && skip_ + count_ == 0 && !is_packed_ && run_left_ >= 8) {
      failure_.report(DecodeProblem::Surplus, part_.page, position_);
    }
    batch.rows = static_cast<uint32_t>(rows);
    batch.done = failed || skip_ + count_ == 0;
  }

 private:
  __device__ static int64_t min_of(int64_t left, int64_t right) { return left < right ? left : right; }

  __device__ void advance(int64_t& wanted, int64_t values) {
    wanted -= values;
    run_left_ -= values;
    packed_bit_ += values * part_.bit_width;  // unused for a repeated run
  }

  // Reads the header at position_; the window must hold all of it, or the rest of the page. The run may be empty.
  __device__ DecodeProblem start_run(const Tile& tile, const TileWindow& window) {
    uint64_t header;
    switch (read_number(tile, window, position_, header)) {
      case NumberState::Whole: break;
      case NumberState::CutShort: return DecodeProblem::EndsEarly;
      case NumberState::TooLong: return DecodeProblem::NumberTooLong;
    }
    is_packed_ = (header & 1) != 0;
    const int64_t left = page_bytes_ - position_;
    if (is_packed_) {
      const uint64_t groups = header >> 1;
      if (groups > max_groups) return DecodeProblem::RunTooLong;
      const int64_t run_bytes = static_cast<int64_t>(groups) * part_.bit_width;
      packed_bit_ = position_ * 8;
      // If the page truncates the run, only its complete values.
      run_left_ = run_bytes <= left ? static_cast<int64_t>(groups) * 8 : left * 8 / part_.bit_width;
      position_ += min_of(run_bytes, left);
      return DecodeProblem::None;
    }
    const int64_t value_bytes = (part_.bit_width + 7) / 8;
    if (left < value_bytes) return DecodeProblem::EndsEarly;
    value_ = 0;
    for (int64_t byte = 0; byte < value_bytes; ++byte) {
      value_ |= static_cast<uint32_t>(tile.byte(position_ - window.origin + byte)) << (8 * byte);
    }
    position_ += value_bytes;
    run_left_ = static_cast<int64_t>(header >> 1);
    return static_cast<uint64_t>(value_) >> part_.bit_width == 0 ? DecodeProblem::None : DecodeProblem::ValueTooWide;
  }

  const RunPart& part_;
  FailureWord failure_;
  int64_t page_bytes_;
  int64_t skip_, count_;      // values still to skip, then to list
  int64_t position_ = 0;      // of the next header
  int64_t run_left_ = 0;      // values of the current run not consumed yet
  int64_t packed_bit_ = 0;    // bit in the page where the next value of a bit-packed run starts
  uint32_t value_ = 0;        // of a repeated run
  bool is_packed_ = false;
};

// Receives decoded codes.
class CodeSink {
 public:
  __device__ CodeSink(const RunPart& part, int32_t* out) : out_(out + part.target) {}
  __device__ void put(int64_t row, uint32_t value) { out_[row] = static_cast<int32_t>(value); }
  __device__ void finish() {}

  static constexpr DecodeProblem above_max = DecodeProblem::CodeAboveLimit;

 private:
  int32_t* out_;
};

struct LevelOutput {
  uint8_t* validity;
  int64_t* counts;
};

// Receives decoded levels.
class LevelSink {
 public:
  __device__ LevelSink(const RunPart& part, const LevelOutput& out) : part_(part), out_(out) {}

  __device__ void put(int64_t row, uint32_t value) {
    const bool valid = value == static_cast<uint32_t>(part_.max_value);
    if (row < part_.hidden) {
      valid_hidden_ += valid;
    } else {
      out_.validity[part_.target + row - part_.hidden] = valid;
      valid_written_ += valid;
    }
  }

  // Called by all threads of the block.
  __device__ void finish() {
    add_up(valid_hidden_, 0);
    add_up(valid_written_, 1);
  }

  static constexpr DecodeProblem above_max = DecodeProblem::LevelAboveMax;

 private:
  using WarpSum = cub::WarpReduce<unsigned long long>;

  __device__ void add_up(unsigned long long own, int column) {
    __shared__ typename WarpSum::TempStorage storage[block_warps];
    const unsigned long long sum = WarpSum(storage[threadIdx.x / warp_threads]).Sum(own);
    if (threadIdx.x % warp_threads == 0 && sum > 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(out_.counts) + part_.page * 2 + column, sum);
    }
    __syncthreads();
  }

  const RunPart& part_;
  LevelOutput out_;
  unsigned long long valid_hidden_ = 0, valid_written_ = 0;
};

// The last of the `runs` (at least one) runs that starts at or before `row`.
__device__ int find_run(const Batch& batch, int runs, uint32_t row) {
  int low = 0, high = runs;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (batch.first[middle] <= row ? low : high) = middle;
  }
  return low;
}

// Expands the rows of a batch, which starts at row `done` of the part. Returns whether a value exceeds the maximum.
template <typename Sink>
__device__ bool expand(const Batch& batch, const Tile& tile, const RunPart& part, int64_t done, Sink& sink) {
  const uint32_t rows = batch.rows, width = static_cast<uint32_t>(part.bit_width), max_value = static_cast<uint32_t>(part.max_value);
  const int runs = batch.runs;
  const uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;
  // Rows per warp, a multiple of the warp size.
  const uint32_t share = (rows + block_threads - 1) / block_threads * warp_threads;
  const uint32_t begin = threadIdx.x / warp_threads * share, end = begin + share < rows ? begin + share : rows;
  uint32_t row = begin + threadIdx.x % warp_threads;
  if (row >= end) return false;
  bool above = false;
  for (int run = find_run(batch, runs, row); row < end; row += warp_threads) {
    while (run + 1 < runs && batch.first[run + 1] <= row) ++run;
    uint32_t value = batch.content[run];
    if (batch.packed[run]) value = tile.bits32(value + (row - batch.first[run]) * width) & mask;
    above |= value > max_value;
    sink.put(done + row, value);
  }
  return above;
}

template <typename Sink, typename Output>
__global__ void __launch_bounds__(block_threads, min_blocks)
    expand_runs_kernel(const uint8_t* __restrict__ bytes, const RunPart* __restrict__ parts, Output out, FailureWord failure) {
  __shared__ Tile tile;
  __shared__ Batch batch;
  const RunPart part = parts[blockIdx.x];
  const uint8_t* page = bytes + part.begin;
  RunWalker walker(part, failure);
  Sink sink(part, out);
  TileWindow window;
  int64_t done = 0;
  bool above = false;
  while (true) {
    if (threadIdx.x == 0) walker.fill(tile, window, batch);
    __syncthreads();
    above |= expand(batch, tile, part, done, sink);
    done += batch.rows;
    const bool last = batch.done;
    const int64_t load_at = batch.load_at;
    if (last) break;
    __syncthreads();  // the batch and the tile have been read
    if (load_at != nothing_to_load) window = tile.load(page, part.end - part.begin, load_at);
    __syncthreads();
  }
  if (above) failure.report(Sink::above_max, part.page, window.origin);
  sink.finish();
}

}  // namespace

cudaError_t decode_codes(const uint8_t* bytes, const RunPart* parts, int64_t part_count, int32_t* out, FailureWord failure,
                         cudaStream_t stream) {
  if (part_count == 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>(part_count);
  expand_runs_kernel<CodeSink, int32_t*><<<blocks, block_threads, 0, stream>>>(bytes, parts, out, failure);
  return cudaGetLastError();
}

cudaError_t decode_levels(const uint8_t* bytes, const RunPart* parts, int64_t part_count, uint8_t* out, int64_t* counts,
                          FailureWord failure, cudaStream_t stream) {
  if (part_count == 0) return cudaSuccess;
  const LevelOutput output{out, counts};
  const unsigned blocks = static_cast<unsigned>(part_count);
  expand_runs_kernel<LevelSink, LevelOutput><<<blocks, block_threads, 0, stream>>>(bytes, parts, output, failure);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
