// Count, min, max and sum in 64-bit lanes, one loop for all sources of values: memory, a dictionary in memory (gather), a dictionary in two
// AVX-512 registers (permute). Sums of int64 are kept as two sums of 32-bit halves, which cannot overflow for any row count in memory and
// are free next to the loads; narrower values need one sum.
#include "kernels/cpu/summarize_simd.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/summarize_simd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/mask_bits_inl.h"

HWY_BEFORE_NAMESPACE();
namespace pistachio::kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Int64Tag = hn::ScalableTag<int64_t>;
using DoubleTag = hn::ScalableTag<double>;
using Int64Vector = hn::Vec<Int64Tag>;
using DoubleVector = hn::Vec<DoubleTag>;
using Codes = hn::Rebind<int32_t, Int64Tag>;

HWY_INLINE int64_t lanes() {
  return static_cast<int64_t>(hn::Lanes(Int64Tag()));
}

// Widens the lanes of any integer type to int64.
template <typename T>
HWY_INLINE Int64Vector widen(const T* values) {
  const Int64Tag wide;
  const hn::Rebind<int32_t, Int64Tag> half;
  const hn::Rebind<T, Int64Tag> narrow;
  if constexpr (sizeof(T) == 8) {
    return hn::LoadU(wide, values);
  } else if constexpr (sizeof(T) == 4) {
    return hn::PromoteTo(wide, hn::LoadU(half, values));
  } else {
    return hn::PromoteTo(wide, hn::PromoteTo(half, hn::LoadU(narrow, values)));
  }
}

HWY_INLINE DoubleVector widen_float(const float* values) {
  const hn::Rebind<float, DoubleTag> narrow;
  return hn::PromoteTo(DoubleTag(), hn::LoadU(narrow, values));
}

// Sources: vector(row) returns lanes() values starting at `row`, scalar(row) one.
template <typename T>
struct PlainIntegers {
  const T* values;
  HWY_INLINE Int64Vector vector(int64_t row) const { return widen(values + row); }
  HWY_INLINE int64_t scalar(int64_t row) const { return values[row]; }
};

template <typename T>
struct PlainFloats {
  const T* values;
  HWY_INLINE DoubleVector vector(int64_t row) const {
    if constexpr (sizeof(T) == 8) {
      return hn::LoadU(DoubleTag(), values + row);
    } else {
      return widen_float(values + row);
    }
  }
  HWY_INLINE double scalar(int64_t row) const { return values[row]; }
};

template <typename T>
struct GatheredIntegers {
  const T* values;
  const int32_t* codes;
  HWY_INLINE Int64Vector vector(int64_t row) const {
    if constexpr (sizeof(T) == 8) {
      return hn::GatherIndex(Int64Tag(), values, hn::PromoteTo(Int64Tag(), hn::LoadU(Codes(), codes + row)));
    } else if constexpr (sizeof(T) == 4) {
      return hn::PromoteTo(Int64Tag(), hn::GatherIndex(Codes(), values, hn::LoadU(Codes(), codes + row)));
    } else {
      alignas(64) int32_t narrow[8];
      for (int64_t i = 0; i < lanes(); ++i) narrow[i] = values[codes[row + i]];
      return hn::PromoteTo(Int64Tag(), hn::LoadU(Codes(), narrow));
    }
  }
  HWY_INLINE int64_t scalar(int64_t row) const { return values[codes[row]]; }
};

template <typename T>
struct GatheredFloats {
  const T* values;
  const int32_t* codes;
  HWY_INLINE DoubleVector vector(int64_t row) const {
    if constexpr (sizeof(T) == 8) {
      return hn::GatherIndex(DoubleTag(), values, hn::PromoteTo(Int64Tag(), hn::LoadU(Codes(), codes + row)));
    } else {
      const hn::Rebind<float, DoubleTag> narrow;
      return hn::PromoteTo(DoubleTag(), hn::GatherIndex(narrow, values, hn::LoadU(Codes(), codes + row)));
    }
  }
  HWY_INLINE double scalar(int64_t row) const { return values[codes[row]]; }
};

