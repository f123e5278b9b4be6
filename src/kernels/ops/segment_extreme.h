// Smallest or greatest value per group.
// segment_extreme adds a batch of rows to the state:
//   best      the state, contiguous and changed: [g], or [g, 2] for two-word values; means nothing where seen is false
//   seen      the state, contiguous and changed: bool [g], whether the group has a value yet
//   ids       int64 [n], the group of each row, in [0, g): not checked
//   values    [n] or int64 [n, 2] of the dtype of best. NaN is greater than every number, as in PostgreSQL
//   take_max  the greatest, else the smallest
//   validity  bool [n], or undefined: no NULLs. Rows where it is false change nothing
// segment_extreme_text returns int64 [groups]: per group the first of its rows with the smallest or greatest text, by unsigned bytes;
// -1 where there is none.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

void segment_extreme(at::Tensor& best, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, bool take_max,
                     const at::Tensor& validity = {});
at::Tensor segment_extreme_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& ids,
                                int64_t groups, bool take_max, const at::Tensor& validity = {});

}  // namespace pistachio::kernels
