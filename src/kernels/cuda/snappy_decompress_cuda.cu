// Snappy on the GPU: one block per page, which works through the page in batches of elements (literals and copies). Both chains of the
// format, from tag to tag in the input and from a copy to the bytes it repeats in the output, are followed in parallel:
//   1. every byte of a tile of the input is read as if it were a tag, which gives the place of the next one; pointer doubling inside small
//      sections gives the place where a chain leaves its section, one thread hops from section to section, and one thread per section marks
//      the tags that are real;
//   2. a prefix sum over the lengths places each element in a window of the output. A byte of a copy points to the byte that it repeats,
//      and pointer doubling leads every byte to one that came from the input or lies before the window.
// Long literals are copied by all threads. nvCOMP is no alternative: its behaviour on damaged blocks is undefined.
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/page_tile.cuh"
#include "kernels/cuda/snappy_decompress_cuda.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr uint32_t block_threads = 256;
constexpr uint32_t warp_threads = 32;
constexpr uint32_t block_warps = block_threads / warp_threads;
constexpr uint32_t tile_bytes = 2048;
constexpr uint32_t thread_bytes = tile_bytes / block_threads;
constexpr uint32_t section_bytes = 128;  // longer than any element, so that a chain enters every section
constexpr uint32_t sections = tile_bytes / section_bytes;
constexpr uint32_t section_rounds = 6;  // of doubling: an element takes at least two bytes
constexpr uint32_t window_bytes = 8192;  // of the output
constexpr uint32_t longest_element = 5 + 64;  // an upper bound, in bytes of the input
constexpr uint16_t no_entry = 0xffff;
// In BlockMemory::repeats, numbers from window_bytes on mean a byte before the window: its distance from the window's start, less one.
constexpr uint32_t farthest = 0x10000 - window_bytes;

static_assert(sections <= warp_threads);
static_assert(thread_bytes == 8);

using Tile = PageTile<(tile_bytes + longest_element + 16 + 15) / 16 * 16>;
using LengthSum = cub::BlockScan<uint32_t, block_threads>;

// The chain of tags, by offset in the tile. An entry that refers to itself ends a chain: a long literal, or the end of the input.
struct TagChain {
  uint16_t next[tile_bytes];
  uint16_t leaves_at[tile_bytes];  // where the chain leaves the section
};

struct BlockMemory {
  Tile tile;
  uint16_t entry[sections];  // the first tag of each section
  alignas(8) uint8_t is_tag[tile_bytes];
  union {
    TagChain chain;                  // until the tags are marked
    uint16_t repeats[window_bytes];  // afterwards: the byte of the window that a byte repeats, its own place, or an earlier byte
  };
  uint8_t window[window_bytes];
  typename LengthSum::TempStorage sum;
  uint32_t stop;      // where the batch ends, in the tile
  uint32_t produced;  // bytes of the output
  bool is_damaged;
};

struct Element {
  uint32_t header;  // bytes of the input before those of a literal
  uint32_t length;  // bytes that it yields
  uint32_t offset;  // of a copy
  bool is_literal;
  bool is_long;  // a literal whose length follows the tag; `length` is not its length

  __device__ uint32_t input_bytes() const { return header + (is_literal ? length : 0); }
};

__device__ Element parse(const Tile& tile, uint32_t place) {
  const uint32_t word = tile.bits32(place * 8), kind = word & 3;
  const uint32_t length = (word >> 2 & 63) + 1;
  switch (kind) {
    case 0: return {1, length, 0, true, length > 60};
    case 1: return {2, 4 + (word >> 2 & 7), (word >> 5 & 7) << 8 | (word >> 8 & 255), false, false};
    case 2: return {3, length, word >> 8 & 0xffff, false, false};
    default: return {5, length, tile.bits32((place + 1) * 8), false, false};
  }
}

// Decompresses one block with all threads of a thread block.
class BlockDecoder {
 public:
  __device__ BlockDecoder(const uint8_t* in, uint32_t in_size, uint8_t* out, uint32_t out_size, BlockMemory& memory)
      : in_(in), out_(out), in_size_(in_size), out_size_(out_size), memory_(memory) {}

