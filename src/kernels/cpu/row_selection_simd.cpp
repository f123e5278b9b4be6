// compress and spread process the mask in words of 64 rows. Words of all ones or all zeros, frequent in clustered data, become a copy or
// nothing. Others use AVX-512's compress and expand instructions where available, for bytes shuffles from a table, else branch-free scalar
// code. Whole vectors are stored while the output has room; the last ones are masked.
#include "kernels/cpu/row_selection_simd.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/byte_selection_tables.h"
#include "kernels/cpu/value16.h"

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/row_selection_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/mask_bits_inl.h"

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

int64_t CountTrue(const uint8_t* mask, int64_t rows) {
  int64_t count = 0, row = 0;
  for (; row + 64 <= rows; row += 64) count += __builtin_popcountll(mask_word(mask + row));
  return count + __builtin_popcountll(mask_word(mask + row, rows - row));
}

#if HWY_TARGET <= HWY_AVX3

// Values of T per 512-bit vector step; 0 if the instruction set has no compress and expand for that size.
template <typename T>
constexpr int64_t lanes_of() {
  return sizeof(T) >= 4 || HWY_TARGET <= HWY_AVX3_DL ? 64 / static_cast<int64_t>(sizeof(T)) : 0;
}

// Doubles each bit for 16-byte values, whose two words move together.
HWY_INLINE __mmask8 word_pairs(uint64_t four_bits) {
  const uint64_t spread = (four_bits & 1) | (four_bits & 2) << 1 | (four_bits & 4) << 2 | (four_bits & 8) << 3;
  return static_cast<__mmask8>(spread * 3);
}

// A mask of the lowest `count` lanes.
HWY_INLINE uint64_t first_lanes(int64_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

template <typename T>
HWY_INLINE __m512i compressed(__m512i values, uint64_t bits) {
  if constexpr (sizeof(T) == 4) return _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), values);
  if constexpr (sizeof(T) == 8) return _mm512_maskz_compress_epi64(static_cast<__mmask8>(bits), values);
  if constexpr (sizeof(T) == 16) return _mm512_maskz_compress_epi64(word_pairs(bits), values);
#if HWY_TARGET <= HWY_AVX3_DL
  if constexpr (sizeof(T) == 1) return _mm512_maskz_compress_epi8(bits, values);
  if constexpr (sizeof(T) == 2) return _mm512_maskz_compress_epi16(static_cast<__mmask32>(bits), values);
#endif
  return values;
}

template <typename T>
HWY_INLINE __m512i expanded(__m512i values, uint64_t bits) {
  if constexpr (sizeof(T) == 4) return _mm512_maskz_expand_epi32(static_cast<__mmask16>(bits), values);
  if constexpr (sizeof(T) == 8) return _mm512_maskz_expand_epi64(static_cast<__mmask8>(bits), values);
  if constexpr (sizeof(T) == 16) return _mm512_maskz_expand_epi64(word_pairs(bits), values);
#if HWY_TARGET <= HWY_AVX3_DL
  if constexpr (sizeof(T) == 1) return _mm512_maskz_expand_epi8(bits, values);
  if constexpr (sizeof(T) == 2) return _mm512_maskz_expand_epi16(static_cast<__mmask32>(bits), values);
#endif
  return values;
}

// Loads or stores only the first `count` values of a vector and does not touch other memory.
template <typename T>
HWY_INLINE __m512i load_first(const T* values, int64_t count) {
  return _mm512_maskz_loadu_epi8(first_lanes(count * static_cast<int64_t>(sizeof(T))), values);
}
template <typename T>
HWY_INLINE void store_first(T* out, int64_t count, __m512i values) {
  _mm512_mask_storeu_epi8(out, first_lanes(count * static_cast<int64_t>(sizeof(T))), values);
}

#else

template <typename T>
constexpr int64_t lanes_of() {
  return 0;
}

#endif

