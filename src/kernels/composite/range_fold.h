// Folds of ranges of rows for the reference bodies, with any associative operation, by stock ATen calls on any device. After step i each row
// holds the fold of 2^i rows from it on; a range is made of those that the bits of its length choose.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

using FoldState = std::vector<at::Tensor>;  // tensors of equal length: together the state of each row

// combine(left, right) folds two states elementwise. `rows`: the state of each row; `none`: one row, the state of no rows.
template <typename Combine>
FoldState fold_ranges(FoldState rows, const FoldState& none, const at::Tensor& begins, const at::Tensor& ends,
                      const std::optional<at::Tensor>& stop, const Combine& combine) {
  const StopCheck check(stop);
  const int64_t count = rows[0].size(0), results = begins.size(1);
  FoldState folded;
  for (const at::Tensor& state : none) folded.push_back(state.expand({results}).contiguous());
  const auto where = [](const at::Tensor& chosen, const FoldState& yes, const FoldState& no) {
    FoldState made;
    for (size_t i = 0; i < yes.size(); ++i) made.push_back(at::where(chosen, yes[i], no[i]));
    return made;
  };
  for (int64_t part = 0; part < begins.size(0) && count > 0 && results > 0; ++part) {
    at::Tensor place = begins.select(0, part).clone();
    const at::Tensor length = (ends.select(0, part) - place).clamp_min(0);
    const int64_t longest = length.max().item<int64_t>();
    FoldState level = rows;
    for (int64_t step = 1; step <= longest; step *= 2) {
      check();
      const at::Tensor takes = length.bitwise_and(step).ne(0);
      const at::Tensor from = place.clamp(0, count - 1);
      FoldState taken;
      for (const at::Tensor& state : level) taken.push_back(state.index_select(0, from));
      folded = where(takes, combine(folded, taken), folded);
      place = at::where(takes, place + step, place);
      if (step >= count) continue;
      FoldState left, right;
      for (const at::Tensor& state : level) {
        left.push_back(state.narrow(0, 0, count - step));
        right.push_back(state.narrow(0, step, count - step));
      }
      FoldState next = combine(left, right);
      for (size_t i = 0; i < level.size(); ++i) level[i] = concatenate_tensors({next[i], level[i].narrow(0, count - step, step)});
    }
  }
  return folded;
}

}  // namespace pistachio::kernels::composite
