// Snappy on the GPU: one warp per fragment of a page. A page whose fragments turn out to depend on each other, or that is damaged, is
// decompressed again as a whole by one warp. Both chains of the format are followed in parallel: 1. From tag to tag in the input, in rows
// of 32 bytes, four at a time. Every thread reads its byte as if it were a tag, which gives the place of the next one; pointer doubling by
// shuffles tells which bytes are tags, and what the elements before each of them yield. 2. From a copy to the bytes that it repeats. The
// output is made in windows of a word per thread: each thread finds the elements of its four bytes and takes these from the input or from
// earlier output. Bytes that repeat others of the same window follow pointers by shuffles. Long literals are copied by themselves. Warps
// share nothing but a table, so that nothing waits for a block. nvCOMP is no alternative: its behaviour on damaged blocks is undefined.
#include "kernels/cuda/copy_bytes.cuh"
#include "kernels/cuda/page_tile.cuh"
#include "kernels/cuda/snappy_decompress_cuda.h"
#include "kernels/cuda/snappy_element.cuh"
#include "kernels/cuda/snappy_fragments_cuda.h"
#include "kernels/cuda/snappy_row_exit.cuh"
#include "kernels/cuda/snappy_tags.cuh"

namespace pistachio::kernels::cuda {

namespace {

constexpr uint32_t warp_threads = 32;
constexpr uint32_t whole_warp = ~0u;
constexpr uint32_t block_warps = 4;
constexpr uint32_t block_threads = block_warps * warp_threads;
constexpr uint32_t blocks_per_processor = 8;
constexpr uint32_t word_bytes = 4;
constexpr uint32_t window_bytes = warp_threads * word_bytes;  // of the output, aligned to as many
constexpr uint32_t window_words = window_bytes / 32;          // a bit per byte
constexpr uint32_t step_rows = 4;                             // of the input, at a time
constexpr uint32_t step_bytes = step_rows * warp_threads;
// Elements are listed until they fill a window. Before a step, less than one is pending. A copy takes two bytes at least and yields 64 at
// most; literals yield less than they take, but the last one may reach beyond the step. An element yields a byte at least.
constexpr uint32_t pending_windows = 64;
constexpr uint32_t pending_elements = 256;
constexpr uint32_t longest_listed_literal = 224;  // longer ones are copied by themselves
constexpr uint32_t byte_length_tag = 60 << 2;     // a literal whose length less one is the byte behind the tag
constexpr uint32_t step_input = step_bytes + 5;   // bytes that a step looks at: tags and what belongs to them
constexpr uint32_t literal_mark = 1u << 31;

static_assert(window_bytes + (step_bytes / 2 - 1) * 64 + longest_listed_literal <= (pending_windows - 1) * window_bytes);
static_assert(window_bytes + step_bytes / 2 + 1 <= pending_elements);

using Tile = PageTile<1024>;

// The chain of tags from a thread's byte of a row to the last one in the row, and the bytes that the elements before that one yield. Packed
// into one register, so that one shuffle moves it.
struct RowPath {
  uint32_t packed;

  // To the next tag; to the byte itself if that is the last one.
  __device__ static RowPath first(SnappyRowExit element) {
    const uint32_t lane = threadIdx.x % warp_threads, next = lane + element.next();
    return {next < warp_threads ? next | element.made() << 5 : lane};
  }

  __device__ uint32_t end() const { return packed % warp_threads; }
  __device__ uint32_t made() const { return packed >> 5; }

