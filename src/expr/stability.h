// Whether an expression gives the same value for the same row wherever and whenever it is evaluated in a statement: all do but random().
#pragma once

#include "expr/expression.h"

namespace pistachio {

bool is_stable(const Expression& expression);

}  // namespace pistachio
