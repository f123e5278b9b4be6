// PLAIN text on the GPU. Each length determines the position of the next, so a page is a chain. It is cut into pieces in three steps:
//   1. For each tile of a page and each byte where the chain might enter it: how many values begin in the tile, and where the last one
//      does. For all bytes of a tile at once, by pointer doubling, although the chain enters at one of them only. Chains from most bytes
//      break off at once, since what would be a length there is too large; only the others are followed.
//   2. One thread per page hops from tile to tile along the real chain. Now every tile's entry and output row are known.
//   3. One block per tile lists the values of its piece of the chain and writes them.
#include "kernels/cuda/page_tile.cuh"
#include "kernels/cuda/plain_text_decode_cuda.h"
#include "kernels/cuda/scratch_memory.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int64_t length_bytes = 4;
constexpr int tile_bytes = static_cast<int>(text_tile_bytes);

// The bytes of a tile and the three after it, with room for those before the first aligned byte.
using Tile = PageTile<tile_bytes + 32>;

// From an entry of a tile along the chain: the last value that begins in the tile, and the number of values before that one.
class ChainPart {
 public:
  __device__ ChainPart(uint32_t last, uint32_t before) : word_(before << 16 | last) {}
  __device__ uint32_t last() const { return word_ & 0xffff; }
  __device__ uint32_t before() const { return word_ >> 16; }
  __device__ bool operator!=(const ChainPart& other) const { return word_ != other.word_; }
  // This part, then the one that starts at its last value.
  __device__ ChainPart then(const ChainPart& next) const { return {next.last(), before() + next.before()}; }

 private:
  uint32_t word_;
};
static_assert(tile_bytes <= 0x10000);

// A piece of a page's chain. No values: nothing to do.
struct TextPiece {
  int64_t page;
  int64_t position;  // in the page, of its first value
  int64_t skip;
  int64_t take;
  int64_t target;
};

constexpr int entry_threads = 256;
constexpr int entries_per_thread = tile_bytes / entry_threads;

__device__ const TextPage& page_of_tile(const TextPages& pages, int64_t tile) {
  int64_t low = pages.first, high = pages.first + pages.count - 1;  // the last page whose first tile is not after this one
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (pages.table[middle].first_tile <= tile) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return pages.table[low];
}

// Appends `entry` to a list in shared memory; called by whole warps.
__device__ void append_if(bool is_wanted, uint32_t entry, uint16_t* list, uint32_t& count) {
  const uint32_t lane = threadIdx.x % 32, wanted = __ballot_sync(~0u, is_wanted);
  uint32_t first = 0;
  if (lane == 0 && wanted != 0) first = atomicAdd(&count, static_cast<uint32_t>(__popc(wanted)));
  first = __shfl_sync(~0u, first, 0);
  if (is_wanted) list[first + __popc(wanted & ((1u << lane) - 1))] = static_cast<uint16_t>(entry);
}

