// Snappy on the GPU: one block per fragment of a page, processed tile by tile. A page whose fragments turn out to depend on each other, or
// that is damaged, is decompressed again as a whole by one block. Both chains of the format are followed in parallel: 1. From tag to tag in
// the input. Every thread reads its bytes as if they were tags, which gives the places of the next ones; pointer doubling by shuffles
// gives, for each entry into a row of 32 bytes, the tags that are met, what they yield, and where the chain leaves. One thread hops from
// row to row, then every thread lists those of its bytes that are tags. 2. From a copy to the bytes that it repeats. The output is produced
// in rows of one byte per thread: each thread finds the element of its byte and takes it from the input or from earlier output. Bytes that
// repeat others of the same row follow pointers in shared memory. Long literals are copied by all threads. nvCOMP is no alternative: its
// behaviour on damaged blocks is undefined.
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/copy_bytes.cuh"
#include "kernels/cuda/page_tile.cuh"
#include "kernels/cuda/snappy_decompress_cuda.h"
#include "kernels/cuda/snappy_element.cuh"
#include "kernels/cuda/snappy_fragments_cuda.h"
#include "kernels/cuda/snappy_row_exit.cuh"

namespace pistachio::kernels::cuda {

namespace {

constexpr uint32_t warp_threads = 32;
constexpr uint32_t block_threads = 128;
constexpr uint32_t thread_bytes = 8;
constexpr uint32_t tile_bytes = thread_bytes * block_threads;
constexpr uint32_t tile_rows = tile_bytes / warp_threads;
constexpr uint32_t longest_listed_literal = 224;  // longer ones are copied by themselves
constexpr uint32_t longest_element = 5 + longest_listed_literal;
constexpr uint32_t window_bytes = block_threads * 32;  // of the output of a batch; a bit per byte is a word per thread
constexpr uint32_t recent_bytes = 8192;
constexpr uint32_t follow_steps = 4;
constexpr uint8_t no_entry = 0xff;
constexpr uint32_t literal_mark = 1u << 31;

static_assert((recent_bytes & (recent_bytes - 1)) == 0 && recent_bytes > block_threads);

using Tile = PageTile<(tile_bytes + longest_element + 16 + 15) / 16 * 16>;
using StartSum = cub::BlockScan<uint32_t, block_threads>;

struct ListedElement {
  uint32_t start;   // in the window
  uint32_t source;  // a copy's offset; a literal: literal_mark plus the place of its bytes in the tile, less `start`, modulo 2^16
};

struct BlockMemory {
  Tile tile;
  union {
    SnappyRowExit exits[tile_bytes];           // until the rows are entered
    ListedElement elements[tile_bytes / 2];    // then
  };
  uint8_t entries[tile_rows];  // by row: where the chain of tags enters it
  uint16_t row_starts[tile_rows];   // then: its elements' place in the window
  uint16_t row_elements[tile_rows]; // and the number of elements before them
  uint32_t starts[window_bytes / warp_threads];           // a bit per byte of the window: an element starts here
  uint16_t elements_before[window_bytes / warp_threads];  // for each word of them
  uint8_t recent[recent_bytes];                           // the latest output, at its position modulo the size
  uint8_t values[block_threads];
  uint16_t repeats[2][block_threads];
  typename StartSum::TempStorage sum;
  uint32_t stop;      // where the batch ends, in the tile
  uint32_t produced;  // bytes of the output
};

// A block of compressed bytes, and the part of its output that one thread block makes.
struct Task {
  const uint8_t* in;
  uint32_t in_size;
  uint8_t* out;
  uint32_t out_size;
  uint32_t begin, end;  // of the output
};

class BlockDecoder {
 public:
  __device__ BlockDecoder(const Task& task, BlockMemory& memory) : task_(task), memory_(memory) {}

  // `start` is a tag at or before the task's output, or the beginning of the block. False if the block is malformed, has another size, or
  // an element of the output reaches beyond it. Called by the whole block; the same in all threads.
  __device__ bool run(SnappyStart start) {
    position_ = start.position;
    made_ = start.made;
    if (position_ == 0 && !read_size()) return false;
    while (position_ < task_.in_size && made_ < task_.end) {
      load_tile();
      if (!list_elements()) return false;
      if (made_ + memory_.produced > task_.begin) make_window();
      const uint32_t place = memory_.stop;
      position_ += place;
      made_ += memory_.produced;
      if (place < tile_bytes && position_ < task_.in_size && made_ < task_.end && !copy_long_literal(place)) return false;
      __syncthreads();
    }
    return made_ == task_.end && (made_ < task_.out_size || position_ == task_.in_size);
  }

