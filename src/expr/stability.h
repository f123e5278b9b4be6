// Whether an expression always has the same value for the same row within a statement; true unless it contains random().
#pragma once

#include "expr/expression.h"

namespace pistachio {

bool is_stable(const Expression& expression);

}  // namespace pistachio
