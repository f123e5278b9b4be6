// The inner loops of compare_constant and compare_wide_constant, on raw memory.
#pragma once

#include <cstdint>

#include "kernels/cpu/value_kind.h"
#include "kernels/ops/comparison.h"

namespace pistachio::kernels::cpu {

// Three tests that, negated or not, give all six comparisons, with NaN as PostgreSQL orders it.
enum class Test { Equal, Less, LessEqual };

// out[i] = test(values[i], constant) != negated, for integer kinds; the constant is in the kind's range ..
void compare_integers(ValueKind kind, const void* values, int64_t rows, Test test, bool negated, int64_t constant, uint8_t* out);
// .. and for float (the constant is exactly a float) and double. No test is true for NaN.
void compare_floats(ValueKind kind, const void* values, int64_t rows, Test test, bool negated, double constant, uint8_t* out);
// out[i] = (values[i] is NaN) != negated.
void test_nan(ValueKind kind, const void* values, int64_t rows, bool negated, uint8_t* out);
// Two-word values.
void compare_wide(const int64_t* values, int64_t rows, Comparison comparison, int64_t low, int64_t high, uint8_t* out);

}  // namespace pistachio::kernels::cpu
