// A Bloom filter of hashes: tells of most that were not added that they were not. A hash has three bits in one word, so that a test costs
// one look at memory.
//   words   int64 [2^k], k >= 1, zeros to begin with: the word of a hash h is h >> (64 - k), its bits are h & 63, (h >> 6) & 63 and
//           (h >> 12) & 63. Filters of one size are united by bitwise or
//   hashes  int64 [n], as hash64 makes them
// key_filter_add sets the bits of all hashes. key_filter_test returns bool [n]: false for hashes that were not added, true for those that
// were and for a few others (below 1 % with four or fewer hashes a word).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

void key_filter_add(at::Tensor& words, const at::Tensor& hashes);
at::Tensor key_filter_test(const at::Tensor& words, const at::Tensor& hashes);
// How many words are good for so many hashes, between 2 and 2^18.
int64_t key_filter_words(int64_t hashes);

}  // namespace pistachio::kernels
