// Signs and rounding. Decimals exactly, halves away from zero; DOUBLE halves to even (as PostgreSQL). Bodies of functions
// (expr/function.h).
#pragma once

#include "expr/function.h"

namespace pistachio {

Column absolute_value(const FunctionCall& call);  // the type stays
Column sign_of_number(const FunctionCall& call);  // DECIMAL(1,0) or DOUBLE

// To a whole number: DECIMAL(n,0) or DOUBLE.
Column round_number(const FunctionCall& call);
Column round_up(const FunctionCall& call);
Column round_down(const FunctionCall& call);
Column cut_number(const FunctionCall& call);

// number, digits behind the point (negative: before it). The scale of decimals stays.
Column round_to_digits(const FunctionCall& call);
Column cut_to_digits(const FunctionCall& call);

}  // namespace pistachio
