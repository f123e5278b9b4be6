// A tree of folds over all rows, which folds any range in a number of steps that grows with the logarithm of its length. For associative
// operations without an inverse, and floating-point sums, which lose digits by subtraction. Device code of .cu files.
// Node j of level l is the fold of rows [j * 8^l, (j + 1) * 8^l); nodes that would reach past the last row are left out. Level 0 is the
// rows themselves; the other levels follow one another in an array of at most rows / 7 nodes.
// A Fold has
//   Value                 a folded value
//   none()                the fold of no rows
//   of(row)               the fold of a row
//   combine(left, right)  where the rows of `left` are before those of `right`
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

constexpr int node_bits = 3;
constexpr int64_t node_children = int64_t{1} << node_bits;
// A shorter range is folded node by node: at most one node of the level above lies inside it.
constexpr int64_t short_range = 2 * node_children;

// A node of the first level.
template <typename Fold>
struct NodeOfRows {
  Fold fold;
  __device__ typename Fold::Value operator()(int64_t node) const {
    const int64_t first = node * node_children;
    typename Fold::Value value = fold.of(first);
#pragma unroll
    for (int64_t i = 1; i < node_children; ++i) value = Fold::combine(value, fold.of(first + i));
    return value;
  }
};

// A node of the levels above.
template <typename Fold>
struct InnerNode {
  const typename Fold::Value* nodes;  // the level below
  __device__ typename Fold::Value operator()(int64_t node) const {
    const int64_t first = node * node_children;
    typename Fold::Value value = nodes[first];
#pragma unroll
    for (int64_t i = 1; i < node_children; ++i) value = Fold::combine(value, nodes[first + i]);
    return value;
  }
};

template <typename Fold>
struct RangeTree {
  using Value = typename Fold::Value;
  Fold fold;
  const Value* nodes;  // of the first level
  int64_t rows;

  // On each level takes the nodes at both ends whose parents reach out of the range.
  __device__ Value of_range(int64_t begin, int64_t end) const {
    Value left = Fold::none(), right = Fold::none();
    if (end - begin < short_range) {
      for (; begin < end; ++begin) left = Fold::combine(left, fold.of(begin));
      return left;
    }
    for (; begin % node_children != 0; ++begin) left = Fold::combine(left, fold.of(begin));
    for (; end % node_children != 0; --end) right = Fold::combine(fold.of(end - 1), right);
    const Value* level = nodes;
    int64_t count = rows >> node_bits;
    begin >>= node_bits;
    end >>= node_bits;
    while (end - begin >= short_range) {
      for (; begin % node_children != 0; ++begin) left = Fold::combine(left, level[begin]);
      for (; end % node_children != 0; --end) right = Fold::combine(level[end - 1], right);
      level += count;
      count >>= node_bits;
      begin >>= node_bits;
      end >>= node_bits;
    }
    for (; begin < end; ++begin) left = Fold::combine(left, level[begin]);
    return Fold::combine(left, right);
  }
};

}  // namespace pistachio::kernels::cuda
