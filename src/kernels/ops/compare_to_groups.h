// Compares the keys of rows with those of the groups that group_assign gave them, which had equal hashes; for one key column.
//   equal      bool [n], modified: set to false where row and group differ; rows that are false already are skipped
//   ids        int64 [n], the group of each row
//   first_new  the groups from this one on are new, and in order of their first rows: those are not compared, since their groups were made
//              of them
//   groups     the key of each group: values [g], or text of g values
//   rows       the key of each row: values [n] of the same dtype, or text of n values. float: NaNs are equal, and so are 0.0 and -0.0
// Returns whether no row was found to differ.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

bool compare_to_groups(at::Tensor& equal, const at::Tensor& ids, int64_t first_new, const at::Tensor& groups, const at::Tensor& rows);

struct TextTensors {
  const at::Tensor& bytes;
  const at::Tensor& begins;
  const at::Tensor& ends;
};
bool compare_to_groups_text(at::Tensor& equal, const at::Tensor& ids, int64_t first_new, const TextTensors& groups,
                            const TextTensors& rows);

}  // namespace pistachio::kernels
