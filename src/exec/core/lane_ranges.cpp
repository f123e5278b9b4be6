#include "exec/core/lane_ranges.h"

#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

constexpr int64_t kRangesPerLane = 4;

}  // namespace

LaneRanges::LaneRanges(const RunContext& context, int64_t rows)
    : rows_(rows), step_(std::max(context.chunk_rows(), rows / (kRangesPerLane * context.lanes) + 1)) {}

at::Tensor place_parts(std::vector<at::Tensor>& counts) {
  at::Tensor ends = at::zeros_like(counts.at(0));
  for (const at::Tensor& range : counts) ends.add_(range);
  ends = ends.cumsum(0);
  // From the last range to the first: the rows of each end where those of the next one begin.
  at::Tensor next = ends;
  for (size_t i = counts.size(); i-- > 0;) {
    counts[i] = next - counts[i];
    next = counts[i];
  }
  return ends;
}

}  // namespace pistachio
