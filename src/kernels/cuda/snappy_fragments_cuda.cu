// Two kernels. The first computes for every tile of the input, independently, where a chain of tags that enters at each of its first bytes
// would leave it. The second follows the chain of each page from tile to tile by these results, with one load per tile, and records the tag
// before each fragment.
#include "kernels/cuda/page_tile.cuh"
#include "kernels/cuda/snappy_element.cuh"
#include "kernels/cuda/snappy_fragments_cuda.h"
#include "kernels/cuda/snappy_row_exit.cuh"
#include "kernels/cuda/snappy_tags.cuh"

namespace pistachio::kernels::cuda {

namespace {

constexpr uint32_t block_threads = 512;
constexpr uint32_t warp_threads = 32;
constexpr uint32_t thread_bytes = kSnappyTileBytes / block_threads;
constexpr uint32_t merging_bytes = 512;
constexpr uint32_t nowhere = 0xffffffff;

using Tile = PageTile<(kSnappyTileBytes + 5 + 16 + 15) / 16 * 16>;

__device__ const uint8_t* block_of(const uint8_t* bytes, const SnappyPage& page) {
  return bytes + page.begin + page.plain;
}

// The element at `place` of the tile, which is at `position` of the block: where the next one is, and how many bytes it yields.
__device__ SnappyHop step(const Tile& tile, uint32_t place, uint32_t position, uint32_t in_size) {
  if (position >= in_size) return {nowhere, 0};
  const SnappyElement element = parse_snappy(tile, place);
  if (!element.is_long) return {position + element.input_bytes(), element.length};
  const uint32_t length_bytes = element.length - 60;
  const uint32_t last = long_literal_last(tile, place, length_bytes);
  if (last >= in_size) return {nowhere, 0};
  return {position + 1 + length_bytes + last + 1, last + 1};
}

struct IndexMemory {
  Tile tile;
  SnappyTags tags;
  SnappyRowExit exits[kSnappyTileBytes];  // out of the section, if in its first row
  uint32_t common;                        // where the chain of the first entry is after a few sections
  SnappyHop rest;                         // of the tile, from there
};

// Each thread holds one byte of each of its warp's 32-byte rows. Pointer doubling inside the rows, then from the first row of a section to
// the second.
__device__ void find_exits(IndexMemory& memory, uint32_t origin, uint32_t left) {
  const uint32_t lane = threadIdx.x % warp_threads, warp_begin = threadIdx.x / warp_threads * (warp_threads * thread_bytes);
  SnappyRowExit exits[thread_bytes];
#pragma unroll
  for (uint32_t row = 0; row < thread_bytes; ++row) {
    const uint32_t place = warp_begin + row * warp_threads + lane;
    const SnappyRowExit element = memory.tags.exit_of(memory.tile.byte(origin + place));
    exits[row] = element.made() == 0 || place >= left ? SnappyRowExit::end(lane) : SnappyRowExit{element.packed + lane};
  }
#pragma unroll
  for (uint32_t round = 0; round < SnappyRowExit::doubling_rounds; ++round) {
#pragma unroll
    for (uint32_t row = 0; row < thread_bytes; ++row) exits[row].follow_in_row();
  }
#pragma unroll
  for (uint32_t row = 0; row < thread_bytes; row += 2) {
    const uint32_t next = exits[row].next(), later = __shfl_sync(~0u, exits[row + 1].packed, next % warp_threads);
    if (next / warp_threads == 1) exits[row].follow(later, warp_threads);
  }
#pragma unroll
  for (uint32_t row = 0; row < thread_bytes; ++row) memory.exits[warp_begin + row * warp_threads + lane] = exits[row];
}

// Follows a chain until it leaves the part of the tile before `end`, section by section.
__device__ SnappyHop follow_sections(const IndexMemory& memory, SnappyHop hop, uint32_t begin, uint32_t end, uint32_t origin,
                                     uint32_t in_size) {
  while (hop.position < end) {
    const uint32_t place = hop.position - begin;
    const SnappyRowExit exit = memory.exits[place];
    const uint32_t next = place / warp_threads * warp_threads + exit.next();
    if (next != place) {
      hop = {begin + next, hop.made + exit.made()};
    } else {
      const SnappyHop literal = step(memory.tile, origin + place, hop.position, in_size);
      hop = {literal.position, hop.made + literal.made};
    }
  }
  return hop;
}

__global__ void __launch_bounds__(block_threads)
    index_tiles_kernel(const uint8_t* bytes, const SnappyPage* pages, const SnappyTile* tiles, SnappyHop* hops) {
  __shared__ IndexMemory memory;
  const SnappyTile tile = tiles[blockIdx.x];
  const SnappyPage page = pages[tile.page];
  const uint32_t in_size = page.bytes - page.plain, begin = tile.number * kSnappyTileBytes;
  const TileWindow window = memory.tile.load(block_of(bytes, page), in_size, begin);
  const uint32_t origin = static_cast<uint32_t>(begin - window.origin);
  memory.tags.fill();
  __syncthreads();
  find_exits(memory, origin, in_size - begin);
  __syncthreads();
  const uint32_t end = min(begin + kSnappyTileBytes, in_size), merging_end = min(begin + merging_bytes, end);
  const bool is_entry = threadIdx.x < kSnappyTileEntries;
  SnappyHop hop{begin + threadIdx.x, 0};
  if (is_entry) hop = follow_sections(memory, hop, begin, merging_end, origin, in_size);
  if (threadIdx.x == 0) memory.common = hop.position;
  __syncthreads();
  // The chains nearly always merge after a few elements. Then one thread follows the rest for all.
  if (__syncthreads_and(!is_entry || hop.position == memory.common)) {
    if (threadIdx.x == 0) memory.rest = follow_sections(memory, {hop.position, 0}, begin, end, origin, in_size);
    __syncthreads();
    hop = {memory.rest.position, hop.made + memory.rest.made};
  } else if (is_entry) {
    hop = follow_sections(memory, hop, begin, end, origin, in_size);
  }
  if (is_entry) hops[static_cast<int64_t>(blockIdx.x) * kSnappyTileEntries + threadIdx.x] = hop;
}

// Past the size in front of the tags; nowhere if it is malformed.
__device__ uint32_t first_tag(const uint8_t* in, uint32_t in_size) {
  for (uint32_t byte = 0; byte < 5 && byte < in_size; ++byte) {
    if (in[byte] < 128) return byte + 1;
  }
  return nowhere;
}

// Follows the tags from `position` to the end of its tile one by one, for a chain that enters the tile behind the entries that were
// indexed: after a long literal. Called by the whole warp.
__device__ SnappyHop walk_tile(Tile& tile, const uint8_t* in, uint32_t in_size, uint32_t position) {
  const uint32_t begin = position / kSnappyTileBytes * kSnappyTileBytes, end = min(begin + kSnappyTileBytes, in_size);
  __syncwarp();
  const TileWindow window = tile.load(in, in_size, begin);
  __syncwarp();
  SnappyHop hop{position, 0};
  while (hop.position < end) {
    const SnappyHop next = step(tile, static_cast<uint32_t>(hop.position - window.origin), hop.position, in_size);
    hop = {next.position, hop.made + next.made};
  }
  return hop;
}

// One warp per page: nearly everything is the same in all its threads, but they load tiles together.
__global__ void __launch_bounds__(warp_threads)
    chain_tiles_kernel(const uint8_t* bytes, const SnappyPage* pages, const SnappyHop* hops, SnappyStart* starts, uint32_t* redo) {
  __shared__ Tile walked;
  const SnappyPage page = pages[blockIdx.x];
  const uint32_t out_size = page.size - page.plain, in_size = page.bytes - page.plain;
  if (threadIdx.x == 0) starts[page.first_fragment] = {0, 0};
  if (out_size <= kSnappyFragmentBytes) return;
  const uint32_t fragments = (out_size - 1) / kSnappyFragmentBytes + 1;
  const uint8_t* const in = block_of(bytes, page);
  SnappyStart here{first_tag(in, in_size), 0};
  uint32_t next_fragment = 1;
  while (next_fragment < fragments) {
    if (here.position >= in_size) {  // also if nowhere
      if (threadIdx.x == 0) redo[blockIdx.x] = 1;
      return;
    }
    const uint32_t tile = here.position / kSnappyTileBytes, entry = here.position % kSnappyTileBytes;
    const SnappyHop hop = entry < kSnappyTileEntries ? hops[static_cast<int64_t>(page.first_tile + tile) * kSnappyTileEntries + entry]
                                                     : walk_tile(walked, in, in_size, here.position);
    const uint32_t made = here.made + hop.made;
    for (; next_fragment < fragments && made > next_fragment * kSnappyFragmentBytes; ++next_fragment) {
      if (threadIdx.x == 0) starts[page.first_fragment + next_fragment] = here;
    }
    here = {hop.position, made};
  }
}

}  // namespace

cudaError_t find_snappy_fragments(const uint8_t* bytes, const SnappyPage* pages, int64_t page_count, const SnappyTile* tiles,
                                  int64_t tile_count, SnappyHop* hops, SnappyStart* starts, uint32_t* redo, cudaStream_t stream) {
  if (page_count == 0) return cudaSuccess;
  if (tile_count > 0) index_tiles_kernel<<<static_cast<unsigned>(tile_count), block_threads, 0, stream>>>(bytes, pages, tiles, hops);
  chain_tiles_kernel<<<static_cast<unsigned>(page_count), warp_threads, 0, stream>>>(bytes, pages, hops, starts, redo);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