#if HWY_TARGET <= HWY_AVX3

// Dictionaries of at most this many entries are kept in registers, widened to 64 bits.
constexpr int64_t register_entries = 16;

template <typename Wide>
struct RegisterSource {
  HWY_INLINE RegisterSource(const Wide* widened, const int32_t* row_codes)
      : low(_mm512_loadu_si512(widened)), high(_mm512_loadu_si512(widened + 8)), entries(widened), codes(row_codes) {}
  HWY_INLINE auto vector(int64_t row) const {
    const __m512i indices = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + row)));
    const hn::Vec<Int64Tag> values{_mm512_permutex2var_epi64(low, indices, high)};
    return hn::BitCast(hn::ScalableTag<Wide>(), values);
  }
  HWY_INLINE Wide scalar(int64_t row) const { return entries[codes[row]]; }
  __m512i low, high;
  const Wide* entries;
  const int32_t* codes;
};

#endif

// Lanes of valid rows, starting at `validity`.
HWY_INLINE hn::Mask<Int64Tag> valid_lanes(const uint8_t* validity) {
  return hn::Ne(widen(validity), hn::Zero(Int64Tag()));
}

// Separate variables rather than an array, so that they stay in registers.
struct IntegerPartial {
  Int64Vector low, high, min, max;
};

template <bool with_halves, bool with_validity, typename Source>
HWY_INLINE void add_integers(IntegerPartial& partial, const Source& source, const uint8_t* validity, int64_t row) {
  const Int64Tag d;
  Int64Vector value = source.vector(row);
  if constexpr (with_validity) {
    const auto valid = valid_lanes(validity + row);
    partial.min = hn::Min(partial.min, hn::IfThenElse(valid, value, hn::Set(d, std::numeric_limits<int64_t>::max())));
    partial.max = hn::Max(partial.max, hn::IfThenElse(valid, value, hn::Set(d, std::numeric_limits<int64_t>::min())));
    value = hn::IfThenElseZero(valid, value);
  } else {
    partial.min = hn::Min(partial.min, value);
    partial.max = hn::Max(partial.max, value);
  }
  if constexpr (with_halves) {
    partial.low = hn::Add(partial.low, hn::And(value, hn::Set(d, 0xffffffff)));
    partial.high = hn::Add(partial.high, hn::ShiftRight<32>(value));
  } else {
    partial.low = hn::Add(partial.low, value);
  }
}

HWY_INLINE void merge_lanes(const IntegerPartial& partial, IntegerSummary& summary) {
  const Int64Tag d;
  alignas(64) int64_t low[8], high[8], mins[8], maxs[8];
  hn::Store(partial.low, d, low);
  hn::Store(partial.high, d, high);
  hn::Store(partial.min, d, mins);
  hn::Store(partial.max, d, maxs);
  for (int64_t lane = 0; lane < lanes(); ++lane) {
    summary.sum += Int128{high[lane]} * (Int128{1} << 32) + low[lane];
    summary.min = std::min(summary.min, mins[lane]);
    summary.max = std::max(summary.max, maxs[lane]);
  }
}

template <bool with_halves, bool with_validity, typename Source>
HWY_INLINE IntegerSummary sum_integers(const Source& source, const uint8_t* validity, int64_t rows) {
  const Int64Tag d;
  IntegerSummary summary{.min = std::numeric_limits<int64_t>::max(), .max = std::numeric_limits<int64_t>::min()};
  const IntegerPartial start{hn::Zero(d), hn::Zero(d), hn::Set(d, summary.min), hn::Set(d, summary.max)};
  IntegerPartial first = start, second = start;
  const int64_t step = lanes();
  int64_t row = 0;
  for (; row + 2 * step <= rows; row += 2 * step) {
    add_integers<with_halves, with_validity>(first, source, validity, row);
    add_integers<with_halves, with_validity>(second, source, validity, row + step);
  }
  merge_lanes(first, summary);
  merge_lanes(second, summary);
  for (; row < rows; ++row) {
    if (with_validity && validity[row] == 0) continue;
    const int64_t value = source.scalar(row);
    summary.sum += value;
    summary.min = std::min(summary.min, value);
    summary.max = std::max(summary.max, value);
  }
  return summary;
}

