// Comparisons with a constant. AVX-512 compares into mask registers and expands 64 mask bits to 64 bytes with one instruction; for other
// instruction sets auto-vectorization is good enough.
#include "kernels/cpu/compare_constant_simd.h"

#include <type_traits>

#include "kernels/cpu/simd_targets.h"
#include "kernels/ops/int128.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/compare_constant_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct EqualOperator {
  template <typename Left>
  HWY_INLINE auto operator()(Left left, Left right) const { return left == right; }
};
struct LessOperator {
  template <typename Left>
  HWY_INLINE auto operator()(Left left, Left right) const { return left < right; }
};
struct LessEqualOperator {
  template <typename Left>
  HWY_INLINE auto operator()(Left left, Left right) const { return left <= right; }
};
struct IsGreater {
  template <typename Left>
  HWY_INLINE auto operator()(Left left, Left right) const { return right < left; }
};
struct IsNumber {  // Highway's != is false for NaN, unlike C++'s, so test for equality
  template <typename Left>
  HWY_INLINE auto operator()(Left left, Left) const { return left == left; }
};

template <typename T, typename Passes>
HWY_INLINE void compare_rows(const T* values, int64_t rows, const Passes& passes, bool negated, T constant, uint8_t* out) {
  int64_t row = 0;
#if HWY_TARGET <= HWY_AVX3
  const hn::ScalableTag<T> d;
  constexpr int64_t lanes = 64 / static_cast<int64_t>(sizeof(T));
  const auto right = hn::Set(d, constant);
  const uint64_t flip = negated ? ~uint64_t{0} : 0;
  for (; row + 64 <= rows; row += 64) {
    uint64_t bits = 0;
    for (int64_t part = 0; part < 64; part += lanes) {
      bits |= static_cast<uint64_t>(passes(hn::LoadU(d, values + row + part), right).raw) << part;
    }
    _mm512_storeu_si512(out + row, _mm512_maskz_set1_epi8(bits ^ flip, 1));
  }
#endif
  for (; row < rows; ++row) out[row] = static_cast<uint8_t>(passes(values[row], constant) != negated);
}

template <typename T>
HWY_INLINE void compare_by(Test test, const T* values, int64_t rows, bool negated, T constant, uint8_t* out) {
  switch (test) {
    case Test::Equal: return compare_rows(values, rows, EqualOperator(), negated, constant, out);
    case Test::Less: return compare_rows(values, rows, LessOperator(), negated, constant, out);
    case Test::LessEqual:
      // There is no vector instruction for integer <=; without NaN it is the negation of >.
      if constexpr (std::is_integral_v<T>) return compare_rows(values, rows, IsGreater(), !negated, constant, out);
      else return compare_rows(values, rows, LessEqualOperator(), negated, constant, out);
  }
}

void CompareIntegers(ValueKind kind, const void* values, int64_t rows, Test test, bool negated, int64_t constant, uint8_t* out) {
  with_type(kind, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      compare_by(test, static_cast<const T*>(values), rows, negated, static_cast<T>(constant), out);
    }
  });
}

void CompareFloats(ValueKind kind, const void* values, int64_t rows, Test test, bool negated, double constant, uint8_t* out) {
  if (kind == ValueKind::Float) {
    compare_by(test, static_cast<const float*>(values), rows, negated, static_cast<float>(constant), out);
  } else {
    compare_by(test, static_cast<const double*>(values), rows, negated, constant, out);
  }
}

void TestNan(ValueKind kind, const void* values, int64_t rows, bool negated, uint8_t* out) {
  if (kind == ValueKind::Float) {
    compare_rows(static_cast<const float*>(values), rows, IsNumber(), !negated, 0.0f, out);
  } else {
    compare_rows(static_cast<const double*>(values), rows, IsNumber(), !negated, 0.0, out);
  }
}

template <typename Passes>
HWY_INLINE void compare_wide_rows(const int64_t* values, int64_t rows, Int128 constant, const Passes& passes, bool negated, uint8_t* out) {
  for (int64_t row = 0; row < rows; ++row) {
    out[row] = static_cast<uint8_t>(passes(int128_from_words(values[2 * row], values[2 * row + 1]), constant) != negated);
  }
}

void CompareWide(const int64_t* values, int64_t rows, Comparison comparison, int64_t low, int64_t high, uint8_t* out) {
  const Int128 constant = int128_from_words(low, high);
  switch (comparison) {
    case Comparison::Equal: return compare_wide_rows(values, rows, constant, EqualOperator(), false, out);
    case Comparison::NotEqual: return compare_wide_rows(values, rows, constant, EqualOperator(), true, out);
    case Comparison::Less: return compare_wide_rows(values, rows, constant, LessOperator(), false, out);
    case Comparison::LessEqual: return compare_wide_rows(values, rows, constant, LessEqualOperator(), false, out);
    case Comparison::Greater: return compare_wide_rows(values, rows, constant, LessEqualOperator(), true, out);
    case Comparison::GreaterEqual: return compare_wide_rows(values, rows, constant, LessOperator(), true, out);
  }
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(CompareIntegers);
HWY_EXPORT(CompareFloats);
HWY_EXPORT(TestNan);
HWY_EXPORT(CompareWide);

void compare_integers(ValueKind kind, const void* values, int64_t rows, Test test, bool negated, int64_t constant, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(CompareIntegers)(kind, values, rows, test, negated, constant, out);
}
void compare_floats(ValueKind kind, const void* values, int64_t rows, Test test, bool negated, double constant, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(CompareFloats)(kind, values, rows, test, negated, constant, out);
}
void test_nan(ValueKind kind, const void* values, int64_t rows, bool negated, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(TestNan)(kind, values, rows, negated, out);
}
void compare_wide(const int64_t* values, int64_t rows, Comparison comparison, int64_t low, int64_t high, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(CompareWide)(values, rows, comparison, low, high, out);
}

}  // namespace pistachio::kernels::cpu
#endif
