// Folds of ranges of rows on the GPU, one thread per range, by a tree over the rows (range_tree.h): a range costs a logarithm of its
// length, whatever its neighbours are. One launch per level of the tree, with an eighth of the nodes of the level below.
// Additions and multiplications of moments are never fused, as on the CPU.
#include "kernels/cuda/range_fold_cuda.h"

#include <type_traits>

#include "kernels/cuda/range_tree.h"
#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

template <bool take_max>
struct ExtremeFold {
  struct alignas(16) Value {
    int64_t word;
    int64_t row;  // -1: none
  };
  const int64_t* words;
  const bool* valid;

  __device__ static Value none() { return {0, -1}; }
  __device__ Value of(int64_t row) const { return {words[row], valid == nullptr || valid[row] ? row : -1}; }
  __device__ static Value combine(const Value& left, const Value& right) {
    const bool is_better = take_max ? right.word > left.word : right.word < left.word;
    return right.row >= 0 && (left.row < 0 || is_better) ? right : left;
  }
  __device__ static void store(const Value& value, int64_t range, int64_t* out) { out[range] = value.row; }
};

template <BitFoldOp op>
struct BitFold {
  using Value = int64_t;
  const int64_t* words;
  const bool* valid;

  __device__ static Value none() { return bit_identity<op, Value>(); }
  __device__ Value of(int64_t row) const { return valid == nullptr || valid[row] ? words[row] : none(); }
  __device__ static Value combine(Value left, Value right) { return combine_bits<op>(left, right); }
  __device__ static void store(Value value, int64_t range, int64_t* out) { out[range] = value; }
};

template <typename T>
struct FloatSumFold {
  using Value = double;
  const T* values;
  const bool* valid;

  __device__ static Value none() { return 0; }
  __device__ Value of(int64_t row) const { return valid == nullptr || valid[row] ? static_cast<double>(values[row]) : 0; }
  __device__ static Value combine(Value left, Value right) { return left + right; }
  __device__ static void store(Value value, int64_t range, double* out) { out[range] = value; }
};

template <typename T>
struct MomentFold {
  struct Value {
    double count, mean, squares;
  };
  const T* values;
  const bool* valid;

  __device__ static Value none() { return {0, 0, 0}; }
  __device__ Value of(int64_t row) const { return valid == nullptr || valid[row] ? Value{1, static_cast<double>(values[row]), 0} : none(); }
  __device__ static Value combine(const Value& left, const Value& right) {
    if (left.count == 0) return right;
    if (right.count == 0) return left;
    const double total = left.count + right.count, distance = right.mean - left.mean, share = right.count / total;
    const double added = __dmul_rn(__dmul_rn(distance, distance), __dmul_rn(left.count, share));
    return {total, __dadd_rn(left.mean, __dmul_rn(distance, share)), __dadd_rn(left.squares + right.squares, added)};
  }
  __device__ static void store(const Value& value, int64_t range, double* out) {
    out[3 * range] = value.count;
    out[3 * range + 1] = value.mean;
    out[3 * range + 2] = value.squares;
  }
};

template <typename Fold, typename Out>
struct FoldOfRange {
  RangeTree<Fold> tree;
  RowRanges ranges;
  Out* out;
  __device__ void operator()(int64_t range) const {
    typename Fold::Value value = tree.of_range(ranges.begins[range], ranges.ends[range]);
    for (int64_t place = range + ranges.count; place < ranges.parts * ranges.count; place += ranges.count) {
      value = Fold::combine(value, tree.of_range(ranges.begins[place], ranges.ends[place]));
    }
    Fold::store(value, range, out);
  }
};

template <typename Fold, typename Out>
void fold_all(const Fold& fold, int64_t rows, const RowRanges& ranges, Out* out, ScratchMemory& scratch, cudaStream_t stream) {
  using Value = typename Fold::Value;
  if (ranges.count == 0) return;
  Value* nodes = scratch.take<Value>(rows / (node_children - 1));
  Value* level = nodes;
  if (rows >= short_range) map_rows(rows >> node_bits, level, NodeOfRows<Fold>{fold}, stream);
  for (int64_t count = rows >> node_bits; count >= short_range; count >>= node_bits) {
    map_rows(count >> node_bits, level + count, InnerNode<Fold>{level}, stream);
    level += count;
  }
  for_rows(ranges.count, FoldOfRange<Fold, Out>{{fold, nodes, rows}, ranges, out}, stream);
}

}  // namespace

void fold_extremes(const int64_t* words, const bool* valid, int64_t rows, const RowRanges& ranges, bool take_max, int64_t* out,
                   ScratchMemory& scratch, cudaStream_t stream) {
  if (take_max) {
    fold_all(ExtremeFold<true>{words, valid}, rows, ranges, out, scratch, stream);
  } else {
    fold_all(ExtremeFold<false>{words, valid}, rows, ranges, out, scratch, stream);
  }
}

void fold_bits(const int64_t* words, const bool* valid, int64_t rows, const RowRanges& ranges, BitFoldOp op, int64_t* out,
               ScratchMemory& scratch, cudaStream_t stream) {
  switch (op) {
    case BitFoldOp::And: return fold_all(BitFold<BitFoldOp::And>{words, valid}, rows, ranges, out, scratch, stream);
    case BitFoldOp::Or: return fold_all(BitFold<BitFoldOp::Or>{words, valid}, rows, ranges, out, scratch, stream);
    case BitFoldOp::Xor: return fold_all(BitFold<BitFoldOp::Xor>{words, valid}, rows, ranges, out, scratch, stream);
  }
}

void fold_float_sums(ValueKind kind, const void* values, const bool* valid, int64_t rows, const RowRanges& ranges, double* out,
                     ScratchMemory& scratch, cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_floating_point_v<T>) {
      fold_all(FloatSumFold<T>{static_cast<const T*>(values), valid}, rows, ranges, out, scratch, stream);
    }
  });
}

void fold_moments(ValueKind kind, const void* values, const bool* valid, int64_t rows, const RowRanges& ranges, double* out,
                  ScratchMemory& scratch, cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_floating_point_v<T>) {
      fold_all(MomentFold<T>{static_cast<const T*>(values), valid}, rows, ranges, out, scratch, stream);
    }
  });
}

}  // namespace pistachio::kernels::cuda
