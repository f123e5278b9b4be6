// Minimum or maximum per group.
// segment_extreme adds a batch of rows to the state:
//   best      the state, contiguous, modified in place: [g], or [g, 2] for two-word values; undefined where seen is false
//   seen      the state, contiguous, modified in place: bool [g], whether the group has a value yet
//   ids       int64 [n], the group of each row, in [0, g): not checked
//   values    [n] or int64 [n, 2] of the dtype of best. NaN is greater than every number, as in PostgreSQL
//   take_max  maximum, else minimum
//   validity  bool [n], or undefined: no NULLs. Rows where it is false are ignored
// segment_extreme_text returns int64 [groups]: per group the first of its rows with the minimum or maximum text, by unsigned bytes;
// -1 if there is none.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

void segment_extreme(at::Tensor& best, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, bool take_max,
                     const at::Tensor& validity = {});
at::Tensor segment_extreme_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& ids,
                                int64_t groups, bool take_max, const at::Tensor& validity = {});

}  // namespace pistachio::kernels
