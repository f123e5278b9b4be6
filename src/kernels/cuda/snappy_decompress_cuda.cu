// Snappy on the GPU: one block per fragment of a page, which works through it in batches of elements (literals and copies). A page whose
// fragments turn out to depend on each other, or that is damaged, is done again by one block as a whole. Both chains of the format, from tag to tag in the input and from a copy to the bytes it repeats in the output, are followed in parallel:
//   1. every byte of a tile of the input is read as if it were a tag, which gives the place of the next one; pointer doubling gives the
//      places where a chain leaves its section and its group of sections, one thread hops from group to group, one thread per group from
//      section to section, and one thread per section marks the tags that are real;
//   2. a prefix sum over the lengths places each element in a window of the output. Every byte of the window finds its element, takes its
//      value from a literal or points to the byte that it repeats, and pointer doubling leads it to one that came from the input or lies
//      before the window.
// Long literals are copied by all threads. Batches of one fragment follow each other, so what counts is the latency of a batch. nvCOMP is no alternative: its behaviour on damaged blocks is undefined.
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/page_tile.cuh"
#include "kernels/cuda/snappy_decompress_cuda.h"
#include "kernels/cuda/snappy_element.cuh"
#include "kernels/cuda/snappy_fragments_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr uint32_t block_threads = 512;
constexpr uint32_t warp_threads = 32;
constexpr uint32_t block_warps = block_threads / warp_threads;
constexpr uint32_t tile_bytes = 4096;
constexpr uint32_t thread_bytes = tile_bytes / block_threads;
constexpr uint32_t section_bytes = 64;  // longer than any element but long literals, so that a chain enters every section
constexpr uint32_t sections = tile_bytes / section_bytes;
constexpr uint32_t section_rounds = 5;  // of doubling: an element takes at least two bytes
constexpr uint32_t group_bytes = 512;
constexpr uint32_t groups = tile_bytes / group_bytes;
constexpr uint32_t group_rounds = 3;     // of doubling, from section to section
constexpr uint32_t window_bytes = 8192;  // of the output
constexpr uint32_t longest_output = 64;  // of an element but a long literal
constexpr uint32_t longest_element = 5 + 64;  // an upper bound, in bytes of the input
constexpr uint16_t no_entry = 0xffff;
// In BlockMemory::repeats, numbers from window_bytes on mean a byte before the window: its distance from the window's start, less one.
constexpr uint32_t farthest = 0x10000 - window_bytes;

static_assert(sections <= block_threads);
static_assert(section_bytes << group_rounds == group_bytes);
static_assert(thread_bytes == 8);
static_assert(longest_output <= 2 * warp_threads);

using Tile = PageTile<(tile_bytes + longest_element + 16 + 15) / 16 * 16>;
using LengthSum = cub::BlockScan<uint32_t, block_threads>;

// The chain of tags, by offset in the tile. An entry that refers to itself ends a chain: a long literal, or the end of the input.
struct TagChain {
  uint16_t next[tile_bytes];
  uint16_t leaves_at[tile_bytes];  // where the chain leaves the section
};

struct BlockMemory {
  Tile tile;
  uint16_t entry[sections];      // the first tag of each section
  uint16_t group_entry[groups];  // and of each group
  alignas(8) uint8_t is_tag[tile_bytes];
  union {
    TagChain chain;                             // until the tags are marked
    alignas(16) uint16_t starts[window_bytes];  // then, where an element begins in the window: its place in the tile, plus one; else 0
    uint16_t repeats[window_bytes];             // then: the byte of the window that a byte repeats, its own place, or an earlier byte
  };
  union {
    uint8_t window[window_bytes];
    uint16_t leaves_group_at[tile_bytes];  // while tags are marked
  };
  typename LengthSum::TempStorage sum;
  uint32_t stop;      // where the batch ends, in the tile
  uint32_t produced;  // bytes of the output
  bool is_damaged;
};

// Bytes of the output that one thread block makes.
struct OutputRange {
  uint32_t begin;
  uint32_t end;
};

