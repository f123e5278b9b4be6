// The inner loops of compare_constant and compare_wide_constant, for raw memory.
#pragma once

#include <cstdint>

#include "kernels/cpu/value_kind.h"
#include "kernels/ops/comparison.h"

namespace pistachio::kernels::cpu {

// The three tests that, negated or not, give all six comparisons; with NaN the negation is what PostgreSQL's order asks for.
enum class Test { Equal, Less, LessEqual };

// out[i] = test(values[i], constant) != negated, for values of an integer kind and a constant in its range ..
void compare_integers(ValueKind kind, const void* values, int64_t rows, Test test, bool negated, int64_t constant, uint8_t* out);
// .. and for float (the constant is one) and double. A NaN value passes no test.
void compare_floats(ValueKind kind, const void* values, int64_t rows, Test test, bool negated, double constant, uint8_t* out);
// out[i] = (values[i] is NaN) != negated.
void test_nan(ValueKind kind, const void* values, int64_t rows, bool negated, uint8_t* out);
// Two-word values.
void compare_wide(const int64_t* values, int64_t rows, Comparison comparison, int64_t low, int64_t high, uint8_t* out);

}  // namespace pistachio::kernels::cpu
