// RLE/bit-packed streams on the GPU: one block per part of a page. The runs of a tile of the page are listed, then all threads expand the
// list, each warp a contiguous range of rows, and the next tile is loaded where the list ends. Runs are found in two ways:
//   - thread 0 walks from header to header. It takes a piece of a long bit-packed run at a time, and reports damage.
//   - if the runs turn out to be short, the block reads every byte of the tile as if it were a header, which gives the place of the next
//     one; pointer doubling marks those that the chain from the first header reaches.
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

#include "kernels/cuda/page_tile.cuh"
#include "kernels/cuda/rle_decode_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int block_threads = 256;
constexpr int warp_threads = 32;
constexpr int block_warps = block_threads / warp_threads;
constexpr int min_blocks = 3;  // per multiprocessor: while thread 0 of one block walks headers, others expand
constexpr int tile_bytes = 4096;
constexpr int thread_places = tile_bytes / block_threads;
constexpr int max_runs = tile_bytes / 2;            // per batch; a run takes at least two bytes
constexpr int walked_runs = 16;                     // per batch; more are left to all threads
constexpr int64_t max_rows = int64_t{1} << 30;      // per batch, so that row numbers fit 32 bits
constexpr int64_t longest_header = 10 + 4;          // a varint and a repeated value
constexpr uint64_t max_groups = uint64_t{1} << 40;  // of eight values per bit-packed run
constexpr int64_t nothing_to_load = -1;

using Tile = PageTile<tile_bytes>;

// Runs to expand, in shared memory.
struct Batch {
  uint32_t first[max_runs];    // row of each run's first value, relative to the batch
  uint32_t content[max_runs];  // repeated value, or the bit in the tile where the first value starts
  uint8_t packed[max_runs];
  int runs;
  uint32_t rows;
  int64_t load_at;  // offset in the page of the next tile to load, or nothing_to_load
  bool many_runs;   // the rest of the tile is for all threads
  bool done;
};

// Progress of the listing, between headers.
struct WalkState {
  int64_t position;  // of the next header
  int64_t skip;      // values still to skip, then to list
  int64_t count;
};

// Walks the run headers of one part. Used by thread 0 only.
class RunWalker {
 public:
  __device__ RunWalker(const RunPart& part, FailureWord failure)
      : part_(part), failure_(failure), page_bytes_(part.end - part.begin), skip_(part.skip), count_(part.count) {
    if (part.bit_width == 0) run_left_ = skip_ + count_;  // one run of zeros
  }

  // Only between headers.
  __device__ WalkState state() const { return {position_, skip_, count_}; }
  __device__ void move_to(const WalkState& state) {
    position_ = state.position;
    skip_ = state.skip;
    count_ = state.count;
    run_left_ = 0;
    is_packed_ = true;
  }

