// Counts and sums per group on the GPU. A 128-bit sum takes two 64-bit atomics: the low word's previous value reveals the carry, and most
// rows do not touch the high word.
#include "kernels/cuda/segment_sum_cuda.h"

#include <type_traits>

#include "kernels/cuda/segment_fold.h"

namespace pistachio::kernels::cuda {

namespace {

using Word = unsigned long long;

struct CountFold {
  using Cell = unsigned;
  using State = Word;
  __device__ static Cell identity() { return 0; }
  __device__ void add(Cell* cell, int64_t, int64_t) const { atomicAdd(cell, 1u); }
  __device__ static void combine(Cell& into, Cell cell) { into += cell; }
  __device__ static void flush(State* state, Cell cell) {
    if (cell != 0) atomicAdd(state, static_cast<Word>(cell));
  }
  __device__ void add_to_state(State* state, int64_t, int64_t) const { atomicAdd(state, Word{1}); }
};

struct SumWords {
  Word low, high;
};

__device__ void add_atomically(SumWords* sum, SumWords addend) {
  const Word before = atomicAdd(&sum->low, addend.low);
  const Word high = addend.high + (before + addend.low < before ? 1 : 0);
  if (high != 0) atomicAdd(&sum->high, high);
}

template <typename T>
struct SumFold {
  using Cell = SumWords;
  using State = SumWords;
  const T* values;

  __device__ static Cell identity() { return {0, 0}; }
  __device__ void add(Cell* cell, int64_t row, int64_t) const {
    if constexpr (std::is_same_v<T, WideWords>) {
      const WideWords value = values[row];
      add_atomically(cell, {static_cast<Word>(value.low), static_cast<Word>(value.high)});
    } else {
      const auto value = static_cast<int64_t>(values[row]);
      add_atomically(cell, {static_cast<Word>(value), static_cast<Word>(value >> 63)});
    }
  }
  __device__ static void combine(Cell& into, Cell cell) {
    into.low += cell.low;
    into.high += cell.high + (into.low < cell.low ? 1 : 0);
  }
  __device__ static void flush(State* state, Cell cell) { add_atomically(state, cell); }
  __device__ void add_to_state(State* state, int64_t row, int64_t group) const { add(state, row, group); }
};

template <typename T>
struct FloatSumFold {
  using Cell = double;
  using State = double;
  const T* values;

  __device__ static Cell identity() { return 0; }
  __device__ void add(Cell* cell, int64_t row, int64_t) const { atomicAdd(cell, static_cast<double>(values[row])); }
  __device__ static void combine(Cell& into, Cell cell) { into += cell; }
  __device__ static void flush(State* state, Cell cell) {
    if (cell != 0) atomicAdd(state, cell);  // also true for NaN
  }
  __device__ void add_to_state(State* state, int64_t row, int64_t group) const { add(state, row, group); }
};

}  // namespace

void count_segments(int64_t* counts, int64_t groups, const int64_t* ids, const bool* valid, int64_t rows, cudaStream_t stream) {
  fold_segments(CountFold{}, reinterpret_cast<Word*>(counts), groups, ids, valid, rows, stream);
}

void sum_segments(ValueKind kind, int64_t* sums, int64_t groups, const int64_t* ids, const void* values, const bool* valid, int64_t rows,
                  cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (!std::is_floating_point_v<T>) {
      fold_segments(SumFold<T>{static_cast<const T*>(values)}, reinterpret_cast<SumWords*>(sums), groups, ids, valid, rows, stream);
    }
  });
}

void sum_float_segments(ValueKind kind, double* sums, int64_t groups, const int64_t* ids, const void* values, const bool* valid,
                        int64_t rows, cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_floating_point_v<T>) {
      fold_segments(FloatSumFold<T>{static_cast<const T*>(values)}, sums, groups, ids, valid, rows, stream);
    }
  });
}

}  // namespace pistachio::kernels::cuda
