// Sorted, disjoint row ranges of a row group: the rows that may still match.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace pistachio {

struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const RowRange&) const = default;
};

class RowRanges {
 public:
  RowRanges() = default;
  explicit RowRanges(RowRange whole) { add(whole.begin, whole.end); }

  // Ranges must be added in order; adjacent ones are merged.
  void add(int64_t begin, int64_t end);
  RowRanges intersect(const RowRanges& other) const;
  bool overlaps(int64_t begin, int64_t end) const;
  bool covers(int64_t begin, int64_t end) const;
  bool is_empty() const { return ranges_.empty(); }
  int64_t rows() const;
  const std::vector<RowRange>& ranges() const { return ranges_; }

  // bool [end - begin]: true for rows in a range. Undefined if all are.
  at::Tensor mask(int64_t begin, int64_t end) const;

 private:
  std::vector<RowRange> ranges_;
};

}  // namespace pistachio
