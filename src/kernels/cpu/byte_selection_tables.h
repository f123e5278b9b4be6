// For each of the 256 selections of 8 bytes: the byte shuffle that moves the selected ones to the front (compress), and the one that moves
// the first ones to the selected places (expand). 0x80 makes a byte zero.
#pragma once

#include <array>
#include <cstdint>

namespace pistachio::kernels::cpu {

using ByteShuffles = std::array<std::array<uint8_t, 8>, 256>;

constexpr ByteShuffles make_byte_shuffles(bool expands) {
  ByteShuffles shuffles{};
  for (unsigned bits = 0; bits < 256; ++bits) {
    shuffles[bits].fill(0x80);
    uint8_t selected = 0;
    for (uint8_t place = 0; place < 8; ++place) {
      if ((bits >> place & 1) == 0) continue;
      if (expands) {
        shuffles[bits][place] = selected;
      } else {
        shuffles[bits][selected] = place;
      }
      ++selected;
    }
  }
  return shuffles;
}

alignas(64) inline constexpr ByteShuffles kCompressShuffles = make_byte_shuffles(false);
alignas(64) inline constexpr ByteShuffles kExpandShuffles = make_byte_shuffles(true);

// The number of ones in the first 1, 2, ... 8 bytes of a word, a byte each.
constexpr uint64_t ones_up_to_byte(uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555;
  word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return word * 0x0101010101010101;
}

}  // namespace pistachio::kernels::cpu