struct FloatPartial {
  DoubleVector sum, min, max;
  hn::Mask<DoubleTag> seen_nan, seen_number;
};

template <bool with_validity, typename Source>
HWY_INLINE void add_floats(FloatPartial& partial, const Source& source, const uint8_t* validity, int64_t row) {
  const DoubleTag d;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const DoubleVector value = source.vector(row);
  auto is_nan = hn::IsNaN(value), number = hn::Not(is_nan);
  if constexpr (with_validity) {
    const auto valid = hn::RebindMask(d, valid_lanes(validity + row));
    number = hn::And(number, valid);
    is_nan = hn::And(is_nan, valid);
    partial.sum = hn::Add(partial.sum, hn::IfThenElseZero(valid, value));
  } else {
    partial.sum = hn::Add(partial.sum, value);
  }
  partial.seen_nan = hn::Or(partial.seen_nan, is_nan);
  partial.seen_number = hn::Or(partial.seen_number, number);
  partial.min = hn::Min(partial.min, hn::IfThenElse(number, value, hn::Set(d, infinity)));
  partial.max = hn::Max(partial.max, hn::IfThenElse(number, value, hn::Set(d, -infinity)));
}

// NaN is counted separately: it is the maximum, and the minimum only if there are no numbers.
struct FloatState {
  double sum = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  bool seen_nan = false;
  bool seen_number = false;

  HWY_INLINE void merge(const FloatPartial& partial) {
    const DoubleTag d;
    alignas(64) double sums[8], mins[8], maxs[8];
    hn::Store(partial.sum, d, sums);
    hn::Store(partial.min, d, mins);
    hn::Store(partial.max, d, maxs);
    seen_nan |= !hn::AllFalse(d, partial.seen_nan);
    seen_number |= !hn::AllFalse(d, partial.seen_number);
    for (int64_t lane = 0; lane < lanes(); ++lane) {
      sum += sums[lane];
      min = std::min(min, mins[lane]);
      max = std::max(max, maxs[lane]);
    }
  }

  HWY_INLINE void add(double value) {
    sum += value;
    if (value != value) {
      seen_nan = true;
    } else {
      seen_number = true;
      min = std::min(min, value);
      max = std::max(max, value);
    }
  }
};

template <bool with_validity, typename Source>
HWY_INLINE FloatSummary sum_floats(const Source& source, const uint8_t* validity, int64_t rows) {
  const DoubleTag d;
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto nowhere = hn::Lt(hn::Zero(d), hn::Zero(d));
  const FloatPartial start{hn::Zero(d), hn::Set(d, infinity), hn::Set(d, -infinity), nowhere, nowhere};
  FloatPartial first = start, second = start;
  const int64_t step = lanes();
  int64_t row = 0;
  for (; row + 2 * step <= rows; row += 2 * step) {
    add_floats<with_validity>(first, source, validity, row);
    add_floats<with_validity>(second, source, validity, row + step);
  }
  FloatState state;
  state.merge(first);
  state.merge(second);
  for (; row < rows; ++row) {
    if (!with_validity || validity[row] != 0) state.add(source.scalar(row));
  }
  return {.min = state.seen_number ? state.min : nan, .max = state.seen_nan ? nan : state.max, .sum = state.sum};
}

template <bool with_halves, typename Source>
HWY_INLINE IntegerSummary summarize_integer_source(const Source& source, const uint8_t* validity, int64_t rows) {
  return validity != nullptr ? sum_integers<with_halves, true>(source, validity, rows)
                             : sum_integers<with_halves, false>(source, validity, rows);
}