#if HWY_TARGET != HWY_SCALAR

// 8 bytes, shuffled.
HWY_INLINE void shuffle_bytes(const uint8_t* from, const std::array<uint8_t, 8>& shuffle, uint8_t* to) {
  const hn::Full64<uint8_t> eight;
  hn::StoreU(hn::TableLookupBytesOr0(hn::LoadU(eight, from), hn::LoadU(eight, shuffle.data())), eight, to);
}

// Byte `place` of a word.
HWY_INLINE int64_t byte_of(uint64_t word, int place) {
  return static_cast<int64_t>(word >> (8 * place) & 0xff);
}

// 64 rows of one byte; 7 bytes behind the selected ones are written too.
HWY_INLINE int64_t compress_64_bytes(const uint8_t* values, uint64_t bits, uint8_t* out) {
  const uint64_t ends = ones_up_to_byte(bits);
  for (int i = 0; i < 8; ++i)
    shuffle_bytes(values + 8 * i, kCompressShuffles[static_cast<size_t>(byte_of(bits, i))], out + (i == 0 ? 0 : byte_of(ends, i - 1)));
  return byte_of(ends, 7);
}

// 64 rows of one byte; 8 bytes behind the first selected ones are read too.
HWY_INLINE int64_t spread_64_bytes(const uint8_t* values, uint64_t bits, uint8_t* out) {
  const uint64_t ends = ones_up_to_byte(bits);
  for (int i = 0; i < 8; ++i)
    shuffle_bytes(values + (i == 0 ? 0 : byte_of(ends, i - 1)), kExpandShuffles[static_cast<size_t>(byte_of(bits, i))], out + 8 * i);
  return byte_of(ends, 7);
}

#endif

// One word of up to 64 rows; `out` has room for `room` values, possibly just the selected ones.
template <typename T>
HWY_INLINE int64_t compress_word(const T* values, uint64_t bits, int64_t rows, T* out, int64_t room) {
  int64_t kept = 0;
#if HWY_TARGET <= HWY_AVX3
  constexpr int64_t lanes = lanes_of<T>();
  if constexpr (lanes > 0) {
    for (int64_t row = 0; row < rows; row += lanes) {
      const uint64_t part = (bits >> row) & first_lanes(lanes);
      const int64_t count = __builtin_popcountll(part);
      const __m512i loaded = rows - row >= lanes ? _mm512_loadu_si512(values + row) : load_first(values + row, rows - row);
      const __m512i chosen = compressed<T>(loaded, part);
      if (room - kept >= lanes) {
        _mm512_storeu_si512(out + kept, chosen);
      } else {
        store_first(out + kept, count, chosen);
      }
      kept += count;
    }
    return kept;
  }
#endif
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 1) {
    if (rows == 64 && room >= 64 + 8) return compress_64_bytes(values, bits, out);
  }
#endif
  if (room >= rows) {
    for (int64_t row = 0; row < rows; ++row) {
      out[kept] = values[row];
      kept += static_cast<int64_t>((bits >> row) & 1);
    }
  } else {
    for (; bits != 0; bits &= bits - 1) out[kept++] = values[__builtin_ctzll(bits)];
  }
  return kept;
}

template <typename T>
HWY_INLINE void compress_all(const T* values, const uint8_t* mask, int64_t rows, int64_t selected, T* out) {
  int64_t kept = 0;
  for (int64_t row = 0; row < rows; row += 64) {
    const int64_t step = std::min<int64_t>(64, rows - row);
    const uint64_t bits = step == 64 ? mask_word(mask + row) : mask_word(mask + row, step);
    if (bits == 0) continue;
    if (bits == ~uint64_t{0}) {
      std::memcpy(out + kept, values + row, 64 * sizeof(T));
      kept += 64;
      continue;
    }
    kept += compress_word(values + row, bits, step, out + kept, selected - kept);
  }
}