// Decompresses a range of a block's output with all threads of a thread block.
class BlockDecoder {
 public:
  __device__ BlockDecoder(const uint8_t* in, uint32_t in_size, uint8_t* out, uint32_t out_size, OutputRange range, BlockMemory& memory)
      : in_(in), out_(out), in_size_(in_size), out_size_(out_size), range_(range), memory_(memory) {}

  // `start` is a tag at or before the range, or the beginning of the block. False if the block is malformed, has another size, or an element
  // of the range reaches beyond it. The same in all threads.
  __device__ bool run(SnappyStart start) {
    if (threadIdx.x == 0) memory_.is_damaged = false;
    position_ = start.position;
    made_ = start.made;
    if (position_ == 0) {
      load_tile();
      if (!read_size()) return false;
    }
    while (position_ < in_size_ && made_ < range_.end) {
      load_tile();
      find_tags();
      __syncthreads();
      place_elements();
      __syncthreads();
      if (memory_.is_damaged) return false;
      place_bytes();
      follow_repeats();
      store_window();
      position_ += memory_.stop;
      made_ += memory_.produced;
      const uint32_t place = memory_.stop;
      if (position_ < in_size_ && place < tile_bytes && !copy_long_literal(place)) return false;
      __syncthreads();
    }
    return made_ == range_.end && (made_ < out_size_ || position_ == in_size_);
  }

 private:
  // The tile starts at position_.
  __device__ void load_tile() {
    const TileWindow window = memory_.tile.load(in_, in_size_, position_);
    origin_ = static_cast<uint32_t>(static_cast<int64_t>(position_) - window.origin);
    __syncthreads();
  }

  __device__ SnappyElement element_at(uint32_t place) const { return parse_snappy(memory_.tile, origin_ + place); }

  __device__ bool read_size() {
    uint64_t size = 0;
    for (uint32_t byte = 0; byte < 5 && byte < in_size_; ++byte) {
      const uint32_t bits = memory_.tile.byte(origin_ + byte);
      size |= static_cast<uint64_t>(bits & 127) << (7 * byte);
      if (bits < 128) {
        position_ = byte + 1;
        __syncthreads();
        return size == out_size_;
      }
    }
    return false;
  }

  __device__ void find_tags() {
    TagChain& chain = memory_.chain;
    const uint32_t left = in_size_ - position_;
    for (uint32_t place = threadIdx.x; place < tile_bytes; place += block_threads) {
      uint32_t next = place;
      if (place < left) {
        const SnappyElement element = element_at(place);
        if (!element.is_long) next = place + element.input_bytes();
      }
      chain.next[place] = static_cast<uint16_t>(next);
      chain.leaves_at[place] = static_cast<uint16_t>(next);
      memory_.is_tag[place] = 0;
    }
    __syncthreads();
    follow<section_bytes, section_rounds>(chain.leaves_at);
    for (uint32_t i = 0; i < thread_bytes; ++i) {
      const uint32_t place = chain_place(i);
      memory_.leaves_group_at[place] = chain.leaves_at[place];
    }
    if (threadIdx.x < sections) memory_.entry[threadIdx.x] = no_entry;
    if (threadIdx.x < groups) memory_.group_entry[threadIdx.x] = no_entry;
    __syncthreads();
    follow<group_bytes, group_rounds>(memory_.leaves_group_at);
    __syncthreads();
    if (threadIdx.x == 0) {
      memory_.stop = hop<group_bytes>(0, tile_bytes, memory_.leaves_group_at, memory_.group_entry);
      memory_.produced = 0;
    }
    __syncthreads();
    if (threadIdx.x < groups && memory_.group_entry[threadIdx.x] != no_entry)
      hop<section_bytes>(memory_.group_entry[threadIdx.x], (threadIdx.x + 1) * group_bytes, chain.leaves_at, memory_.entry);
    __syncthreads();
    if (threadIdx.x < sections && memory_.entry[threadIdx.x] != no_entry) {
      const uint32_t end = min((threadIdx.x + 1) * section_bytes, memory_.stop);
      for (uint32_t place = memory_.entry[threadIdx.x]; place < end; place = chain.next[place]) memory_.is_tag[place] = 1;
    }
  }

