// A window of a page's bytes in shared memory. Headers of Parquet's encodings form a chain (each determines the position of the next), and
// a step along it takes some 30 cycles in shared memory instead of hundreds in global memory. One thread follows the chain inside the
// window, then the whole block decodes what it found. Never reads outside the page.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cuda {

// The bytes of the page that the tile holds: [origin, limit), relative to the start of the page. The origin is negative if the first
// aligned 16 bytes start before the page; bytes before 0 are undefined.
struct TileWindow {
  int64_t origin = 0;
  int64_t limit = 0;
};

template <int kBytes>
class PageTile {
  static_assert(kBytes % 16 == 0);

 public:
  // Called by all threads of the block with the same arguments, 0 <= from <= page_bytes. The window then holds at least kBytes - 15 bytes
  // from `from`, or the rest of the page. The caller synchronizes before and after.
  __device__ TileWindow load(const uint8_t* page, int64_t page_bytes, int64_t from) {
    return load(page, page_bytes, from, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
  }
  // The same by `threads` threads, of which the caller is number `thread`.
  __device__ TileWindow load(const uint8_t* page, int64_t page_bytes, int64_t from, int thread, int threads) {
    const int64_t origin = from - static_cast<int64_t>(reinterpret_cast<uintptr_t>(page + from) & 15);
    uint8_t* bytes = reinterpret_cast<uint8_t*>(words_);
    for (int unit = thread; unit < kBytes / 16; unit += threads) {
      const int64_t first = origin + unit * 16;
      if (first >= page_bytes) break;
      if (first >= 0 && first + 16 <= page_bytes) {
        reinterpret_cast<uint4*>(words_)[unit] = *reinterpret_cast<const uint4*>(page + first);
      } else {
        for (int byte = 0; byte < 16; ++byte) {
          const int64_t position = first + byte;
          if (position >= 0 && position < page_bytes) bytes[unit * 16 + byte] = page[position];
        }
      }
    }
    return {origin, page_bytes < origin + kBytes ? page_bytes : origin + kBytes};
  }

  // The byte at `place` bytes from the window's origin.
  __device__ uint8_t byte(int64_t place) const { return reinterpret_cast<const uint8_t*>(words_)[place]; }

  // 32 bits starting at bit `bit` of the window, lowest first; bits past the window's limit are undefined.
  __device__ uint32_t bits32(uint32_t bit) const {
    const uint32_t word = bit >> 5;
    return __funnelshift_r(words_[word], words_[word + 1], bit & 31);
  }

  __device__ uint64_t bits64(uint32_t bit) const { return static_cast<uint64_t>(bits32(bit + 32)) << 32 | bits32(bit); }

 private:
  alignas(16) uint32_t words_[kBytes / 4 + 4];  // bits64 of the last byte reads two more words
};

enum class NumberState : uint8_t { Whole, CutShort, TooLong };

// Reads an LEB128 number at `position` of the page and advances `position` past it. The window must hold at least ten bytes from there, or
// the rest of the page.
template <int kBytes>
__device__ NumberState read_number(const PageTile<kBytes>& tile, const TileWindow& window, int64_t& position, uint64_t& number) {
  number = 0;
  for (int shift = 0; shift <= 63; shift += 7) {
    if (position >= window.limit) return NumberState::CutShort;
    const uint64_t byte = tile.byte(position - window.origin);
    ++position;
    if (shift == 63 && (byte & 127) > 1) return NumberState::TooLong;
    number |= (byte & 127) << shift;
    if (byte < 128) return NumberState::Whole;
  }
  return NumberState::TooLong;
}

}  // namespace pistachio::kernels::cuda
