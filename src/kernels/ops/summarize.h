// Count, min, max and sum of a column in one pass.
//   values    [n] of any column dtype, or int64 [n, 2]
//   validity  bool [n], or undefined: no NULLs
// Integer sums are exact in 128 bits; float is summed in double. UserError: a sum of two-word decimals does not fit 128 bits.
// summarize_dictionary does the same for dictionary[codes] without materializing the values; codes are trusted as in dictionary_gather.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/ops/column_summary.h"

namespace pistachio::kernels {

ColumnSummary summarize(const at::Tensor& values, const at::Tensor& validity = {});
ColumnSummary summarize_dictionary(const at::Tensor& dictionary, const at::Tensor& codes, const at::Tensor& validity = {});

}  // namespace pistachio::kernels
