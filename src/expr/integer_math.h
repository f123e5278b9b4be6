// Functions on integers: divisors, factorials and bits. Results that do not fit are errors. Function bodies (expr/function.h).
#pragma once

#include "expr/function.h"

namespace pistachio {

// BIGINTs.
Column greatest_common_divisor(const FunctionCall& call);
Column least_common_multiple(const FunctionCall& call);
Column factorial(const FunctionCall& call);

// Integers of one type, which is the result's.
Column bits_and(const FunctionCall& call);
Column bits_or(const FunctionCall& call);
Column bits_differ(const FunctionCall& call);
Column bits_not(const FunctionCall& call);
// The count is a BIGINT, taken modulo the number of bits; right shifts are arithmetic.
Column shift_left(const FunctionCall& call);
Column shift_right(const FunctionCall& call);

}  // namespace pistachio