  // False if the block is malformed or has another size. The same in all threads.
  __device__ bool run() {
    if (threadIdx.x == 0) memory_.is_damaged = false;
    load_tile();
    if (!read_size()) return false;
    while (position_ < in_size_) {
      load_tile();
      find_tags();
      __syncthreads();
      place_elements();
      __syncthreads();
      if (memory_.is_damaged) return false;
      follow_repeats();
      store_window();
      position_ += memory_.stop;
      made_ += memory_.produced;
      const uint32_t place = memory_.stop;
      if (position_ < in_size_ && place < tile_bytes && !copy_long_literal(place)) return false;
      __syncthreads();
    }
    return made_ == out_size_;
  }

 private:
  // The tile starts at position_.
  __device__ void load_tile() {
    const TileWindow window = memory_.tile.load(in_, in_size_, position_);
    origin_ = static_cast<uint32_t>(static_cast<int64_t>(position_) - window.origin);
    __syncthreads();
  }

  __device__ Element element_at(uint32_t place) const { return parse(memory_.tile, origin_ + place); }

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
        const Element element = element_at(place);
        if (!element.is_long) next = place + element.input_bytes();
      }
      chain.next[place] = static_cast<uint16_t>(next);
      chain.leaves_at[place] = static_cast<uint16_t>(next);
      memory_.is_tag[place] = 0;
    }
    __syncthreads();
    const uint32_t warp = threadIdx.x / warp_threads, lane = threadIdx.x % warp_threads;
    for (uint32_t section = warp; section < sections; section += block_warps) {
      const uint32_t begin = section * section_bytes, end = begin + section_bytes;
      for (uint32_t round = 0; round < section_rounds; ++round) {
        // Threads that read an entry before or after another one updates it both see a later place of the same chain.
        for (uint32_t place = begin + lane; place < end; place += warp_threads) {
          const uint32_t later = chain.leaves_at[place];
          if (later < end) chain.leaves_at[place] = chain.leaves_at[later];
        }
        __syncwarp();
      }
    }
    __syncthreads();
    if (warp == 0) {
      if (lane < sections) memory_.entry[lane] = no_entry;
      __syncwarp();
      if (lane == 0) {
        uint32_t place = 0;
        while (place < tile_bytes) {
          memory_.entry[place / section_bytes] = static_cast<uint16_t>(place);
          const uint32_t later = chain.leaves_at[place];
          const bool ends_here = later / section_bytes == place / section_bytes;
          place = later;
          if (ends_here) break;
        }
        memory_.stop = place;
        memory_.produced = 0;
      }
      __syncwarp();
      if (lane < sections && memory_.entry[lane] != no_entry) {
        const uint32_t end = min((lane + 1) * section_bytes, memory_.stop);
        for (uint32_t place = memory_.entry[lane]; place < end; place = chain.next[place]) memory_.is_tag[place] = 1;
      }
    }
  }

  // Gives the elements of the batch their places in the window. The batch ends before the first one that does not fit.
  __device__ void place_elements() {
    const uint32_t begin = threadIdx.x * thread_bytes;
    const uint64_t tags = *reinterpret_cast<const uint64_t*>(memory_.is_tag + begin);
    uint32_t length = 0;
    for (uint32_t i = 0; i < thread_bytes; ++i) {
      if (tags >> (8 * i) & 1) length += element_at(begin + i).length;
    }
    uint32_t target = 0;
    LengthSum(memory_.sum).ExclusiveSum(length, target);
    __syncthreads();  // `repeats` takes the place of the chain, which is no longer needed
    for (uint32_t i = 0; i < thread_bytes; ++i) {
      if (!(tags >> (8 * i) & 1)) continue;
      const Element element = element_at(begin + i);
      if (target + element.length > window_bytes) {
        atomicMin(&memory_.stop, begin + i);
        return;
      }
      if (is_damaged(element, begin + i, target)) {
        memory_.is_damaged = true;
        return;
      }
      place_bytes(element, origin_ + begin + i, target);
      target += element.length;
      atomicMax(&memory_.produced, target);
    }
  }

  __device__ bool is_damaged(const Element& element, uint32_t place, uint32_t target) const {
    if (in_size_ - position_ - place < element.input_bytes()) return true;
    if (out_size_ - made_ < target + element.length) return true;
    return !element.is_literal && (element.offset == 0 || element.offset > made_ + target);
  }

  __device__ void place_bytes(const Element& element, uint32_t place, uint32_t target) {
    if (element.is_literal) {
      for (uint32_t i = 0; i < element.length; ++i) {
        memory_.window[target + i] = memory_.tile.byte(place + 1 + i);
        memory_.repeats[target + i] = static_cast<uint16_t>(target + i);
      }
      return;
    }
    uint32_t from = made_ + target - element.offset;  // in the output
    uint32_t in_period = 0;                           // a copy may reach its own bytes: it repeats the last `offset` bytes
    for (uint32_t i = 0; i < element.length; ++i) {
      if (from >= made_) {
        memory_.repeats[target + i] = static_cast<uint16_t>(from - made_);
      } else if (made_ - from <= farthest) {
        // Read later, by all threads: each would wait for its bytes here.
        memory_.repeats[target + i] = static_cast<uint16_t>(window_bytes + made_ - from - 1);
      } else {
        memory_.window[target + i] = out_[from];
        memory_.repeats[target + i] = static_cast<uint16_t>(target + i);
      }
      ++from;
      if (++in_period == element.offset) {
        in_period = 0;
        from -= element.offset;
      }
    }
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
        if (i < produced) target[i] = bytes[k];
      }
    }
    __syncthreads();
  }

  // The batch ended at `place` of the tile, either because the window was full or at a long literal. Afterwards position_ is past the latter.
  __device__ bool copy_long_literal(uint32_t place) {
    const Element tag = element_at(place);
    if (!tag.is_long) return true;
    const uint32_t length_bytes = tag.length - 60, left = in_size_ - position_;
    const uint32_t bits = memory_.tile.bits32((origin_ + place + 1) * 8);
    const uint32_t last = length_bytes == 4 ? bits : bits & ((1u << (8 * length_bytes)) - 1);
    if (left <= 1 + length_bytes || left - 1 - length_bytes <= last || out_size_ - made_ <= last) return false;
    position_ += 1 + length_bytes;
#pragma unroll 8
    for (uint32_t i = threadIdx.x; i <= last; i += block_threads) out_[made_ + i] = in_[position_ + i];
    position_ += last + 1;
    made_ += last + 1;
    return true;
  }

  const uint8_t* in_;
  uint8_t* out_;
  uint32_t in_size_, out_size_;
  BlockMemory& memory_;
  uint32_t origin_ = 0;    // of position_ in the tile
  uint32_t position_ = 0;  // of the next tag
  uint32_t made_ = 0;      // bytes of the output so far
};

__global__ void __launch_bounds__(block_threads)
    decompress_kernel(const uint8_t* bytes, const SnappyPage* pages, uint8_t* out, unsigned long long* first_damaged) {
  __shared__ BlockMemory memory;
  const SnappyPage page = pages[blockIdx.x];
  const uint8_t* source = bytes + page.begin;
  uint8_t* target = out + page.target;
  for (uint32_t i = threadIdx.x; i < page.plain; i += block_threads) target[i] = source[i];
  if (page.plain == page.bytes && page.plain == page.size) return;
  BlockDecoder decoder(source + page.plain, page.bytes - page.plain, target + page.plain, page.size - page.plain, memory);
  if (!decoder.run() && threadIdx.x == 0) atomicMax(first_damaged, ~static_cast<unsigned long long>(page.page));
}

}  // namespace

cudaError_t decompress_snappy(const uint8_t* bytes, const SnappyPage* pages, int64_t page_count, uint8_t* out,
                              unsigned long long* first_damaged, cudaStream_t stream) {
  if (page_count == 0) return cudaSuccess;
  decompress_kernel<<<static_cast<unsigned>(page_count), block_threads, 0, stream>>>(bytes, pages, out, first_damaged);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
