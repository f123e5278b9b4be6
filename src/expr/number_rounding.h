// Signs and rounding. Decimals are exact and round halves away from zero; DOUBLE rounds halves to even (as PostgreSQL). Function bodies
// (expr/function.h).
#pragma once

#include "expr/function.h"

namespace pistachio {

Column absolute_value(const FunctionCall& call);  // keeps the type
Column sign_of_number(const FunctionCall& call);  // DECIMAL(1,0) or DOUBLE

// To a whole number: DECIMAL(n,0) or DOUBLE.
Column round_number(const FunctionCall& call);
Column round_up(const FunctionCall& call);
Column round_down(const FunctionCall& call);
Column cut_number(const FunctionCall& call);

// number, digits after the point (negative: before it). Decimals keep their scale.
Column round_to_digits(const FunctionCall& call);
Column cut_to_digits(const FunctionCall& call);

}  // namespace pistachio
