// Gathering rows. No branch on -1, because outer joins mix them in randomly: 4- and 8-byte values use AVX-512's masked gather; the other
// loops read row 0 instead and mask the result.
#include "kernels/cpu/gather_rows_simd.h"

#include <algorithm>

#include "kernels/cpu/value16.h"

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gather_rows_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

template <typename T>
HWY_INLINE T masked(T value, int64_t keep) {
  return static_cast<T>(value & static_cast<T>(keep));
}
HWY_INLINE Value16 masked(Value16 value, int64_t keep) {
  return {{value.words[0] & static_cast<uint64_t>(keep), value.words[1] & static_cast<uint64_t>(keep)}};
}

template <typename T>
HWY_INLINE void take_plain(const T* HWY_RESTRICT values, const int64_t* HWY_RESTRICT rows, int64_t first, int64_t count,
                           T* HWY_RESTRICT out) {
  for (int64_t i = first; i < count; ++i) {
    const int64_t keep = ~(rows[i] >> 63);
    out[i] = masked(values[rows[i] & keep], keep);
  }
}

// Prefetch distance in rows: covers memory latency, which out-of-order execution alone does not.
constexpr int64_t fetch_distance = 64;
constexpr int64_t fetch_block = 64;

template <typename T>
HWY_INLINE void fetch_rows(const T* values, const int64_t* rows, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) __builtin_prefetch(values + rows[i]);
}

template <typename T>
HWY_INLINE void take_block(const T* HWY_RESTRICT values, const int64_t* HWY_RESTRICT rows, int64_t first, int64_t last,
                           T* HWY_RESTRICT out) {
  int64_t i = first;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(T) == 8) {
    for (; i + 8 <= last; i += 8) {
      const __m512i index = _mm512_loadu_si512(rows + i);
      const __mmask8 keep = static_cast<__mmask8>(~_mm512_movepi64_mask(index));
      _mm512_storeu_si512(out + i, _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), keep, index, values, 8));
    }
  } else if constexpr (sizeof(T) == 4) {
    for (; i + 8 <= last; i += 8) {
      const __m512i index = _mm512_loadu_si512(rows + i);
      const __mmask8 keep = static_cast<__mmask8>(~_mm512_movepi64_mask(index));
      const __m256i taken = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), keep, index, values, 4);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), taken);
    }
  }
#endif
  take_plain(values, rows, i, last, out);
}

template <typename T>
HWY_INLINE void take_any(const T* values, int64_t entries, const int64_t* rows, int64_t count, T* out) {
  if (entries * static_cast<int64_t>(sizeof(T)) < (int64_t{1} << 20)) return take_block(values, rows, 0, count, out);
  for (int64_t first = 0; first < count; first += fetch_block) {
    const int64_t last = std::min(count, first + fetch_block);
    fetch_rows(values, rows, std::min(count, first + fetch_distance), std::min(count, last + fetch_distance));
    take_block(values, rows, first, last, out);
  }
}

void TakeRows(const void* values, int64_t entries, int64_t value_bytes, const int64_t* rows, int64_t count, void* out) {
  const auto run = [&](auto type) HWY_ATTR {
    using T = decltype(type);
    take_any(static_cast<const T*>(values), entries, rows, count, static_cast<T*>(out));
  };
  switch (value_bytes) {
    case 1: return run(uint8_t{});
    case 2: return run(uint16_t{});
    case 4: return run(uint32_t{});
    case 8: return run(uint64_t{});
    default: return run(Value16{});
  }
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(TakeRows);

void take_rows(const void* values, int64_t entries, int64_t value_bytes, const int64_t* rows, int64_t count, void* out) {
  HWY_DYNAMIC_DISPATCH(TakeRows)(values, entries, value_bytes, rows, count, out);
}

}  // namespace pistachio::kernels::cpu
#endif