__global__ void __launch_bounds__(entry_threads)
    follow_entries_kernel(const uint8_t* __restrict__ bytes, const TextPages pages, ChainPart* __restrict__ parts) {
  __shared__ Tile tile;
  __shared__ uint32_t words[tile_bytes];
  __shared__ uint16_t followed[tile_bytes];  // entries
  __shared__ uint32_t followed_count;
  ChainPart* const shared = reinterpret_cast<ChainPart*>(words);
  if (threadIdx.x == 0) followed_count = 0;
  const TextPage page = page_of_tile(pages, blockIdx.x);
  const int64_t tile_begin = (blockIdx.x - page.first_tile) * text_tile_bytes;
  const int64_t page_bytes = page.end - page.begin;
  const TileWindow window = tile.load(bytes + page.begin, page_bytes, tile_begin);
  __syncthreads();
  for (int i = 0; i < entries_per_thread; ++i) {
    const uint32_t entry = threadIdx.x + i * entry_threads;
    const int64_t position = tile_begin + entry;
    // A chain that leaves the tile or breaks off ends at its last value here.
    ChainPart part(entry, 0);
    if (position + length_bytes <= page_bytes) {
      const uint32_t length = tile.bits32(static_cast<uint32_t>(position - window.origin) * 8);
      const uint64_t next = entry + static_cast<uint64_t>(length_bytes) + length;
      if (next < tile_bytes && tile_begin + static_cast<int64_t>(next) < page_bytes) part = ChainPart(static_cast<uint32_t>(next), 1);
    }
    shared[entry] = part;
    append_if(part.before() > 0, entry, followed, followed_count);
  }
  __syncthreads();
  const uint32_t count = followed_count;
  bool changed = true;
  while (changed) {
    uint32_t doubled[entries_per_thread];
    changed = false;
#pragma unroll
    for (int i = 0; i < entries_per_thread; ++i) {
      const uint32_t place = threadIdx.x + i * entry_threads;
      if (place >= count) break;
      const ChainPart part = shared[followed[place]];
      const ChainPart longer = part.then(shared[part.last()]);
      changed = changed || longer != part;
      doubled[i] = longer.before() << 16 | longer.last();
    }
    changed = __syncthreads_or(changed);
#pragma unroll
    for (int i = 0; i < entries_per_thread; ++i) {
      const uint32_t place = threadIdx.x + i * entry_threads;
      if (place >= count) break;
      words[followed[place]] = doubled[i];
    }
    __syncthreads();
  }
  ChainPart* const out = parts + static_cast<int64_t>(blockIdx.x) * tile_bytes;
  for (int i = 0; i < entries_per_thread; ++i) out[threadIdx.x + i * entry_threads] = shared[threadIdx.x + i * entry_threads];
}

// A page has one piece per tile and one more, for the part of a damaged chain beyond the end of the page. Those that are not written here
// are all zero: they have no values.
__global__ void cut_pages_kernel(const uint8_t* __restrict__ bytes, const TextPages pages, const ChainPart* __restrict__ parts,
                                 TextPiece* __restrict__ pieces) {
  const int64_t place = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (place >= pages.count) return;
  const int64_t index = pages.first + place;
  const TextPage page = pages.table[index];
  TextPiece* const own = pieces + page.first_tile + place;
  if (page.tiles == 0) {
    own[0] = TextPiece{index, 0, page.skip, page.take, page.target};
    return;
  }
  const uint8_t* const page_begin = bytes + page.begin;
  const int64_t page_bytes = page.end - page.begin;
  int64_t position = 0;
  int64_t skip = page.skip, left = page.skip + page.take, target = page.target;
  while (left > 0) {
    if (position >= page_bytes) {
      own[page.tiles] = TextPiece{index, position, 0, 1, target};
      return;
    }
    const int64_t tile = position / text_tile_bytes;
    const ChainPart part = parts[page.first_tile * text_tile_bytes + position];
    const int64_t values = min(left, static_cast<int64_t>(part.before()) + 1);
    const int64_t skipped = min(skip, values);
    own[tile] = TextPiece{index, position, skipped, values - skipped, target};
    skip -= skipped;
    target += values - skipped;
    left -= values;
    const int64_t last = tile * text_tile_bytes + part.last();
    // The piece with a broken value reports it.
    if (left == 0 || page_bytes - last < length_bytes) return;
    uint32_t length = 0;
    for (int byte = 0; byte < length_bytes; ++byte) length |= static_cast<uint32_t>(page_begin[last + byte]) << (byte * 8);
    if (static_cast<int64_t>(length) > page_bytes - last - length_bytes) return;
    position = last + length_bytes + length;
  }
}

// Small blocks: following the chain of one piece is slow, so many must be in flight.
constexpr int list_threads = 64;
constexpr int max_values = 256;  // per batch
constexpr int64_t nothing_to_load = -1;

// Values to write, in shared memory. Written by thread 0, read by all threads.
struct Batch {
  uint32_t begin[max_values];  // relative to the window's origin
  uint32_t length[max_values];
  int values;
  int64_t load_at;  // offset in the page of the next tile to load, or nothing_to_load
  bool done;
};

