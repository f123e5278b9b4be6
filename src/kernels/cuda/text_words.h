// Text on the device, for .cu files: values are read as aligned 8-byte words. Such a word may extend past the value and even the tensor,
// but never past the allocation, whose start and size are multiples of 8.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

struct TextSpan {
  const uint8_t* data;
  int64_t length;
};

// A text column; every [begins[row], ends[row]) is inside the bytes.
struct TextColumn {
  const uint8_t* bytes;
  const int64_t* begins;
  const int64_t* ends;

#ifdef __CUDACC__
  __device__ TextSpan operator[](int64_t row) const { return {bytes + begins[row], ends[row] - begins[row]}; }
#endif
};

#ifdef __CUDACC__

// Bytes [offset, offset + 8) of the value as a little-endian word, zero past its end.
__device__ inline uint64_t load_text_word(TextSpan text, int64_t offset) {
  const int64_t left = text.length - offset;
  if (left <= 0) return 0;
  const uintptr_t address = reinterpret_cast<uintptr_t>(text.data + offset);
  const auto* word = reinterpret_cast<const unsigned long long*>(address & ~uintptr_t{7});
  const int skipped = static_cast<int>(address & 7);
  uint64_t bytes = __ldg(word) >> (skipped * 8);
  if (skipped != 0 && left > 8 - skipped) bytes |= static_cast<uint64_t>(__ldg(word + 1)) << (64 - skipped * 8);
  if (left < 8) bytes &= (uint64_t{1} << (left * 8)) - 1;
  return bytes;
}

// The same in big-endian order: words compare like their bytes.
__device__ inline uint64_t load_text_key(TextSpan text, int64_t offset) {
  const uint64_t word = load_text_word(text, offset);
  const unsigned low = static_cast<unsigned>(word), high = static_cast<unsigned>(word >> 32);
  return static_cast<uint64_t>(__byte_perm(low, 0, 0x0123)) << 32 | __byte_perm(high, 0, 0x0123);
}

// -1, 0 or 1, in unsigned byte order; a proper prefix is less. The first `offset` bytes must be equal as far as both values have them. Zero
// padding is harmless: if padded words are equal, one value is a prefix of the other so far, and the lengths decide.
__device__ inline int compare_text(TextSpan left, TextSpan right, int64_t offset = 0) {
  const int64_t shared_length = left.length < right.length ? left.length : right.length;
  for (; offset < shared_length; offset += 8) {
    const uint64_t left_key = load_text_key(left, offset), right_key = load_text_key(right, offset);
    if (left_key != right_key) return left_key < right_key ? -1 : 1;
  }
  return left.length == right.length ? 0 : left.length < right.length ? -1 : 1;
}

#endif

}  // namespace pistachio::kernels::cuda
