// Count, mean and sum of squared distances from the mean per group, for variances and standard deviations without the cancellation of
// sums of squares.
//   moments   the state, contiguous, modified in place: double [g, 3], rows {count, mean, m2}; initially zeros
//   ids       int64 [n], the group of each row, in [0, g): not checked
//   values    [n], float or double
//   validity  bool [n], or undefined: no NULLs. Rows where it is false are ignored
//   other     double [n, 3], rows of another such state, to be merged into the groups `ids`; rows with count 0 are ignored
// Rows are added in order, each by: count += 1; distance = value - mean; mean += distance * (1 / count);
// m2 += distance * (value - mean). Merging {count, mean, m2} into a state that is not empty: total = both counts;
// distance = mean - the state's; the state's mean += distance * (count / total); its m2 += m2 + distance^2 * (its count * count / total).
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

void segment_moments(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& values, const at::Tensor& validity = {});
void moments_merge(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& other);

}  // namespace pistachio::kernels
