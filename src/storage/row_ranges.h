// A sorted list of disjoint row ranges of a row group: which rows may still be wanted.
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

  // Ranges are added in order; touching ones are joined.
  void add(int64_t begin, int64_t end);
  RowRanges intersect(const RowRanges& other) const;
  bool overlaps(int64_t begin, int64_t end) const;
  bool covers(int64_t begin, int64_t end) const;
  bool is_empty() const { return ranges_.empty(); }
  int64_t rows() const;
  const std::vector<RowRange>& ranges() const { return ranges_; }

  // bool [end - begin]: true for the rows inside. Undefined when all are.
  at::Tensor mask(int64_t begin, int64_t end) const;

 private:
  std::vector<RowRange> ranges_;
};

}  // namespace pistachio