 private:
  __device__ static uint32_t lane() { return threadIdx.x % warp_threads; }

  __device__ bool read_size() {
    uint64_t size = 0;
    for (uint32_t byte = 0; byte < 5 && byte < task_.in_size; ++byte) {
      const uint32_t bits = task_.in[byte];
      size |= static_cast<uint64_t>(bits & 127) << (7 * byte);
      if (bits < 128) {
        position_ = byte + 1;
        return size == task_.out_size;
      }
    }
    return false;
  }

  // The tile starts at position_.
  __device__ void load_tile() {
    const TileWindow window = memory_.tile.load(task_.in, task_.in_size, position_);
    origin_ = static_cast<uint32_t>(static_cast<int64_t>(position_) - window.origin);
    memory_.starts[threadIdx.x] = 0;
    for (uint32_t row = threadIdx.x; row < tile_rows; row += block_threads) memory_.entries[row] = no_entry;
    __syncthreads();
  }

  // The element at `place` of the tile, which is long only if it is too long to be listed.
  __device__ SnappyElement element_at(uint32_t place) const {
    SnappyElement element = parse_snappy(memory_.tile, origin_ + place);
    if (element.is_long && element.length == 61) {
      element.length = memory_.tile.byte(origin_ + place + 1) + 1u;
      element.header = 2;
      element.is_long = element.length > longest_listed_literal;
    }
    return element;
  }

  // The i-th place of this thread. Rows are not split between warps.
  __device__ static uint32_t place_of(uint32_t i) {
    return threadIdx.x / warp_threads * (warp_threads * thread_bytes) + i * warp_threads + lane();
  }

