// Work on many rows whose need for memory is not known before: all rows at once, or, where an allocation is refused, fewer at a time.
//   FittingRanges ranges(rows);
//   while (!ranges.is_done()) {
//     auto made = ranges.try_next(make);
//     if (!made) { /* free memory, if there is a way */ continue; }
//     ...
//   }
// Used by one task.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "memory/refusable_call.h"

namespace pistachio {

class FittingRanges {
 public:
  // `step`: rows at a time to begin with.
  explicit FittingRanges(int64_t rows, int64_t step = std::numeric_limits<int64_t>::max())
      : rows_(rows), step_(std::max<int64_t>(1, step)) {}

  bool is_done() const { return begin_ >= rows_; }
  // For how many rows try_next() will call `make`.
  int64_t next_rows() const { return std::min(step_, rows_ - begin_); }

  // make(begin, count) for the next rows; it has no effect if it throws OutOfMemory. Nullopt if it did: the next call is for fewer rows.
  // Throws OutOfMemory if there are too few rows to be the reason.
  template <typename Make>
  auto try_next(const Make& make) {
    std::optional<std::invoke_result_t<const Make&, int64_t, int64_t>> made;
    const int64_t count = next_rows();
    try {
      const RefusableAllocations call(attempts_ == 0);
      made.emplace(make(begin_, count));
    } catch (const OutOfMemory&) {
      ++attempts_;
      if (count >= 2 * least_rows()) {
        step_ = (count + 1) / 2;
      } else if (attempts_ >= kMaxAttempts) {
        throw;
      }
      return made;
    }
    begin_ += count;
    attempts_ = 0;
    return made;
  }

 private:
  // With so few rows, something else takes the memory.
  static int64_t least_rows() { return RefusableAllocations::are_refused() ? 1 : 1024; }

  // Attempts of a call that cannot be divided any more. Other tasks may free memory meanwhile.
  static constexpr int kMaxAttempts = 3;

  const int64_t rows_;
  int64_t step_;
  int64_t begin_ = 0;
  int attempts_ = 0;  // that failed since the last success
};

}  // namespace pistachio