// Walks the lengths of one piece. Used by thread 0 only.
class TextWalker {
 public:
  __device__ TextWalker(const TextPage& page, const TextPiece& piece, FailureWord failure)
      : failure_(failure),
        page_(piece.page),
        page_bytes_(page.end - page.begin),
        skip_(piece.skip),
        take_(piece.take),
        position_(piece.position) {}

  // Lists values until the batch is full, the tile is exhausted or the piece is complete.
  __device__ void fill(const Tile& tile, const TileWindow& window, Batch& batch) {
    int values = 0;
    batch.load_at = nothing_to_load;
    bool failed = false;
    while (skip_ + take_ > 0 && values < max_values) {
      if (page_bytes_ - position_ < length_bytes) {
        failure_.report(DecodeProblem::EndsEarly, page_, position_);
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
        failure_.report(DecodeProblem::TextCrossesEnd, page_, begin);
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
  int64_t page_;
  int64_t page_bytes_;
  int64_t skip_, take_;  // values still to skip, then to list
  int64_t position_;
};

__global__ void __launch_bounds__(list_threads)
    list_values_kernel(const uint8_t* __restrict__ bytes, const TextPages pages, const TextPiece* __restrict__ pieces,
                       int64_t* __restrict__ begins, int64_t* __restrict__ ends, FailureWord failure) {
  __shared__ Tile tile;
  __shared__ Batch batch;
  const TextPiece piece = pieces[blockIdx.x];
  if (piece.skip + piece.take == 0) return;
  const TextPage page = pages.table[piece.page];
  const int64_t page_bytes = page.end - page.begin;
  TextWalker walker(page, piece, failure);
  TileWindow window;
  if (piece.position < page_bytes) window = tile.load(bytes + page.begin, page_bytes, piece.position);
  __syncthreads();
  int64_t target = piece.target;
  while (true) {
    if (threadIdx.x == 0) walker.fill(tile, window, batch);
    __syncthreads();
    const int values = batch.values;
    for (int i = static_cast<int>(threadIdx.x); i < values; i += list_threads) {
      const int64_t begin = page.begin + window.origin + batch.begin[i];
      begins[target + i] = begin;
      ends[target + i] = begin + batch.length[i];
    }
    target += values;
    const bool last = batch.done;
    const int64_t load_at = batch.load_at;
    if (last) break;
    __syncthreads();  // the batch and the tile have been read
    if (load_at != nothing_to_load) window = tile.load(bytes + page.begin, page_bytes, load_at);
    __syncthreads();
  }
}

}  // namespace

cudaError_t find_text(const uint8_t* bytes, const TextPages& pages, int64_t* begins, int64_t* ends, FailureWord failure,
                      cudaStream_t stream) {
  if (pages.count == 0) return cudaSuccess;
  ScratchMemory scratch;
  auto* parts = static_cast<ChainPart*>(scratch.take_bytes(static_cast<size_t>(pages.tiles * text_tile_bytes) * sizeof(ChainPart)));
  auto* pieces = scratch.take<TextPiece>(pages.tiles + pages.count);
  if (pages.tiles > 0) follow_entries_kernel<<<static_cast<unsigned>(pages.tiles), entry_threads, 0, stream>>>(bytes, pages, parts);
  cudaMemsetAsync(pieces, 0, static_cast<size_t>(pages.tiles + pages.count) * sizeof(TextPiece), stream);
  constexpr int cut_threads = 32;
  const int64_t cut_blocks = (pages.count + cut_threads - 1) / cut_threads;
  cut_pages_kernel<<<static_cast<unsigned>(cut_blocks), cut_threads, 0, stream>>>(bytes, pages, parts, pieces);
  list_values_kernel<<<static_cast<unsigned>(pages.tiles + pages.count), list_threads, 0, stream>>>(bytes, pages, pieces, begins, ends,
                                                                                                    failure);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
