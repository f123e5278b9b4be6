// The inner loops of compare_columns, on raw memory. Two tests, with sides swapped or results negated, give all six comparisons.
#pragma once

#include <cstdint>

#include "kernels/cpu/value_kind.h"

namespace pistachio::kernels::cpu {

enum class PairTest { Equal, Less };

// NaN is equal to NaN and greater than every number.
void compare_pairs(ValueKind kind, const void* left, const void* right, int64_t rows, PairTest test, bool negated, uint8_t* out);
// Two-word values.
void compare_wide_pairs(const int64_t* left, const int64_t* right, int64_t rows, PairTest test, bool negated, uint8_t* out);

}  // namespace pistachio::kernels::cpu
