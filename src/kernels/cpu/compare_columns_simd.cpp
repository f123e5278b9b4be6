// Comparisons of two columns. AVX-512 compares into mask registers and expands 64 mask bits to 64 bytes with one instruction; for other
// instruction sets auto-vectorization is good enough.
#include "kernels/cpu/compare_columns_simd.h"

#include <type_traits>

#include "kernels/cpu/simd_targets.h"
#include "kernels/ops/int128.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/compare_columns_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Each test for scalars and, with Highway's types, for vectors.
template <bool with_nan>
struct IsEqual {
  template <typename T>
  HWY_INLINE bool one(T left, T right) const {
    return left == right || (with_nan && left != left && right != right);
  }
  template <typename V>
  HWY_INLINE auto many(V left, V right) const {
    if constexpr (with_nan)
      return hn::Or(hn::Eq(left, right), hn::And(hn::IsNaN(left), hn::IsNaN(right)));
    else
      return hn::Eq(left, right);
  }
};
template <bool with_nan>
struct IsLess {
  template <typename T>
  HWY_INLINE bool one(T left, T right) const {
    return left < right || (with_nan && left == left && right != right);
  }
  template <typename V>
  HWY_INLINE auto many(V left, V right) const {
    if constexpr (with_nan)
      return hn::Or(hn::Lt(left, right), hn::AndNot(hn::IsNaN(left), hn::IsNaN(right)));
    else
      return hn::Lt(left, right);
  }
};

template <typename T, typename Test>
HWY_INLINE void compare_rows(const T* HWY_RESTRICT left, const T* HWY_RESTRICT right, int64_t rows, const Test& test, bool negated,
                             uint8_t* HWY_RESTRICT out) {
  int64_t row = 0;
#if HWY_TARGET <= HWY_AVX3
  const hn::ScalableTag<T> d;
  constexpr int64_t lanes = 64 / static_cast<int64_t>(sizeof(T));
  const uint64_t flip = negated ? ~uint64_t{0} : 0;
  for (; row + 64 <= rows; row += 64) {
    uint64_t bits = 0;
    for (int64_t part = 0; part < 64; part += lanes) {
      bits |= static_cast<uint64_t>(test.many(hn::LoadU(d, left + row + part), hn::LoadU(d, right + row + part)).raw) << part;
    }
    _mm512_storeu_si512(out + row, _mm512_maskz_set1_epi8(bits ^ flip, 1));
  }
#endif
  for (; row < rows; ++row) out[row] = static_cast<uint8_t>(test.one(left[row], right[row]) != negated);
}

void ComparePairs(ValueKind kind, const void* left, const void* right, int64_t rows, PairTest test, bool negated, uint8_t* out) {
  with_type(kind, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    constexpr bool with_nan = std::is_floating_point_v<T>;
    if (test == PairTest::Equal) {
      compare_rows(static_cast<const T*>(left), static_cast<const T*>(right), rows, IsEqual<with_nan>(), negated, out);
    } else {
      compare_rows(static_cast<const T*>(left), static_cast<const T*>(right), rows, IsLess<with_nan>(), negated, out);
    }
  });
}

void CompareWidePairs(const int64_t* HWY_RESTRICT left, const int64_t* HWY_RESTRICT right, int64_t rows, PairTest test, bool negated,
                      uint8_t* HWY_RESTRICT out) {
  for (int64_t row = 0; row < rows; ++row) {
    const Int128 left_value = int128_from_words(left[2 * row], left[2 * row + 1]);
    const Int128 right_value = int128_from_words(right[2 * row], right[2 * row + 1]);
    out[row] = static_cast<uint8_t>((test == PairTest::Equal ? left_value == right_value : left_value < right_value) != negated);
  }
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(ComparePairs);
HWY_EXPORT(CompareWidePairs);

void compare_pairs(ValueKind kind, const void* left, const void* right, int64_t rows, PairTest test, bool negated, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ComparePairs)(kind, left, right, rows, test, negated, out);
}
void compare_wide_pairs(const int64_t* left, const int64_t* right, int64_t rows, PairTest test, bool negated, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(CompareWidePairs)(left, right, rows, test, negated, out);
}

}  // namespace pistachio::kernels::cpu
#endif
