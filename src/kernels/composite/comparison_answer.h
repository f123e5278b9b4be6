// The result of a comparison from two masks; values are totally ordered, so the third case is the remainder.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/error.h"
#include "kernels/ops/comparison.h"

namespace pistachio::kernels::composite {

inline at::Tensor answer(const at::Tensor& less, const at::Tensor& equal, int64_t comparison) {
  switch (static_cast<Comparison>(comparison)) {
    case Comparison::Equal: return equal;
    case Comparison::NotEqual: return equal.logical_not();
    case Comparison::Less: return less;
    case Comparison::LessEqual: return less.logical_or(equal);
    case Comparison::Greater: return less.logical_or(equal).logical_not();
    case Comparison::GreaterEqual: return less.logical_not();
  }
  throw InternalError("no such comparison");
}

}  // namespace pistachio::kernels::composite