// One word of up to 64 rows; `left` values may be read.
template <typename T>
HWY_INLINE int64_t spread_word(const T* values, int64_t left, uint64_t bits, int64_t rows, T* out) {
  int64_t used = 0;
#if HWY_TARGET <= HWY_AVX3
  constexpr int64_t lanes = lanes_of<T>();
  if constexpr (lanes > 0) {
    for (int64_t row = 0; row < rows; row += lanes) {
      const uint64_t part = (bits >> row) & first_lanes(lanes);
      const int64_t count = __builtin_popcountll(part);
      const __m512i loaded = left - used >= lanes ? _mm512_loadu_si512(values + used) : load_first(values + used, count);
      const __m512i placed = expanded<T>(loaded, part);
      if (rows - row >= lanes) {
        _mm512_storeu_si512(out + row, placed);
      } else {
        store_first(out + row, rows - row, placed);
      }
      used += count;
    }
    return used;
  }
#endif
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 1) {
    if (rows == 64 && left >= 64 + 8) return spread_64_bytes(values, bits, out);
  }
#endif
  if (left >= rows) {
    for (int64_t row = 0; row < rows; ++row) {
      const bool valid = ((bits >> row) & 1) != 0;
      out[row] = valid ? values[used] : T{};
      used += valid;
    }
  } else {
    std::fill_n(out, rows, T{});
    for (; bits != 0; bits &= bits - 1) out[__builtin_ctzll(bits)] = values[used++];
  }
  return used;
}

template <typename T>
HWY_INLINE void spread_all(const T* values, int64_t stored, const uint8_t* validity, int64_t rows, T* out) {
  int64_t used = 0;
  for (int64_t row = 0; row < rows; row += 64) {
    const int64_t step = std::min<int64_t>(64, rows - row);
    const uint64_t bits = step == 64 ? mask_word(validity + row) : mask_word(validity + row, step);
    if (bits == 0) {
      std::fill_n(out + row, step, T{});
    } else if (bits == ~uint64_t{0}) {
      std::memcpy(out + row, values + used, 64 * sizeof(T));
      used += 64;
    } else {
      used += spread_word(values + used, stored - used, bits, step, out + row);
    }
  }
}

// Calls `run` with a pointer type for the given value size.
template <typename Run>
HWY_INLINE void with_value_type(int64_t value_bytes, const Run& run) {
  switch (value_bytes) {
    case 1: return run(uint8_t{});
    case 2: return run(uint16_t{});
    case 4: return run(uint32_t{});
    case 8: return run(uint64_t{});
    default: return run(Value16{});
  }
}

void CompressValues(const void* values, int64_t value_bytes, const uint8_t* mask, int64_t rows, int64_t selected, void* out) {
  with_value_type(value_bytes, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    compress_all(static_cast<const T*>(values), mask, rows, selected, static_cast<T*>(out));
  });
}

void SpreadValues(const void* values, int64_t value_bytes, int64_t stored, const uint8_t* validity, int64_t rows, void* out) {
  with_value_type(value_bytes, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    spread_all(static_cast<const T*>(values), stored, validity, rows, static_cast<T*>(out));
  });
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(CountTrue);
HWY_EXPORT(CompressValues);
HWY_EXPORT(SpreadValues);

int64_t count_true_bytes(const uint8_t* mask, int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(CountTrue)(mask, rows);
}

void compress_values(const void* values, int64_t value_bytes, const uint8_t* mask, int64_t rows, int64_t selected, void* out) {
  HWY_DYNAMIC_DISPATCH(CompressValues)(values, value_bytes, mask, rows, selected, out);
}

void spread_values(const void* values, int64_t value_bytes, int64_t stored, const uint8_t* validity, int64_t rows, void* out) {
  HWY_DYNAMIC_DISPATCH(SpreadValues)(values, value_bytes, stored, validity, rows, out);
}

}  // namespace pistachio::kernels::cpu
#endif