  // The value of the thread at the end of the path. Called by the whole warp. Shuffles take the number of a thread modulo the warp's size.
  __device__ uint32_t at_end(uint32_t value) const { return __shfl_sync(whole_warp, value, static_cast<int>(packed)); }
  // Doubles the path, unless it leads to the last tag already.
  __device__ void follow() { packed = (packed & ~(warp_threads - 1)) + at_end(packed); }
};

struct WarpMemory {
  Tile tile;
  alignas(16) uint32_t starts[pending_windows * window_words];  // a bit per byte of the output, modulo the size: an element starts here
  // By element, modulo the size: where its bytes come from. A copy: its offset. A literal: literal_mark and the place of its bytes in the
  // input less that in the output.
  uint32_t sources[pending_elements];
};

struct BlockMemory {
  SnappyTags tags;
  WarpMemory warps[block_warps];
};

// A block of compressed bytes, and the part of its output that one warp makes.
struct Task {
  const uint8_t* in;
  uint32_t in_size;
  uint8_t* out;
  uint32_t out_size;
  uint32_t begin, end;  // of the output
};

__device__ uint32_t lane_number() {
  return threadIdx.x % warp_threads;
}

__device__ uint8_t byte_of(uint32_t word, uint32_t number) {
  return static_cast<uint8_t>(word >> (8 * number));
}

// Positions in the output count from the 128-byte boundary before it, so that windows are aligned in memory.
class WarpDecoder {
 public:
  __device__ WarpDecoder(const Task& task, const SnappyTags& tags, WarpMemory& memory)
      : memory_(memory),
        tags_(tags),
        in_(task.in),
        in_size_(task.in_size),
        base_(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(task.out) % window_bytes)),
        out_(task.out - base_),
        out_end_(base_ + task.out_size),
        begin_(base_ + task.begin),
        end_(base_ + task.end),
        window_(begin_ / window_bytes * window_bytes),
        written_(begin_) {}

  // `start` is a tag at or before the task's output, or the beginning of the block. False if the block is malformed, has another size, or
  // an element of the output reaches beyond it. Called by the whole warp; the same in all threads.
  __device__ bool run(SnappyStart start) {
    position_ = start.position;
    made_ = base_ + start.made;
    for (uint32_t word = lane_number(); word < pending_windows * window_words; word += warp_threads) memory_.starts[word] = 0;
    if (position_ == 0 && !read_size()) return false;
    while (is_unfinished()) {
      hold_rows();
      const Step step = list_rows();
      if (step == Step::Damaged) return false;
      const bool is_last = step == Step::LongLiteral || !is_unfinished();
      while (made_ >= window_ + window_bytes || (is_last && written_ < made_)) write_window();
      if (step == Step::LongLiteral && !copy_long_literal()) return false;
    }
    return made_ == end_ && (made_ < out_end_ || position_ == in_size_);
  }

 private:
  enum class Step : uint8_t { Listed, LongLiteral, Damaged };

  __device__ bool is_unfinished() const { return position_ < in_size_ && made_ < end_; }

  __device__ bool read_size() {
    uint64_t size = 0;
    for (uint32_t byte = 0; byte < 5 && byte < in_size_; ++byte) {
      const uint32_t bits = in_[byte];
      size |= static_cast<uint64_t>(bits & 127) << (7 * byte);
      if (bits < 128) {
        position_ = byte + 1;
        return size == out_end_ - base_;
      }
    }
    return false;
  }

  // Has the rows from position_ on in the tile.
  __device__ void hold_rows() {
    if (position_ + step_input <= tile_end_ || tile_end_ == in_size_) return;
    __syncwarp();
    const TileWindow window = memory_.tile.load(in_, in_size_, position_, static_cast<int>(lane_number()), static_cast<int>(warp_threads));
    tile_origin_ = static_cast<int32_t>(window.origin);
    tile_end_ = static_cast<uint32_t>(window.limit);
    __syncwarp();
  }

  __device__ uint32_t place_of(uint32_t position) const { return position - static_cast<uint32_t>(tile_origin_); }

