// Bloom filter over hashes. The three bits of a hash are in one word, so that a test costs one memory access.
//   words   int64 [2^k], k >= 1, initially zeros: the word of a hash h is h >> (64 - k), its bits are h & 63, (h >> 6) & 63 and
//           (h >> 12) & 63. Filters of the same size are merged by bitwise or
//   hashes  int64 [n], from hash64
// key_filter_add sets the bits of all hashes. key_filter_test returns bool [n]: true for added hashes, false for most others
// (false-positive rate below 1 % with at most four hashes per word).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

void key_filter_add(at::Tensor& words, const at::Tensor& hashes);
at::Tensor key_filter_test(const at::Tensor& words, const at::Tensor& hashes);
// Number of words for this many hashes, from 2 to 2^18.
int64_t key_filter_words(int64_t hashes);

}  // namespace pistachio::kernels
