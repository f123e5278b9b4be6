// Dictionary lookup. Dictionaries that fit two AVX-512 registers (32 entries of 4 bytes, 16 of 8) are looked up with permutes, without
// memory access; 4- and 8-byte values of larger ones use gather instructions; other sizes use scalar loads, of which a core does two or
// three per cycle anyway.
#include "kernels/cpu/dictionary_gather_simd.h"

#include <cstring>

#include "kernels/cpu/value16.h"

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dictionary_gather_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE void gather_plain(const T* dictionary, const int32_t* codes, int64_t first, int64_t rows, T* out) {
  for (int64_t row = first; row < rows; ++row) out[row] = dictionary[codes[row]];
}

#if HWY_TARGET <= HWY_AVX3

HWY_INLINE int64_t gather_registers(const uint32_t* dictionary, int64_t entries, const int32_t* codes, int64_t rows, uint32_t* out) {
  const auto part = [&](int64_t first) HWY_ATTR {
    const int64_t count = entries - first;
    const __mmask16 mask = count >= 16 ? 0xffff : count <= 0 ? 0 : static_cast<__mmask16>((1 << count) - 1);
    return _mm512_maskz_loadu_epi32(mask, dictionary + first);
  };
  const __m512i low = part(0), high = part(16);
  int64_t row = 0;
  for (; row + 16 <= rows; row += 16) {
    _mm512_storeu_si512(out + row, _mm512_permutex2var_epi32(low, _mm512_loadu_si512(codes + row), high));
  }
  return row;
}

HWY_INLINE int64_t gather_registers(const uint64_t* dictionary, int64_t entries, const int32_t* codes, int64_t rows, uint64_t* out) {
  const auto part = [&](int64_t first) HWY_ATTR {
    const int64_t count = entries - first;
    const __mmask8 mask = count >= 8 ? 0xff : count <= 0 ? 0 : static_cast<__mmask8>((1 << count) - 1);
    return _mm512_maskz_loadu_epi64(mask, dictionary + first);
  };
  const __m512i low = part(0), high = part(8);
  int64_t row = 0;
  for (; row + 8 <= rows; row += 8) {
    const __m512i indices = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + row)));
    _mm512_storeu_si512(out + row, _mm512_permutex2var_epi64(low, indices, high));
  }
  return row;
}

#endif

template <typename T>
HWY_INLINE void gather_any(const T* dictionary, [[maybe_unused]] int64_t entries, const int32_t* codes, int64_t rows, T* out) {
  int64_t row = 0;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    if (entries <= static_cast<int64_t>(128 / sizeof(T))) row = gather_registers(dictionary, entries, codes, rows, out);
  }
#endif
#if HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(T) == 4) {
    const hn::ScalableTag<uint32_t> values;
    const hn::ScalableTag<int32_t> indices;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(values));
    for (; row + lanes <= rows; row += lanes) {
      hn::StoreU(hn::GatherIndex(values, dictionary, hn::LoadU(indices, codes + row)), values, out + row);
    }
  } else if constexpr (sizeof(T) == 8) {
    const hn::ScalableTag<uint64_t> values;
    const hn::ScalableTag<int64_t> indices;
    const hn::Rebind<int32_t, hn::ScalableTag<int64_t>> narrow;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(values));
    for (; row + lanes <= rows; row += lanes) {
      const auto index = hn::PromoteTo(indices, hn::LoadU(narrow, codes + row));
      hn::StoreU(hn::GatherIndex(values, dictionary, index), values, out + row);
    }
  }
#endif
  gather_plain(dictionary, codes, row, rows, out);
}

void GatherValues(const void* dictionary, int64_t entries, int64_t value_bytes, const int32_t* codes, int64_t rows, void* out) {
  const auto run = [&](auto type) HWY_ATTR {
    using T = decltype(type);
    gather_any(static_cast<const T*>(dictionary), entries, codes, rows, static_cast<T*>(out));
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

HWY_EXPORT(GatherValues);

void gather_values(const void* dictionary, int64_t entries, int64_t value_bytes, const int32_t* codes, int64_t rows, void* out) {
  HWY_DYNAMIC_DISPATCH(GatherValues)(dictionary, entries, value_bytes, codes, rows, out);
}

}  // namespace pistachio::kernels::cpu
#endif
