// Walks over ranges of rows whose bounds move forward, as those of window frames do: each row is looked at a constant number of times, however
// long the ranges are. A bound that moves back is allowed and costs a fresh start. Raw pointers, one thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels::cpu {

struct Ranges {
  Ranges(const at::Tensor& first, const at::Tensor& behind)
      : parts(first.size(0)), count(first.size(1)), begins(first.const_data_ptr<int64_t>()), ends(behind.const_data_ptr<int64_t>()) {}
  int64_t begin(int64_t part, int64_t range) const { return begins[part * count + range]; }
  int64_t end(int64_t part, int64_t range) const { return ends[part * count + range]; }

  int64_t parts;
  int64_t count;
  const int64_t* begins;
  const int64_t* ends;
};

// For operations with an inverse: rows are added at the end and removed at the begin. `Total` has add(row) and remove(row).
template <typename Total>
class SlidingTotal {
 public:
  explicit SlidingTotal(Total& total) : total_(total) {}

  // Makes the total that of [begin, end), besides what others added to it.
  void move_to(int64_t begin, int64_t end) {
    if (end < begin) end = begin;
    // Outside of the old range it is cheaper to remove that.
    if (begin >= end_ || begin < begin_ || end < end_) restart(begin);
    for (; end_ < end; ++end_) total_.add(end_);
    for (; begin_ < begin; ++begin_) total_.remove(begin_);
  }

 private:
  void restart(int64_t begin) {
    for (int64_t row = begin_; row < end_; ++row) total_.remove(row);
    begin_ = end_ = begin;
  }

  Total& total_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
};

// For associative operations without an inverse: a queue of two stacks. Rows in front of a border have the fold from them up to the border;
// those behind it are folded as they come. When the begin passes the border, that becomes the end, and the folds are made anew.
// `Fold` has Value, none(), of(row) and combine(left, right), where left has the rows before those of right.
template <typename Fold>
class SlidingFold {
 public:
  using Value = typename Fold::Value;
  explicit SlidingFold(const Fold& fold) : fold_(fold), back_(fold.none()) {}

  Value of_range(int64_t begin, int64_t end) {
    if (begin >= end) return fold_.none();
    if (begin >= end_ || begin < begin_ || end < end_) restart(begin);
    for (; end_ < end; ++end_) back_ = fold_.combine(back_, fold_.of(end_));
    begin_ = begin;
    if (begin == border_) return back_;
    if (begin > border_) move_border();
    return fold_.combine(front_[static_cast<size_t>(begin - front_begin_)], back_);
  }

 private:
  void restart(int64_t begin) {
    begin_ = end_ = border_ = begin;
    back_ = fold_.none();
  }

  void move_border() {
    front_begin_ = begin_;
    front_.resize(static_cast<size_t>(end_ - begin_), fold_.none());
    Value folded = fold_.none();
    for (int64_t row = end_ - 1; row >= begin_; --row) {
      folded = fold_.combine(fold_.of(row), folded);
      front_[static_cast<size_t>(row - begin_)] = folded;
    }
    border_ = end_;
    back_ = fold_.none();
  }

  const Fold& fold_;
  int64_t begin_ = 0;
  int64_t border_ = 0;
  int64_t end_ = 0;
  std::vector<Value> front_;  // of [front_begin_, border_)
  int64_t front_begin_ = 0;
  Value back_;  // of [border_, end_)
};

// Calls write(range, value) with the fold of each range over its parts.
template <typename Fold, typename Write>
void fold_all(const Fold& fold, const Ranges& ranges, const std::optional<at::Tensor>& stop, const Write& write) {
  std::vector<SlidingFold<Fold>> parts(static_cast<size_t>(ranges.parts), SlidingFold<Fold>(fold));
  for_each_strip(ranges.count, StopCheck(stop), [&](int64_t begin, int64_t end) {
    for (int64_t range = begin; range < end; ++range) {
      typename Fold::Value value = parts[0].of_range(ranges.begin(0, range), ranges.end(0, range));
      for (int64_t part = 1; part < ranges.parts; ++part)
        value = fold.combine(value, parts[static_cast<size_t>(part)].of_range(ranges.begin(part, range), ranges.end(part, range)));
      write(range, value);
    }
  });
}

// Calls write(range) when `total` is that of the range.
template <typename Total, typename Write>
void total_all(Total& total, const Ranges& ranges, const std::optional<at::Tensor>& stop, const Write& write) {
  std::vector<SlidingTotal<Total>> parts(static_cast<size_t>(ranges.parts), SlidingTotal<Total>(total));
  for_each_strip(ranges.count, StopCheck(stop), [&](int64_t begin, int64_t end) {
    for (int64_t range = begin; range < end; ++range) {
      for (int64_t part = 0; part < ranges.parts; ++part) {
        parts[static_cast<size_t>(part)].move_to(ranges.begin(part, range), ranges.end(part, range));
      }
      write(range);
    }
  });
}

}  // namespace pistachio::kernels::cpu