  __device__ bool list_elements() {
    SnappyRowExit exits[thread_bytes];
    uint32_t met[thread_bytes];  // the tags of the row that a chain from here meets
    const uint32_t left = task_.in_size - position_;
#pragma unroll
    for (uint32_t i = 0; i < thread_bytes; ++i) {
      const uint32_t place = place_of(i);
      const SnappyElement element = element_at(place);
      const bool ends_chain = element.is_long || place >= left || element.input_bytes() > left - place;
      exits[i] = ends_chain ? SnappyRowExit::end(lane()) : SnappyRowExit::after(lane(), element);
      met[i] = ends_chain ? 0 : 1u << lane();
    }
#pragma unroll
    for (uint32_t round = 0; round < SnappyRowExit::doubling_rounds; ++round) {
#pragma unroll
      for (uint32_t i = 0; i < thread_bytes; ++i) {
        const uint32_t next = exits[i].next();
        const uint32_t next_met = __shfl_sync(~0u, met[i], next % warp_threads);
        if (next < warp_threads) met[i] |= next_met;
        exits[i].follow_in_row();
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < thread_bytes; ++i) memory_.exits[place_of(i)] = exits[i];
    __syncthreads();
    if (threadIdx.x == 0) enter_rows();
    __syncthreads();
    bool is_damaged = false;
#pragma unroll
    for (uint32_t i = 0; i < thread_bytes; ++i) {
      const uint32_t row = place_of(i) / warp_threads, entry = memory_.entries[row];
      if (entry == no_entry) continue;
      const uint32_t tags = __shfl_sync(~0u, met[i], entry), row_made = __shfl_sync(~0u, exits[i].made(), entry);
      const uint32_t start = memory_.row_starts[row] + row_made - exits[i].made();
      if (!(tags >> lane() & 1) || made_ + start >= task_.end) continue;
      const SnappyElement element = element_at(place_of(i));
      is_damaged |= reaches_beyond(element, start);
      const uint32_t bytes = origin_ + place_of(i) + element.header;
      memory_.elements[memory_.row_elements[row] + __popc(tags & ((1u << lane()) - 1))] = {
          start, element.is_literal ? literal_mark | ((bytes - start) & 0xffff) : element.offset};
      atomicOr(&memory_.starts[start / warp_threads], 1u << (start % warp_threads));
    }
    if (__syncthreads_or(is_damaged)) return false;
    if (made_ + memory_.produced > task_.end) {
      if (task_.end == task_.out_size) return false;
      __syncthreads();
      if (threadIdx.x == 0) memory_.produced = task_.end - made_;
      __syncthreads();
    }
    return true;
  }

  // Hops from row to row while the window has room for their output.
  __device__ void enter_rows() {
    uint32_t place = 0, produced = 0, count = 0;
    while (place < tile_bytes) {
      const SnappyRowExit exit = memory_.exits[place];
      if (produced + exit.made() > window_bytes) break;
      const uint32_t row = place / warp_threads;
      memory_.entries[row] = static_cast<uint8_t>(place % warp_threads);
      memory_.row_starts[row] = static_cast<uint16_t>(produced);
      memory_.row_elements[row] = static_cast<uint16_t>(count);
      produced += exit.made();
      count += exit.elements();
      place = row * warp_threads + exit.next();
      if (exit.next() < warp_threads) break;
    }
    memory_.stop = place;
    memory_.produced = produced;
  }

  __device__ bool reaches_beyond(const SnappyElement& element, uint32_t start) const {
    const uint32_t begin = made_ + start, end = begin + element.length;
    if (end > task_.end || (begin < task_.begin && end > task_.begin)) return true;
    if (element.is_literal) return false;
    return element.offset == 0 || element.offset > (begin < task_.begin ? begin : begin - task_.begin);
  }

  __device__ void make_window() {
    uint32_t before = 0;
    StartSum(memory_.sum).ExclusiveSum(static_cast<uint32_t>(__popc(memory_.starts[threadIdx.x])), before);
    memory_.elements_before[threadIdx.x] = static_cast<uint16_t>(before);
    __syncthreads();
    for (uint32_t first = 0; first < memory_.produced; first += block_threads) {
      const uint32_t position = made_ + first + threadIdx.x;
      const bool is_stored = first + threadIdx.x < memory_.produced && position >= task_.begin;
      WindowByte byte{0, threadIdx.x};
      if (is_stored) byte = find_byte(first);
      if (__syncthreads_or(byte.repeated != threadIdx.x)) follow_repeats(byte);
      if (is_stored) {
        memory_.recent[position % recent_bytes] = byte.value;
        task_.out[position] = byte.value;
      }
      __syncthreads();
    }
  }

  struct WindowByte {
    uint8_t value;
    uint32_t repeated;  // the thread that has the value
  };

  // Produces the thread's byte of the row that starts at `first` in the window; earlier rows are complete.
  __device__ WindowByte find_byte(uint32_t first) const {
    const uint32_t i = first + threadIdx.x, starts = memory_.starts[i / warp_threads];
    const ListedElement element = memory_.elements[memory_.elements_before[i / warp_threads] + __popc(starts & (~0u >> (31 - lane()))) - 1];
    if (element.source & literal_mark) return {memory_.tile.byte((element.source + i) & 0xffff), threadIdx.x};
    const uint32_t done = i - element.start;
    uint32_t back = element.source;
    if (done >= back) back += done / back * back;  // a copy may reach its own bytes: it repeats the last ones before itself
    if (back <= threadIdx.x) return {0, threadIdx.x - back};
    const uint32_t from = made_ + i - back;
    const bool is_recent = from >= recent_begin_ && back - threadIdx.x <= recent_bytes - block_threads;
    return {is_recent ? memory_.recent[from % recent_bytes] : task_.out[from], threadIdx.x};
  }

  // Resolves every thread's pointer to a byte that repeats no other. A thread follows pointers for a few steps, then waits for the others,
  // whose results shorten the rest of the way.
  __device__ void follow_repeats(WindowByte& byte) {
    memory_.values[threadIdx.x] = byte.value;
    memory_.repeats[0][threadIdx.x] = static_cast<uint16_t>(byte.repeated);
    __syncthreads();
    uint32_t place = byte.repeated;
    for (uint32_t round = 0;; ++round) {
      const uint16_t* const repeats = memory_.repeats[round % 2];
      uint32_t later = repeats[place];
      for (uint32_t step = 1; step < follow_steps && later != place; ++step) {
        place = later;
        later = repeats[place];
      }
      const bool is_unfinished = later != place;
      place = later;
      memory_.repeats[(round + 1) % 2][threadIdx.x] = static_cast<uint16_t>(place);
      if (!__syncthreads_or(is_unfinished)) break;
    }
    byte.value = memory_.values[place];
  }

  // The elements ended at `place` of the tile: because the window was full, because one is cut short, or at a long literal. Afterwards
  // position_ is past the latter.
  __device__ bool copy_long_literal(uint32_t place) {
    if (!element_at(place).is_long) return memory_.produced > 0;
    const uint32_t length_bytes = parse_snappy(memory_.tile, origin_ + place).length - 60, left = task_.in_size - position_;
    const uint32_t last = long_literal_last(memory_.tile, origin_ + place, length_bytes);
    if (left <= 1 + length_bytes || left - 1 - length_bytes <= last || task_.end - made_ <= last) return false;
    if (made_ < task_.begin && task_.begin - made_ <= last) return false;
    position_ += 1 + length_bytes;
    if (made_ >= task_.begin)
      copy_bytes(task_.out + made_, task_.in + position_, static_cast<int64_t>(last) + 1, static_cast<int>(threadIdx.x), block_threads);
    position_ += last + 1;
    made_ += last + 1;
    recent_begin_ = made_;
    return true;
  }

  const Task& task_;
  BlockMemory& memory_;
  uint32_t origin_ = 0;        // of position_ in the tile
  uint32_t position_ = 0;      // of the next tag
  uint32_t made_ = 0;          // bytes of the output before it
  uint32_t recent_begin_ = 0;  // the output from here on is in `recent`, as far as there is room
};

__device__ Task task_of(const uint8_t* bytes, const SnappyPage& page, uint8_t* out) {
  const uint32_t size = page.size - page.plain;
  return {bytes + page.begin + page.plain, page.bytes - page.plain, out + page.target + page.plain, size, 0, size};
}

__global__ void __launch_bounds__(block_threads, 10)
    decompress_fragments_kernel(const uint8_t* bytes, const SnappyPage* pages, const SnappyFragment* fragments, const SnappyStart* starts,
                                uint32_t* redo, uint8_t* out) {
  __shared__ BlockMemory memory;
  const SnappyFragment fragment = fragments[blockIdx.x];
  const SnappyPage page = pages[fragment.page];
  if (fragment.number == 0) copy_bytes(out + page.target, bytes + page.begin, page.plain, static_cast<int>(threadIdx.x), block_threads);
  const bool is_plain = page.plain == page.bytes && page.plain == page.size;
  // Other blocks may set it: one thread reads it for all.
  if (__syncthreads_or(threadIdx.x == 0 && (is_plain || redo[fragment.page] != 0))) return;
  Task task = task_of(bytes, page, out);
  task.begin = fragment.number * kSnappyFragmentBytes;
  task.end = min(task.begin + kSnappyFragmentBytes, task.out_size);
  if (!BlockDecoder(task, memory).run(starts[page.first_fragment + fragment.number]) && threadIdx.x == 0) redo[fragment.page] = 1;
}

__global__ void __launch_bounds__(block_threads, 10) decompress_pages_kernel(const uint8_t* bytes, const SnappyPage* pages, const uint32_t* redo,
                                                                         uint8_t* out, unsigned long long* first_damaged) {
  if (redo[blockIdx.x] == 0) return;
  __shared__ BlockMemory memory;
  const SnappyPage page = pages[blockIdx.x];
  const Task task = task_of(bytes, page, out);
  if (!BlockDecoder(task, memory).run({0, 0}) && threadIdx.x == 0) atomicMax(first_damaged, ~static_cast<unsigned long long>(page.page));
}

}  // namespace

cudaError_t decompress_snappy(const uint8_t* bytes, const SnappyBatch& batch, uint8_t* out, unsigned long long* first_damaged,
                              cudaStream_t stream) {
  if (batch.page_count == 0) return cudaSuccess;
  const cudaError_t found = find_snappy_fragments(bytes, batch.pages, batch.page_count, batch.tiles, batch.tile_count, batch.hops,
                                                  batch.starts, batch.redo, stream);
  if (found != cudaSuccess) return found;
  decompress_fragments_kernel<<<static_cast<unsigned>(batch.fragment_count), block_threads, 0, stream>>>(
      bytes, batch.pages, batch.fragments, batch.starts, batch.redo, out);
  decompress_pages_kernel<<<static_cast<unsigned>(batch.page_count), block_threads, 0, stream>>>(bytes, batch.pages, batch.redo, out,
                                                                                                first_damaged);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
