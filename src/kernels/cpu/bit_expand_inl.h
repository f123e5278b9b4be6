// Expands bits, lowest first, to bytes of 0 and 1, and counts the ones. Included once per instruction set by *_simd.cpp files. Never reads
// past `readable` bytes.
#if defined(PISTACHIO_BIT_EXPAND_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PISTACHIO_BIT_EXPAND_INL_H
#undef PISTACHIO_BIT_EXPAND_INL_H
#else
#define PISTACHIO_BIT_EXPAND_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

// `count` (at most 64) bits starting at bit `first` of `packed`; the upper bits of the result are zero.
HWY_INLINE uint64_t load_bits(const uint8_t* packed, int64_t readable, int64_t first, int64_t count) {
  const int64_t byte = first >> 3;
  const int shift = static_cast<int>(first & 7);
  uint64_t word = 0;
  if (readable - byte >= 8) {
    std::memcpy(&word, packed + byte, 8);
  } else {
    std::memcpy(&word, packed + byte, static_cast<size_t>(readable - byte));
  }
  word >>= shift;
  if (shift + count > 64) word |= static_cast<uint64_t>(packed[byte + 8]) << (64 - shift);
  return count == 64 ? word : word & ((uint64_t{1} << count) - 1);
}

// Eight bits to eight bytes: broadcast the byte, keep bit i in byte i, normalize nonzero bytes to one.
HWY_INLINE uint64_t bits_to_bytes(uint64_t eight_bits) {
  const uint64_t kept = (eight_bits * 0x0101010101010101) & 0x8040201008040201;
  return ((kept + 0x7f7f7f7f7f7f7f7f) >> 7) & 0x0101010101010101;
}

// Writes bits [first, first + count) as bytes and returns the number of ones. With a null `out` it only counts.
HWY_INLINE int64_t expand_bits(const uint8_t* packed, int64_t readable, int64_t first, int64_t count, uint8_t* out) {
  int64_t set = 0;
  for (int64_t done = 0; done < count; done += 64) {
    const int64_t step = std::min<int64_t>(64, count - done);
    uint64_t bits = load_bits(packed, readable, first + done, step);
    set += __builtin_popcountll(bits);
    if (out == nullptr) continue;
#if HWY_TARGET <= HWY_AVX3
    const __mmask64 stored = step == 64 ? ~__mmask64{0} : (__mmask64{1} << step) - 1;
    _mm512_mask_storeu_epi8(out + done, stored, _mm512_maskz_set1_epi8(bits, 1));
#else
    int64_t i = 0;
    for (; i + 8 <= step; i += 8) {
      const uint64_t bytes = bits_to_bytes((bits >> i) & 255);
      std::memcpy(out + done + i, &bytes, 8);
    }
    for (; i < step; ++i) out[done + i] = static_cast<uint8_t>((bits >> i) & 1);
#endif
  }
  return set;
}

// memset, optimized for the short runs that are common in levels.
HWY_INLINE void fill_bytes(uint8_t* out, uint8_t value, int64_t count) {
#if HWY_TARGET <= HWY_AVX3
  if (count < 64) {
    _mm512_mask_storeu_epi8(out, (__mmask64{1} << count) - 1, _mm512_set1_epi8(static_cast<char>(value)));
    return;
  }
#endif
  if (count > 0) std::memset(out, value, static_cast<size_t>(count));
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
