// Compares the values of columns with columns and constants. NULLs are up to the caller: the result for a NULL row is arbitrary.
#pragma once

#include "data/column.h"
#include "data/scalar_value.h"
#include "kernels/ops/comparison.h"

namespace pistachio {

using kernels::Comparison;

// bool [rows]. Both of the same type and length.
at::Tensor compare_columns(const Column& left, Comparison comparison, const Column& right);
// bool [rows]. The constant is not NULL and of the column's type.
at::Tensor compare_with_constant(const Column& column, Comparison comparison, const ScalarValue& constant);

// bool [rows]: equal, or both NULL.
at::Tensor same_rows(const Column& left, const Column& right);

// bool [rows]: value < least or value > greatest. For exact types.
at::Tensor is_outside(const Column& column, Int128 least, Int128 greatest);

}  // namespace pistachio
