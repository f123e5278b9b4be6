// Packs byte masks (bool tensors: 0 or 1) into bits, 64 rows per word, the unit in which spread, compress and the comparisons work.
// Included once per instruction set by *_simd.cpp files.
#if defined(PISTACHIO_MASK_BITS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PISTACHIO_MASK_BITS_INL_H
#undef PISTACHIO_MASK_BITS_INL_H
#else
#define PISTACHIO_MASK_BITS_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

// Bit i is mask[i], for 64 rows.
HWY_INLINE uint64_t mask_word(const uint8_t* mask) {
#if HWY_TARGET <= HWY_AVX3
  const __m512i bytes = _mm512_loadu_si512(mask);
  return _mm512_test_epi8_mask(bytes, bytes);
#elif HWY_TARGET == HWY_AVX2
  const __m256i zero = _mm256_setzero_si256();
  const __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask)), zero);
  const __m256i high = _mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask + 32)), zero);
  const uint64_t zeros = static_cast<uint32_t>(_mm256_movemask_epi8(low)) |
                         (static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(high))) << 32);
  return ~zeros;
#else
  uint64_t word = 0;
  for (int i = 0; i < 64; i += 8) {
    uint64_t bytes;
    std::memcpy(&bytes, mask + i, 8);
    word |= ((bytes * 0x0102040810204080) >> 56) << i;  // the product's top byte collects the lowest bit of each byte
  }
  return word;
#endif
}

// The same for fewer than 64 rows; the upper bits are zero.
HWY_INLINE uint64_t mask_word(const uint8_t* mask, int64_t rows) {
  uint64_t word = 0;
  for (int64_t i = 0; i < rows; ++i) word |= static_cast<uint64_t>(mask[i] != 0) << i;
  return word;
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
