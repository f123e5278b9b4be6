#include "expr/md5_digest.h"

#include <bit>
#include <cstring>

namespace pistachio {

namespace {

constexpr std::array<uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1,
    0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453,
    0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942,
    0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05,
    0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d,
    0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static_assert(std::endian::native == std::endian::little, "words are read in native byte order");

void add_block(std::array<uint32_t, 4>& state, const uint8_t* block) {
  uint32_t words[16];
  std::memcpy(words, block, sizeof(words));
  auto [a, b, c, d] = state;
  for (uint32_t i = 0; i < 64; ++i) {
    uint32_t mixed;
    uint32_t word;
    switch (i / 16) {
      case 0: mixed = (b & c) | (~b & d), word = i; break;
      case 1: mixed = (d & b) | (~d & c), word = (5 * i + 1) % 16; break;
      case 2: mixed = b ^ c ^ d, word = (3 * i + 5) % 16; break;
      default: mixed = c ^ (b | ~d), word = 7 * i % 16; break;
    }
    uint32_t sum = a + mixed + kSines[i] + words[word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kShifts[i / 16][i % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

void Md5Digest::add(std::string_view block) {
  const uint8_t* at = reinterpret_cast<const uint8_t*>(block.data());
  for (size_t i = 0; i + 64 <= block.size(); i += 64) add_block(state_, at + i);
  bytes_ += block.size();
}

std::array<uint8_t, 16> Md5Digest::finish(std::string_view rest) {
  add(rest.substr(0, rest.size() / 64 * 64));
  rest.remove_prefix(rest.size() / 64 * 64);
  size_t left = rest.size();
  // Padding of the last block or two: a one bit, zeros, and the length in bits.
  uint8_t tail[128] = {};
  if (left > 0) std::memcpy(tail, rest.data(), left);
  tail[left] = 0x80;
  size_t tail_size = left < 56 ? 64 : 128;
  uint64_t bits = (bytes_ + left) * 8;
  std::memcpy(tail + tail_size - 8, &bits, 8);
  for (size_t i = 0; i < tail_size; i += 64) add_block(state_, tail + i);
  std::array<uint8_t, 16> digest;
  std::memcpy(digest.data(), state_.data(), digest.size());
  return digest;
}

}  // namespace pistachio
