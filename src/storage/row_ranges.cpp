#include "storage/row_ranges.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

void RowRanges::add(int64_t begin, int64_t end) {
  if (begin >= end) return;
  ENSURE(ranges_.empty() || begin >= ranges_.back().end);
  if (!ranges_.empty() && ranges_.back().end == begin) {
    ranges_.back().end = end;
  } else {
    ranges_.push_back({begin, end});
  }
}

RowRanges RowRanges::intersect(const RowRanges& other) const {
  RowRanges both;
  size_t i = 0;
  size_t j = 0;
  while (i < ranges_.size() && j < other.ranges_.size()) {
    both.add(std::max(ranges_[i].begin, other.ranges_[j].begin), std::min(ranges_[i].end, other.ranges_[j].end));
    if (ranges_[i].end < other.ranges_[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

bool RowRanges::overlaps(int64_t begin, int64_t end) const {
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), begin, [](const RowRange& range, int64_t row) { return range.end <= row; });
  return first != ranges_.end() && first->begin < end;
}

bool RowRanges::covers(int64_t begin, int64_t end) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const RowRange& range) { return range.begin <= begin && end <= range.end; });
}

int64_t RowRanges::rows() const {
  int64_t total = 0;
  for (const RowRange& range : ranges_) total += range.end - range.begin;
  return total;
}

at::Tensor RowRanges::mask(int64_t begin, int64_t end) const {
  if (covers(begin, end)) return {};
  at::Tensor mask = at::zeros({end - begin}, at::kBool);
  for (const RowRange& range : ranges_) {
    int64_t from = std::max(begin, range.begin);
    int64_t to = std::min(end, range.end);
    if (from < to) mask.narrow(0, from - begin, to - from).fill_(true);
  }
  return mask;
}

}  // namespace pistachio
