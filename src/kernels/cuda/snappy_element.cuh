// The elements of a Snappy block: literals and copies.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cuda {

struct SnappyElement {
  uint32_t header;  // bytes of the input before a literal's bytes
  uint32_t length;  // bytes that it yields
  uint32_t offset;  // of a copy
  bool is_literal;
  bool is_long;  // a literal whose length follows the tag: `length` is 60 plus the number of bytes that hold it

  __device__ uint32_t input_bytes() const { return header + (is_literal ? length : 0); }
};

// The element whose tag is at `place` of a PageTile; `word` is the tag and the three bytes behind it.
template <typename Tile>
__device__ SnappyElement parse_snappy(const Tile& tile, uint32_t place, uint32_t word) {
  const uint32_t kind = word & 3;
  const uint32_t length = (word >> 2 & 63) + 1;
  switch (kind) {
    case 0: return {1, length, 0, true, length > 60};
    case 1: return {2, 4 + (word >> 2 & 7), (word >> 5 & 7) << 8 | (word >> 8 & 255), false, false};
    case 2: return {3, length, word >> 8 & 0xffff, false, false};
    default: return {5, length, tile.bits32((place + 1) * 8), false, false};
  }
}

template <typename Tile>
__device__ SnappyElement parse_snappy(const Tile& tile, uint32_t place) {
  return parse_snappy(tile, place, tile.bits32(place * 8));
}

// The length of the long literal whose tag is at `place`, less one.
template <typename Tile>
__device__ uint32_t long_literal_last(const Tile& tile, uint32_t place, uint32_t length_bytes) {
  const uint32_t bits = tile.bits32((place + 1) * 8);
  return length_bytes == 4 ? bits : bits & ((1u << (8 * length_bytes)) - 1);
}

}  // namespace pistachio::kernels::cuda