template <typename Source>
HWY_INLINE FloatSummary summarize_float_source(const Source& source, const uint8_t* validity, int64_t rows) {
  return validity != nullptr ? sum_floats<true>(source, validity, rows) : sum_floats<false>(source, validity, rows);
}

HWY_INLINE int64_t count_valid(const uint8_t* validity, int64_t rows) {
  if (validity == nullptr) return rows;
  int64_t count = 0, row = 0;
  for (; row + 64 <= rows; row += 64) count += __builtin_popcountll(mask_word(validity + row));
  return count + __builtin_popcountll(mask_word(validity + row, rows - row));
}

template <typename T>
IntegerSummary summarize_typed(const T* values, [[maybe_unused]] int64_t entries, const int32_t* codes,
                               const uint8_t* validity, int64_t rows) {
  constexpr bool halves = sizeof(T) == 8;
  if (codes == nullptr) return summarize_integer_source<halves>(PlainIntegers<T>{values}, validity, rows);
#if HWY_TARGET <= HWY_AVX3
  if (entries <= register_entries) {
    int64_t widened[register_entries] = {};
    std::copy_n(values, entries, widened);
    return summarize_integer_source<halves>(RegisterSource<int64_t>(widened, codes), validity, rows);
  }
#endif
  return summarize_integer_source<halves>(GatheredIntegers<T>{values, codes}, validity, rows);
}

template <typename T>
FloatSummary summarize_typed_floats(const T* values, [[maybe_unused]] int64_t entries, const int32_t* codes,
                                    const uint8_t* validity, int64_t rows) {
  if (codes == nullptr) return summarize_float_source(PlainFloats<T>{values}, validity, rows);
#if HWY_TARGET <= HWY_AVX3
  if (entries <= register_entries) {
    double widened[register_entries] = {};
    std::copy_n(values, entries, widened);
    return summarize_float_source(RegisterSource<double>(widened, codes), validity, rows);
  }
#endif
  return summarize_float_source(GatheredFloats<T>{values, codes}, validity, rows);
}

IntegerSummary SummarizeIntegers(ValueKind kind, const void* values, int64_t entries, const int32_t* codes, const uint8_t* validity,
                                 int64_t rows) {
  const int64_t count = count_valid(validity, rows);
  if (count == 0) return {};
  if (count == rows) validity = nullptr;
  IntegerSummary summary = with_type(kind, [&](auto type) HWY_ATTR -> IntegerSummary {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) return summarize_typed(static_cast<const T*>(values), entries, codes, validity, rows);
    return {};
  });
  summary.count = count;
  return summary;
}

FloatSummary SummarizeFloats(ValueKind kind, const void* values, int64_t entries, const int32_t* codes, const uint8_t* validity,
                             int64_t rows) {
  const int64_t count = count_valid(validity, rows);
  if (count == 0) return {};
  if (count == rows) validity = nullptr;
  FloatSummary summary = kind == ValueKind::Float
                             ? summarize_typed_floats(static_cast<const float*>(values), entries, codes, validity, rows)
                             : summarize_typed_floats(static_cast<const double*>(values), entries, codes, validity, rows);
  summary.count = count;
  return summary;
}

}  // namespace pistachio::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pistachio::kernels::cpu {

HWY_EXPORT(SummarizeIntegers);
HWY_EXPORT(SummarizeFloats);

IntegerSummary summarize_integers(ValueKind kind, const void* values, int64_t entries, const int32_t* codes, const uint8_t* validity,
                                  int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(SummarizeIntegers)(kind, values, entries, codes, validity, rows);
}
FloatSummary summarize_floats(ValueKind kind, const void* values, int64_t entries, const int32_t* codes, const uint8_t* validity,
                              int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(SummarizeFloats)(kind, values, entries, codes, validity, rows);
}

}  // namespace pistachio::kernels::cpu
#endif