  // Lists runs until there are many, the tile is exhausted or the part is complete.
  __device__ void fill(const Tile& tile, const TileWindow& window, Batch& batch) {
    batch.runs = 0;
    batch.load_at = nothing_to_load;
    batch.many_runs = false;
    int64_t rows = 0;
    int headers = 0;
    bool failed = false;
    while (skip_ + count_ > 0 && rows < max_rows) {
      if (run_left_ == 0) {
        if (headers++ == walked_runs) {
          batch.many_runs = true;
          break;
        }
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

// A byte of a tile, interpreted as a header.
struct RunHeader {
  uint32_t next;   // place of the next header; the same place if the walk has to stop here
  uint32_t begin;  // place of the values
  uint64_t values;
  bool is_packed;
};

// Lists the runs of a tile from a header on. Used by all threads of the block.
class RunFinder {
 public:
  using Sum = cub::BlockScan<unsigned long long, block_threads>;

  struct Memory {
    union {
      struct {
        uint16_t next[tile_bytes + 1];  // the end of the tile too
        uint8_t is_reached[tile_bytes + 1];
      };
      Batch batch;
    };
    typename Sum::TempStorage sum;
    WalkState state;
    uint32_t stop;  // place where the walk ends
  };

  __device__ RunFinder(const RunPart& part, const Tile& tile, const TileWindow& window, FailureWord failure)
      : part_(part), tile_(tile), window_(window), failure_(failure), end_(static_cast<uint32_t>(window.limit - window.origin)) {
    const int64_t page_bytes = part.end - part.begin;
    last_header_ = window.limit < page_bytes ? end_ - static_cast<uint32_t>(longest_header) : end_;
  }

  // Fills the batch, which may be empty, and moves memory.state on.
  __device__ void fill(Memory& memory) {
    const WalkState from = memory.state;
    const uint32_t start = static_cast<uint32_t>(from.position - window_.origin);
    mark(memory, start);
    // From here on the marks are in registers: the batch takes their place.
    const uint32_t first_place = threadIdx.x * thread_places;
    uint32_t reached = 0;
    for (int i = 0; i < thread_places; ++i) {
      const uint32_t place = first_place + i;
      if (place < end_ && memory.is_reached[place] && place != memory.stop) reached |= 1u << i;
    }
    const uint32_t stop = memory.stop;
    unsigned long long own_values = 0;
    for (uint32_t left = reached; left != 0; left &= left - 1) own_values += parse(first_place + __ffs(left) - 1).values;
    __syncthreads();
    unsigned long long values_before, total;
    Sum(memory.sum).ExclusiveSum(own_values, values_before, total);
    const unsigned long long skip = from.skip, end = from.skip + from.count;
    unsigned long long runs = 0, row = values_before;
    for (uint32_t left = reached; left != 0; left &= left - 1) {
      const uint64_t values = parse(first_place + __ffs(left) - 1).values;
      runs += max(row, skip) < min(row + values, end);
      row += values;
    }
    __syncthreads();
    unsigned long long run, run_count;
    Sum(memory.sum).ExclusiveSum(runs, run, run_count);
    row = values_before;
    for (uint32_t left = reached; left != 0; left &= left - 1) {
      const RunHeader header = parse(first_place + __ffs(left) - 1);
      const unsigned long long begin = max(row, skip), run_end = row + header.values;
      if (begin < min(run_end, end)) {
        memory.batch.first[run] = static_cast<uint32_t>(begin - skip);
        memory.batch.content[run] = header.is_packed ? header.begin * 8 + static_cast<uint32_t>((begin - row) * part_.bit_width)
                                                     : value_at(header.begin);
        memory.batch.packed[run] = header.is_packed;
        ++run;
      }
      if (part_.ends_page && !header.is_packed && row < end && run_end >= end + 8) {
        failure_.report(DecodeProblem::Surplus, part_.page, window_.origin + header.next);
      }
      row = run_end;
    }
    if (threadIdx.x == 0) {
      const unsigned long long used = min(total, end);
      memory.batch.runs = static_cast<int>(run_count);
      memory.batch.rows = static_cast<uint32_t>(used > skip ? used - skip : 0);
      memory.batch.done = total >= end;
      memory.state.position = window_.origin + stop;
      memory.state.skip = used < skip ? skip - used : 0;
      memory.state.count = used < skip ? from.count : end - used;
    }
    __syncthreads();
  }

 private:
  __device__ uint32_t value_at(uint32_t place) const {
    const uint32_t bits = (static_cast<uint32_t>(part_.bit_width) + 7) / 8 * 8;
    const uint32_t word = tile_.bits32(place * 8);
    return bits == 32 ? word : word & ((1u << bits) - 1);
  }

  // Stops at everything that is not a short, whole, well-formed run.
  __device__ RunHeader parse(uint32_t place) const {
    const RunHeader stop{place, place, 0, false};
    if (place >= last_header_ || end_ - place < 2) return stop;
    const uint32_t word = tile_.bits32(place * 8);
    uint32_t header = word & 127, header_bytes = 1;
    if ((word & 0x80) != 0) {
      header |= (word >> 8 & 127) << 7;
      header_bytes = 2;
      if ((word & 0x8000) != 0) {
        header |= (word >> 16 & 127) << 14;
        header_bytes = 3;
        if ((word & 0x800000) != 0) return stop;
      }
    }
    const uint32_t begin = place + header_bytes, width = static_cast<uint32_t>(part_.bit_width);
    const bool is_packed = (header & 1) != 0;
    const uint32_t bytes = is_packed ? (header >> 1) * width : (width + 7) / 8;
    if (begin + bytes > end_) return stop;
    if (!is_packed && width < 32 && value_at(begin) >> width != 0) return stop;
    return {begin + bytes, begin, is_packed ? (header >> 1) * 8ull : header >> 1, is_packed};
  }

  // Marks the headers that the chain from `start` reaches, and notes where it stops. After k rounds, `next` leads 2^k headers on, and the
  // first 2^k are marked.
  __device__ void mark(Memory& memory, uint32_t start) {
    __syncthreads();
    // Places of a thread are far apart, so that neighbours access different banks.
    for (uint32_t place = threadIdx.x; place <= tile_bytes; place += block_threads) {
      memory.next[place] = static_cast<uint16_t>(place < start ? place : parse(place).next);
      memory.is_reached[place] = place == start;
    }
    __syncthreads();
    uint32_t reach = memory.next[start];
    while (true) {
      uint16_t next[thread_places], farther[thread_places];
      uint32_t reached = 0;
#pragma unroll
      for (int i = 0; i < thread_places; ++i) {
        const uint32_t place = threadIdx.x + i * block_threads;
        next[i] = memory.next[place];
        farther[i] = memory.next[next[i]];
        reached |= static_cast<uint32_t>(memory.is_reached[place]) << i;
      }
      const uint32_t twice = memory.next[reach];
      __syncthreads();
      if (twice == reach) break;  // the chain ends there, and all of it is marked
#pragma unroll
      for (int i = 0; i < thread_places; ++i) {
        if (reached >> i & 1) memory.is_reached[next[i]] = 1;
        memory.next[threadIdx.x + i * block_threads] = farther[i];
      }
      reach = twice;
      __syncthreads();
    }
    if (threadIdx.x == 0) memory.stop = reach;
    __syncthreads();
  }

  const RunPart& part_;
  const Tile& tile_;
  const TileWindow& window_;
  FailureWord failure_;
  uint32_t end_;          // of the bytes in the tile, from the window's origin
  uint32_t last_header_;  // places from here on need the next tile
};

// Receives decoded codes.
class CodeSink {
 public:
  __device__ CodeSink(const RunPart& part, int32_t* out) : out_(out + part.target), base_(static_cast<uint32_t>(part.base)) {}
  __device__ void put(int64_t row, uint32_t value) { out_[row] = static_cast<int32_t>(value + base_); }
  __device__ void finish() {}

  static constexpr DecodeProblem above_max = DecodeProblem::CodeAboveLimit;

 private:
  int32_t* out_;
  uint32_t base_;
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
    sink.put(done + row, min(value, max_value));  // safe to use, though wrong
  }
  return above;
}

template <typename Sink, typename Output>
__global__ void __launch_bounds__(block_threads, min_blocks)
    expand_runs_kernel(const uint8_t* __restrict__ bytes, const RunPart* __restrict__ parts, Output out, FailureWord failure) {
  __shared__ Tile tile;
  __shared__ RunFinder::Memory memory;
  const Batch& batch = memory.batch;
  const RunPart part = parts[blockIdx.x];
  const uint8_t* page = bytes + part.begin;
  RunWalker walker(part, failure);
  Sink sink(part, out);
  TileWindow window;
  int64_t done = 0;
  bool above = false;
  while (true) {
    if (threadIdx.x == 0) {
      walker.fill(tile, window, memory.batch);
      memory.state = walker.state();
    }
    __syncthreads();
    above |= expand(batch, tile, part, done, sink);
    done += batch.rows;
    const bool last = batch.done, many_runs = batch.many_runs;
    const int64_t load_at = batch.load_at;
    if (last) break;
    __syncthreads();  // the batch and the tile have been read
    if (many_runs) {
      RunFinder(part, tile, window, failure).fill(memory);
      above |= expand(batch, tile, part, done, sink);
      done += batch.rows;
      if (batch.done) break;
      if (threadIdx.x == 0) walker.move_to(memory.state);
    } else if (load_at != nothing_to_load) {
      window = tile.load(page, part.end - part.begin, load_at);
    }
    __syncthreads();
  }
  for (int64_t row = done + threadIdx.x; row < part.count; row += block_threads) sink.put(row, 0);  // of a bad page
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
