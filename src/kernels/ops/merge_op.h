// How combine_rows merges the state words of two rows with equal keys: `older` is in the table, `newer` arrives. No ATen header: the inner
// loops include it.
#pragma once

#include <cstdint>

namespace pistachio::kernels {

enum class MergeOp : int64_t {
  AddInt64,   // wraps: for counts, and for sums that the caller knows to fit
  AddInt128,  // two words, low first
  AddDouble,
  MinInt64,
  MaxInt64,
  MinDouble,  // NaN is greater than every number; of equal values (0.0 and -0.0, two NaNs) the older stays
  MaxDouble,
  And,
  Or,
  Xor,
  KeepFirst,   // the older
  AddMoments,  // three doubles: count, mean and m2, as moments_merge (segment_moments.h) merges them
};
inline constexpr int64_t merge_op_count = 12;

constexpr int64_t merge_op_words(MergeOp op) {
  return op == MergeOp::AddMoments ? 3 : op == MergeOp::AddInt128 ? 2 : 1;
}

}  // namespace pistachio::kernels
