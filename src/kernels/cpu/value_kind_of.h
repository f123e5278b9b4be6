// The ValueKind of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/cpu/value_kind.h"

namespace pistachio::kernels::cpu {

inline ValueKind value_kind_of(const at::Tensor& values) {
  switch (values.scalar_type()) {
    case at::kBool:
    case at::kByte: return ValueKind::UInt8;
    case at::kChar: return ValueKind::Int8;
    case at::kShort: return ValueKind::Int16;
    case at::kInt: return ValueKind::Int32;
    case at::kLong: return ValueKind::Int64;
    case at::kFloat: return ValueKind::Float;
    default: ENSURE(values.scalar_type() == at::kDouble); return ValueKind::Double;
  }
}

}  // namespace pistachio::kernels::cpu