  // Lists the elements of the rows from the tag at position_ on.
  __device__ Step list_rows() {
    const uint32_t lane = lane_number(), left = in_size_ - position_, first = place_of(position_);
    uint32_t words[step_rows];          // the byte and those behind it
    SnappyRowExit elements[step_rows];  // if it is a tag; 0 where the chain ends
    RowPath paths[step_rows];
    uint32_t met[step_rows];  // the tags that the path meets, its last one included
#pragma unroll
    for (uint32_t row = 0; row < step_rows; ++row) {
      const uint32_t offset = row * warp_threads + lane;
      words[row] = memory_.tile.bits32((first + (offset < left ? offset : 0)) * 8);
      const SnappyRowExit element = element_of(words[row]);
      const bool ends_chain =
          element.made() == 0 || static_cast<int32_t>(element.next()) > static_cast<int32_t>(left) - static_cast<int32_t>(offset);
      elements[row] = {ends_chain ? 0 : element.packed};
      paths[row] = RowPath::first(elements[row]);
      met[row] = ends_chain ? 0 : 1u << lane;
    }
#pragma unroll
    for (uint32_t round = 0; round < SnappyRowExit::doubling_rounds; ++round) {
#pragma unroll
      for (uint32_t row = 0; row < step_rows; ++row) {
        met[row] |= paths[row].at_end(met[row]);
        paths[row].follow();
      }
    }
    uint32_t place = 0, made = 0;
    bool is_damaged = false;
#pragma unroll
    for (uint32_t row = 0; row < step_rows; ++row) {
      if (place / warp_threads != row) continue;  // an element reaches beyond the row, or the chain ended before it
      const uint32_t entry = place % warp_threads, chain = __shfl_sync(whole_warp, met[row], entry);
      const RowPath path{__shfl_sync(whole_warp, paths[row].packed, entry)};
      const SnappyRowExit last{path.at_end(elements[row].packed)};
      const uint32_t start = made_ + made + path.made() - paths[row].made();
      made += path.made() + last.made();
      place = row * warp_threads + path.end() + last.next();
      const bool is_made = (chain >> lane & 1) != 0 && start < end_, is_listed = is_made && start >= begin_;
      const uint32_t listed = __ballot_sync(whole_warp, is_listed);
      const uint32_t word = words[row], at = row * warp_threads + lane, offset = offset_of(word, first + (at < left ? at : 0));
      is_damaged |= is_made && reaches_beyond(start, elements[row].made(), offset, (word & 3) == 0);
      if (is_listed) {
        const uint32_t header = (word & 255) == byte_length_tag ? 2 : 1;
        const uint32_t source = (word & 3) == 0 ? literal_mark | (position_ + at + header - start) : offset;
        memory_.sources[(listed_ + __popc(listed & ((1u << lane) - 1))) % pending_elements] = source;
        atomicOr(&memory_.starts[start / 32 % (pending_windows * window_words)], 1u << (start % 32));
      }
      listed_ += static_cast<uint32_t>(__popc(listed));
    }
    if (__any_sync(whole_warp, is_damaged)) return Step::Damaged;
    if (place == 0) return Step::LongLiteral;
    position_ += place;
    made_ += made;
    if (made_ > end_) {
      if (end_ == out_end_) return Step::Damaged;
      made_ = end_;
    }
    return Step::Listed;
  }

  // `word`: a tag and the bytes behind it. Of length 0 if the element is a long literal.
  __device__ SnappyRowExit element_of(uint32_t word) const {
    const uint32_t tag = word & 255, length = (word >> 8 & 255) + 1;
    if (tag == byte_length_tag && length <= longest_listed_literal) return SnappyRowExit::after(0, {2, length, 0, true, false});
    return tags_.exit_of(tag);
  }

  __device__ uint32_t offset_of(uint32_t word, uint32_t place) const {
    const uint32_t kind = word & 3;
    if (kind == 3) return memory_.tile.bits32((place + 1) * 8);
    return kind == 1 ? (word & 0xe0) << 3 | (word >> 8 & 255) : word >> 8 & 0xffff;
  }

  __device__ bool reaches_beyond(uint32_t start, uint32_t length, uint32_t offset, bool is_literal) const {
    const uint32_t end = start + length;
    if (end > end_ || (start < begin_ && end > begin_)) return true;
    return !is_literal && (offset == 0 || offset > start - (start < begin_ ? base_ : begin_));
  }