  // The i-th place of this thread. A warp has consecutive places, which are whole sections but not whole groups.
  __device__ static uint32_t chain_place(uint32_t i) {
    constexpr uint32_t warp_bytes = warp_threads * thread_bytes;
    return threadIdx.x / warp_threads * warp_bytes + i * warp_threads + threadIdx.x % warp_threads;
  }

  // Pointer doubling inside parts of `part_bytes`.
  template <uint32_t part_bytes, uint32_t rounds>
  __device__ static void follow(uint16_t* places) {
    for (uint32_t round = 0; round < rounds; ++round) {
      uint32_t later[thread_bytes];
#pragma unroll
      for (uint32_t i = 0; i < thread_bytes; ++i) {
        const uint32_t place = chain_place(i);
        later[i] = places[place];
        const bool stays = later[i] / part_bytes == place / part_bytes;
        later[i] = stays ? places[later[i]] : later[i];
      }
      if constexpr (part_bytes > warp_threads * thread_bytes) {
        __syncthreads();
      } else {
        __syncwarp();
      }
#pragma unroll
      for (uint32_t i = 0; i < thread_bytes; ++i) places[chain_place(i)] = static_cast<uint16_t>(later[i]);
      if constexpr (part_bytes > warp_threads * thread_bytes) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }

  // From part to part, noting the entry of each. Returns where the chain ends or reaches `end`.
  template <uint32_t part_bytes>
  __device__ static uint32_t hop(uint32_t place, uint32_t end, const uint16_t* leaves_at, uint16_t* entries) {
    while (place < end) {
      entries[place / part_bytes] = static_cast<uint16_t>(place);
      const uint32_t later = leaves_at[place];
      const bool ends_here = later / part_bytes == place / part_bytes;
      place = later;
      if (ends_here) break;
    }
    return place;
  }

  // Gives the elements of the batch their places in the window. The batch ends before the first one that does not fit.
  __device__ void place_elements() {
    const uint32_t begin = threadIdx.x * thread_bytes;
    const uint64_t tags = *reinterpret_cast<const uint64_t*>(memory_.is_tag + begin);
    uint32_t length = 0;
    for (uint32_t i = 0; i < thread_bytes; ++i) {
      if (tags >> (8 * i) & 1) length += element_at(begin + i).length;
    }
    uint32_t target = 0, total = 0;
    LengthSum(memory_.sum).ExclusiveSum(length, target, total);
    __syncthreads();  // `starts` takes the place of the chain, which is no longer needed
    for (uint32_t i = threadIdx.x * 8; i < min(total, window_bytes); i += block_threads * 8)
      *reinterpret_cast<uint4*>(memory_.starts + i) = uint4{0, 0, 0, 0};
    __syncthreads();
    uint32_t end = 0;
    for (uint32_t i = 0; i < thread_bytes; ++i) {
      if (!(tags >> (8 * i) & 1)) continue;
      const SnappyElement element = element_at(begin + i);
      if (target + element.length > window_bytes || made_ + target >= range_.end) {
        atomicMin(&memory_.stop, begin + i);
        break;
      }
      if (is_damaged(element, begin + i, target)) {
        memory_.is_damaged = true;
        break;
      }
      memory_.starts[target] = static_cast<uint16_t>(begin + i + 1);
      target += element.length;
      end = target;
    }
    end = __reduce_max_sync(~0u, end);
    if (threadIdx.x % warp_threads == 0) atomicMax(&memory_.produced, end);
  }

  // Or reaches beyond the range.
  __device__ bool is_damaged(const SnappyElement& element, uint32_t place, uint32_t target) const {
    if (in_size_ - position_ - place < element.input_bytes()) return true;
    const uint32_t begin = made_ + target, end = begin + element.length;
    if (end > range_.end || (begin < range_.begin && end > range_.begin)) return true;
    if (begin >= range_.begin && !element.is_literal && element.offset > begin - range_.begin) return true;
    return !element.is_literal && (element.offset == 0 || element.offset > made_ + target);
  }

  // Each warp goes through a part of the window, one byte per thread.
  __device__ void place_bytes() {
    const uint32_t warp = threadIdx.x / warp_threads, lane = threadIdx.x % warp_threads;
    const uint32_t produced = memory_.produced;
    const uint32_t rows = (produced + warp_threads - 1) / warp_threads;  // of one byte per thread
    const uint32_t warp_rows = (rows + block_warps - 1) / block_warps;
    const uint32_t first_row = warp * warp_rows, end_row = min(first_row + warp_rows, rows);
    // The last element that began before the row: where, and its entry of `starts`.
    uint32_t start = 0, entry = 0;
    for (uint32_t back = 1; back <= 2 && back <= first_row && entry == 0; ++back) {
      const uint32_t row_begin = (first_row - back) * warp_threads;
      const uint32_t own = memory_.starts[row_begin + lane];
      const uint32_t mask = __ballot_sync(~0u, own != 0);
      const uint32_t last = 31 - __clz(mask | 1);
      entry = __shfl_sync(~0u, own, last);
      start = row_begin + last;
    }
    __syncthreads();  // from here on, `repeats` takes the place of `starts`
    for (uint32_t row = first_row; row < end_row; ++row) {
      const uint32_t row_begin = row * warp_threads, i = row_begin + lane;
      const uint32_t own = i < produced ? memory_.starts[i] : 0;
      const uint32_t mask = __ballot_sync(~0u, own != 0);
      const uint32_t until_here = mask & (~0u >> (31 - lane));
      const uint32_t nearest = 31 - __clz(until_here | 1);
      const uint32_t nearest_entry = __shfl_sync(~0u, own, nearest);
      if (i < produced)
        place_byte(i, until_here == 0 ? start : row_begin + nearest, (until_here == 0 ? entry : nearest_entry) - 1);
      if (mask == 0) continue;
      const uint32_t last = 31 - __clz(mask);
      start = row_begin + last;
      entry = __shfl_sync(~0u, own, last);
    }
    __syncthreads();
  }

  // Byte i of the window belongs to the element at `place` of the tile, which begins at byte `start`.
  __device__ void place_byte(uint32_t i, uint32_t start, uint32_t place) {
    const SnappyElement element = element_at(place);
    uint32_t done = i - start;
    uint32_t repeated = i;
    if (made_ + i < range_.begin) {
      // Not stored, and no byte of the range refers to it.
    } else if (element.is_literal) {
      memory_.window[i] = memory_.tile.byte(origin_ + place + 1 + done);
    } else {
      if (done >= element.offset) done %= element.offset;  // a copy may reach its own bytes: it repeats the last `offset` bytes
      const uint32_t from = made_ + start - element.offset + done;  // in the output
      if (from >= made_) {
        repeated = from - made_;
      } else if (made_ - from <= farthest) {
        repeated = window_bytes + made_ - from - 1;  // read when the window is stored
      } else {
        memory_.window[i] = out_[from];
      }
    }
    memory_.repeats[i] = static_cast<uint16_t>(repeated);
  }

  // Until every byte refers to one that repeats nothing. A thread follows a chain for a few steps, then waits for the others: their results
  // shorten the rest of it.
  __device__ void follow_repeats() {
    constexpr int steps = 6;
    const uint32_t produced = memory_.produced;
    bool is_unfinished = true;
    while (__syncthreads_or(is_unfinished)) {
      is_unfinished = false;
      for (uint32_t i = threadIdx.x; i < produced; i += block_threads) {
        uint32_t place = memory_.repeats[i];
        if (place >= window_bytes || place == i) continue;
        uint32_t later = memory_.repeats[place];
        if (later == place) continue;
        for (int step = 1; step < steps && later != place && later < window_bytes; ++step) {
          place = later;
          later = memory_.repeats[place];
        }
        memory_.repeats[i] = static_cast<uint16_t>(later);
        is_unfinished |= later != place && later < window_bytes;
      }
    }
  }

  __device__ void store_window() {
    constexpr uint32_t at_once = 4;  // loads before the stores that the compiler must not move them across
    const uint32_t produced = memory_.produced;
    uint8_t* target = out_ + made_;
    for (uint32_t first = threadIdx.x; first < produced; first += at_once * block_threads) {
      uint8_t bytes[at_once];
#pragma unroll
      for (uint32_t k = 0; k < at_once; ++k) {
        const uint32_t i = first + k * block_threads;
        if (i >= produced) continue;
        const uint32_t place = memory_.repeats[i];
        bytes[k] = place < window_bytes ? memory_.window[place] : target[-1 - static_cast<int64_t>(place - window_bytes)];
      }
#pragma unroll
      for (uint32_t k = 0; k < at_once; ++k) {
        const uint32_t i = first + k * block_threads;
        if (i < produced && made_ + i >= range_.begin) target[i] = bytes[k];
      }
    }
    __syncthreads();
  }

  // The batch ended at `place` of the tile, either because the window was full or at a long literal. Afterwards position_ is past the latter.
  __device__ bool copy_long_literal(uint32_t place) {
    const SnappyElement tag = element_at(place);
    if (!tag.is_long || made_ >= range_.end) return true;
    const uint32_t length_bytes = tag.length - 60, left = in_size_ - position_;
    const uint32_t last = long_literal_last(memory_.tile, origin_ + place, length_bytes);
    if (left <= 1 + length_bytes || left - 1 - length_bytes <= last || range_.end - made_ <= last) return false;
    if (made_ < range_.begin && range_.begin - made_ <= last) return false;
    position_ += 1 + length_bytes;
    if (made_ >= range_.begin) {
#pragma unroll 8
      for (uint32_t i = threadIdx.x; i <= last; i += block_threads) out_[made_ + i] = in_[position_ + i];
    }
    position_ += last + 1;
    made_ += last + 1;
    return true;
  }

  const uint8_t* in_;
  uint8_t* out_;
  uint32_t in_size_, out_size_;
  OutputRange range_;
  BlockMemory& memory_;
  uint32_t origin_ = 0;    // of position_ in the tile
  uint32_t position_ = 0;  // of the next tag
  uint32_t made_ = 0;      // bytes of the output so far
};

__device__ bool is_plain(const SnappyPage& page) {
  return page.plain == page.bytes && page.plain == page.size;
}

__device__ bool decompress_range(const uint8_t* bytes, const SnappyPage& page, OutputRange range, SnappyStart start, uint8_t* out,
                                 BlockMemory& memory) {
  BlockDecoder decoder(bytes + page.begin + page.plain, page.bytes - page.plain, out + page.target + page.plain, page.size - page.plain,
                       range, memory);
  return decoder.run(start);
}

__global__ void __launch_bounds__(block_threads)
    decompress_fragments_kernel(const uint8_t* bytes, const SnappyPage* pages, const SnappyFragment* fragments, const SnappyStart* starts,
                                uint32_t* redo, uint8_t* out) {
  __shared__ BlockMemory memory;
  const SnappyFragment fragment = fragments[blockIdx.x];
  const SnappyPage page = pages[fragment.page];
  if (fragment.number == 0) {
    for (uint32_t i = threadIdx.x; i < page.plain; i += block_threads) out[page.target + i] = bytes[page.begin + i];
  }
  // Other blocks may set it: one thread reads it for all.
  if (__syncthreads_or(threadIdx.x == 0 && (is_plain(page) || redo[fragment.page] != 0))) return;
  const uint32_t begin = fragment.number * kSnappyFragmentBytes;
  const OutputRange range{begin, min(begin + kSnappyFragmentBytes, page.size - page.plain)};
  const SnappyStart start = starts[page.first_fragment + fragment.number];
  if (!decompress_range(bytes, page, range, start, out, memory) && threadIdx.x == 0) redo[fragment.page] = 1;
}

__global__ void __launch_bounds__(block_threads) decompress_pages_kernel(const uint8_t* bytes, const SnappyPage* pages, const uint32_t* redo,
                                                                         uint8_t* out, unsigned long long* first_damaged) {
  if (redo[blockIdx.x] == 0) return;
  __shared__ BlockMemory memory;
  const SnappyPage page = pages[blockIdx.x];
  if (!decompress_range(bytes, page, {0, page.size - page.plain}, {0, 0}, out, memory) && threadIdx.x == 0)
    atomicMax(first_damaged, ~static_cast<unsigned long long>(page.page));
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
