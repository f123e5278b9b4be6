// Counts and sums per group; each call adds a batch of rows to the state.
//   counts, sums  the state, contiguous, modified in place: int64 [g]; int64 [g, 2], 128-bit in two words; double [g]
//   ids           int64 [n], the group of each row, in [0, g): not checked
//   values        [n] integers, booleans or int64 [n, 2] for segment_sum; float or double for segment_sum_float
//   validity      bool [n], or undefined: no NULLs. Rows where it is false are ignored
// segment_sum is exact. UserError, after which the state may be partly updated: a sum of two-word values overflows 128 bits (sums of 64-bit
// values cannot). segment_sum_float adds in double, in unspecified order.
// sums_fit: whether the values are so small that no sum can overflow, whatever their groups. The caller of segment_sum may pass the answer,
// which saves it the check. On a GPU it can be deferred (deferred_checks.h): it then answers yes.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

void segment_count(at::Tensor& counts, const at::Tensor& ids, const at::Tensor& validity = {});
void segment_sum(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const at::Tensor& validity = {}, bool fit = false);
bool sums_fit(const at::Tensor& sums, const at::Tensor& values, const at::Tensor& validity = {});
void segment_sum_float(at::Tensor& sums, const at::Tensor& ids, const at::Tensor& values, const at::Tensor& validity = {});

}  // namespace pistachio::kernels