  // Writes what is pending of the window.
  __device__ void write_window() {
    __syncwarp();
    const uint32_t lane = lane_number(), group = lane / (32 / word_bytes), shift = lane * word_bytes % 32;
    const uint32_t begin = window_ + lane * word_bytes, count = min(made_, window_ + window_bytes) - written_;
    const uint4 bits = reinterpret_cast<const uint4*>(memory_.starts)[window_ / window_bytes % pending_windows];
    const uint32_t first = static_cast<uint32_t>(__popc(bits.x)), second = first + static_cast<uint32_t>(__popc(bits.y)),
                   third = second + static_cast<uint32_t>(__popc(bits.z)), all = third + static_cast<uint32_t>(__popc(bits.w));
    const uint32_t own = group == 0 ? bits.x : group == 1 ? bits.y : group == 2 ? bits.z : bits.w;
    const uint32_t before = group == 0 ? 0 : group == 1 ? first : group == 2 ? second : third;
    // The element that reaches into the word from before it; then those that start in it.
    uint32_t element = window_element_ + before + static_cast<uint32_t>(__popc(own & ((1u << shift) - 1))) - 1;
    uint32_t source = memory_.sources[element % pending_elements];
    const uint32_t itself = lane * word_bytes * 0x01010101 + 0x03020100;
    uint32_t word = 0, repeated = itself;  // by byte: the byte of the window that has the value
#pragma unroll
    for (uint32_t byte = 0; byte < word_bytes; ++byte) {
      if (own >> (shift + byte) & 1) source = memory_.sources[++element % pending_elements];
      const uint32_t position = begin + byte;
      const bool is_literal = (source & literal_mark) != 0;
      const uint32_t from = is_literal ? (position + source) & ~literal_mark : position - source;
      if (position - written_ >= count) continue;
      if (is_literal || from < written_) {
        word |= static_cast<uint32_t>((is_literal ? in_ : out_)[from]) << (8 * byte);
      } else {
        repeated = __byte_perm(repeated, from - window_, byte == 0 ? 0x3214 : byte == 1 ? 0x3240 : byte == 2 ? 0x3410 : 0x4210);
      }
    }
    if (__any_sync(whole_warp, repeated != itself)) word = follow_repeats(word, repeated);
    store_word(begin, count, word);
    written_ += count;
    if (written_ == window_ + window_bytes) {
      __syncwarp();
      leave_window(window_ + window_bytes, window_element_ + all);
    }
    __syncwarp();
  }

  __device__ void leave_window(uint32_t next, uint32_t next_element) {
    if (lane_number() < window_words) memory_.starts[window_ / 32 % (pending_windows * window_words) + lane_number()] = 0;
    window_ = next;
    window_element_ = next_element;
  }

  // For each byte of the window: the byte of the `values` of all threads that its pointer of `places` leads to.
  __device__ static uint32_t look_up(uint32_t values, uint32_t places) {
    uint32_t found = 0;
#pragma unroll
    for (uint32_t byte = 0; byte < word_bytes; ++byte) {
      const uint32_t place = byte_of(places, byte), word = __shfl_sync(whole_warp, values, place / word_bytes);
      found |= static_cast<uint32_t>(byte_of(word, place % word_bytes)) << (8 * byte);
    }
    return found;
  }

  // Pointers lead to earlier bytes, in the end to one that repeats no other.
  __device__ static uint32_t follow_repeats(uint32_t word, uint32_t repeated) {
    while (true) {
      const uint32_t later = look_up(repeated, repeated);
      const bool is_unfinished = later != repeated;
      repeated = later;
      if (!__any_sync(whole_warp, is_unfinished)) break;
    }
    return look_up(word, repeated);
  }

  // The `count` bytes from written_ belong to the task, the others to its neighbours.
  __device__ void store_word(uint32_t begin, uint32_t count, uint32_t word) const {
    if (begin >= written_ && begin + word_bytes <= written_ + count) {
      *reinterpret_cast<uint32_t*>(out_ + begin) = word;
      return;
    }
    for (uint32_t byte = 0; byte < word_bytes; ++byte) {
      if (begin + byte - written_ < count) out_[begin + byte] = byte_of(word, byte);
    }
  }

  // The element at position_ is a long literal, or cut short; nothing is pending. Afterwards position_ is past it.
  __device__ bool copy_long_literal() {
    const SnappyElement element = parse_snappy(memory_.tile, place_of(position_));
    if (!element.is_long) return false;
    const uint32_t length_bytes = element.length - 60, left = in_size_ - position_;
    const uint32_t last = long_literal_last(memory_.tile, place_of(position_), length_bytes);
    if (left <= 1 + length_bytes || left - 1 - length_bytes <= last || end_ - made_ <= last) return false;
    if (made_ < begin_ && begin_ - made_ <= last) return false;
    position_ += 1 + length_bytes;
    if (made_ >= begin_) {
      copy_bytes(out_ + made_, in_ + position_, static_cast<int64_t>(last) + 1, static_cast<int>(lane_number()), warp_threads);
      written_ = made_ + last + 1;
      if (written_ / window_bytes * window_bytes != window_) leave_window(written_ / window_bytes * window_bytes, listed_);
      __syncwarp();
    }
    position_ += last + 1;
    made_ += last + 1;
    return true;
  }

