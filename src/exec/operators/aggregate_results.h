// Results of aggregate calls from their sums, counts and moments, for groups and for window frames.
#pragma once

#include "data/column.h"
#include "expr/aggregate_function.h"

namespace pistachio {

// sum and avg of integers and decimals: `sums` int64 [n, 2], `counts` int64 [n]; NULL where the count is 0. The column shares `sums`. Throws
// UserError if a sum does not fit its type.
Column exact_sum_result(AggregateKind kind, LogicalType argument, LogicalType type, const at::Tensor& sums, const at::Tensor& counts);
// sum and avg of floating-point numbers: `sums` double [n].
Column floating_sum_result(AggregateKind kind, const at::Tensor& sums, const at::Tensor& counts);
// Variances and standard deviations: `moments` double [n, 3] as in kernels/ops/segment_moments.h.
Column moment_result(AggregateKind kind, const at::Tensor& moments);

}  // namespace pistachio
