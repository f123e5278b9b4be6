// How lanes divide retained rows: contiguous ranges, a few per lane so that all lanes finish at about the same time, and the radix
// partitions (kernels/ops/radix_scatter.h) into which the rows of all ranges are scattered.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <vector>

#include "exec/core/operator.h"

namespace pistachio {

class LaneRanges {
 public:
  LaneRanges(const RunContext& context, int64_t rows);

  int64_t count() const { return (rows_ + step_ - 1) / step_; }
  int64_t begin(int64_t range) const { return range * step_; }
  int64_t rows(int64_t range) const { return std::min(step_, rows_ - begin(range)); }

 private:
  int64_t rows_;
  int64_t step_;
};

// `counts`: int64 [parts] for each range, the number of its rows in each partition; becomes where they go in the output, which has the
// partitions one after the other and in each of them the ranges in order. Returns int64 [parts]: the ends of the partitions.
at::Tensor place_parts(std::vector<at::Tensor>& counts);

}  // namespace pistachio