  WarpMemory& memory_;
  const SnappyTags& tags_;
  const uint8_t* const in_;
  const uint32_t in_size_;
  const uint32_t base_;  // of the output
  uint8_t* const out_;
  const uint32_t out_end_;
  const uint32_t begin_, end_;  // of the task
  int32_t tile_origin_ = 0;
  uint32_t tile_end_ = 0;
  uint32_t position_ = 0;        // of the next tag
  uint32_t made_ = 0;            // the position that its output has
  uint32_t listed_ = 0;          // elements so far
  uint32_t window_;              // position of the window that is made next
  uint32_t window_element_ = 0;  // number of elements that start before it
  uint32_t written_;             // position of the output that is not written yet
};

__device__ Task task_of(const uint8_t* bytes, const SnappyPage& page, uint8_t* out) {
  const uint32_t size = page.size - page.plain;
  return {bytes + page.begin + page.plain, page.bytes - page.plain, out + page.target + page.plain, size, 0, size};
}

__global__ void __launch_bounds__(block_threads, blocks_per_processor)
    decompress_fragments_kernel(const uint8_t* bytes, const SnappyPage* pages, const SnappyFragment* fragments, int64_t fragment_count,
                                const SnappyStart* starts, uint32_t* redo, uint8_t* out) {
  __shared__ BlockMemory memory;
  memory.tags.fill();
  __syncthreads();
  const uint32_t warp = threadIdx.x / warp_threads;
  const int64_t index = static_cast<int64_t>(blockIdx.x) * block_warps + warp;
  if (index >= fragment_count) return;
  const SnappyFragment fragment = fragments[index];
  const SnappyPage page = pages[fragment.page];
  if (fragment.number == 0) copy_bytes(out + page.target, bytes + page.begin, page.plain, static_cast<int>(lane_number()), warp_threads);
  const bool is_plain = page.plain == page.bytes && page.plain == page.size;
  // Other warps may set it: one thread reads it for all.
  if (__any_sync(whole_warp, lane_number() == 0 && (is_plain || redo[fragment.page] != 0))) return;
  Task task = task_of(bytes, page, out);
  task.begin = fragment.number * kSnappyFragmentBytes;
  task.end = min(task.begin + kSnappyFragmentBytes, task.out_size);
  const SnappyStart start = starts[page.first_fragment + fragment.number];
  if (!WarpDecoder(task, memory.tags, memory.warps[warp]).run(start) && lane_number() == 0) redo[fragment.page] = 1;
}

__global__ void __launch_bounds__(block_threads, blocks_per_processor)
    decompress_pages_kernel(const uint8_t* bytes, const SnappyPage* pages, int64_t page_count, const uint32_t* redo, uint8_t* out,
                            unsigned long long* first_damaged) {
  __shared__ BlockMemory memory;
  const uint32_t warp = threadIdx.x / warp_threads;
  const int64_t index = static_cast<int64_t>(blockIdx.x) * block_warps + warp;
  const bool is_wanted = index < page_count && redo[index] != 0;
  if (!__syncthreads_or(is_wanted)) return;
  memory.tags.fill();
  __syncthreads();
  if (!is_wanted) return;
  const SnappyPage page = pages[index];
  const Task task = task_of(bytes, page, out);
  if (!WarpDecoder(task, memory.tags, memory.warps[warp]).run({0, 0}) && lane_number() == 0)
    atomicMax(first_damaged, ~static_cast<unsigned long long>(page.page));
}

unsigned blocks_of_warps(int64_t warps) {
  return static_cast<unsigned>((warps + block_warps - 1) / block_warps);
}

}  // namespace

cudaError_t decompress_snappy(const uint8_t* bytes, const SnappyBatch& batch, uint8_t* out, unsigned long long* first_damaged,
                              cudaStream_t stream) {
  if (batch.page_count == 0) return cudaSuccess;
  const cudaError_t found = find_snappy_fragments(bytes, batch.pages, batch.page_count, batch.tiles, batch.tile_count, batch.hops,
                                                  batch.starts, batch.redo, stream);
  if (found != cudaSuccess) return found;
  decompress_fragments_kernel<<<blocks_of_warps(batch.fragment_count), block_threads, 0, stream>>>(
      bytes, batch.pages, batch.fragments, batch.fragment_count, batch.starts, batch.redo, out);
  decompress_pages_kernel<<<blocks_of_warps(batch.page_count), block_threads, 0, stream>>>(bytes, batch.pages, batch.page_count, batch.redo,
                                                                                           out, first_damaged);
  return cudaGetLastError();
}

}  // namespace pistachio::kernels::cuda
