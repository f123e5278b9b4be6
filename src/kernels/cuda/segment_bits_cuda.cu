// Bitwise AND, OR or XOR per group on the GPU. Values of up to 32 bits are folded in 32-bit words, others in 64-bit words, whose halves are
// independent in shared memory, where only 32-bit atomics are native. A word that would not change the accumulator takes no atomic.
#include "kernels/cuda/segment_bits_cuda.h"

#include <type_traits>

#include "kernels/cuda/segment_fold.h"

namespace pistachio::kernels::cuda {

namespace {

using Word32 = unsigned;
using Word64 = unsigned long long;

template <BitFoldOp op, typename Word>
__device__ void combine_atomically(Word* cell, Word bits) {
  if constexpr (op == BitFoldOp::Xor) {
    if (bits != 0) atomicXor(cell, bits);
  } else {
    const Word before = *static_cast<volatile Word*>(cell);
    if (combine_bits<op>(before, bits) == before) return;
    if constexpr (op == BitFoldOp::And) {
      atomicAnd(cell, bits);
    } else {
      atomicOr(cell, bits);
    }
  }
}

template <typename Word>
struct BitCell {
  Word bits;
  Word32 any;  // 0: no value yet
};

template <BitFoldOp op, typename T>
struct SegmentBitFold {
  using Word = std::conditional_t<sizeof(T) <= sizeof(Word32), Word32, Word64>;
  using Cell = BitCell<Word>;
  using State = Cell;
  const T* values;

  __device__ static Cell identity() { return {bit_identity<op, Word>(), 0}; }
  __device__ void add(Cell* cell, int64_t row, int64_t) const {
    const auto bits = static_cast<Word>(values[row]);
    if constexpr (std::is_same_v<Word, Word64>) {
      auto* halves = reinterpret_cast<Word32*>(&cell->bits);
      combine_atomically<op>(halves, static_cast<Word32>(bits));
      combine_atomically<op>(halves + 1, static_cast<Word32>(bits >> 32));
    } else {
      combine_atomically<op>(&cell->bits, bits);
    }
    mark(cell);
  }
  __device__ static void combine(Cell& into, Cell cell) {
    into.bits = combine_bits<op>(into.bits, cell.bits);
    into.any |= cell.any;
  }
  __device__ static void flush(State* state, Cell cell) {
    if (cell.any == 0) return;
    combine_atomically<op>(&state->bits, cell.bits);
    mark(state);
  }
  __device__ void add_to_state(State* state, int64_t row, int64_t) const {
    combine_atomically<op>(&state->bits, static_cast<Word>(values[row]));
    mark(state);
  }

 private:
  __device__ static void mark(Cell* cell) { combine_atomically<BitFoldOp::Or>(&cell->any, Word32{1}); }
};

template <BitFoldOp op, typename T>
struct CellOfState {
  using Cell = typename SegmentBitFold<op, T>::Cell;
  const T* bits;
  const bool* seen;
  __device__ Cell operator()(int64_t group) const {
    if (!seen[group]) return SegmentBitFold<op, T>::identity();
    return {static_cast<typename SegmentBitFold<op, T>::Word>(bits[group]), 1};
  }
};

template <typename T, typename Cell>
struct StoreBits {
  T* bits;
  bool* seen;
  const Cell* cells;
  __device__ void operator()(int64_t group) const {
    const Cell cell = cells[group];
    if (cell.any == 0) return;
    bits[group] = static_cast<T>(cell.bits);
    seen[group] = true;
  }
};

template <BitFoldOp op, typename T>
void fold_typed(T* bits, bool* seen, int64_t groups, const int64_t* ids, const T* values, const bool* valid, int64_t rows,
                ScratchMemory& scratch, cudaStream_t stream) {
  using Fold = SegmentBitFold<op, T>;
  using Cell = typename Fold::Cell;
  Cell* cells = scratch.take<Cell>(groups);
  map_rows(groups, cells, CellOfState<op, T>{bits, seen}, stream);
  fold_segments(Fold{values}, cells, groups, ids, valid, rows, stream);
  for_rows(groups, StoreBits<T, Cell>{bits, seen, cells}, stream);
}

}  // namespace

void fold_segment_bits(ValueKind kind, BitFoldOp op, void* bits, bool* seen, int64_t groups, const int64_t* ids, const void* values,
                       const bool* valid, int64_t rows, ScratchMemory& scratch, cudaStream_t stream) {
  if (rows == 0) return;
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      T* state = static_cast<T*>(bits);
      const T* typed = static_cast<const T*>(values);
      switch (op) {
        case BitFoldOp::And: return fold_typed<BitFoldOp::And>(state, seen, groups, ids, typed, valid, rows, scratch, stream);
        case BitFoldOp::Or: return fold_typed<BitFoldOp::Or>(state, seen, groups, ids, typed, valid, rows, scratch, stream);
        case BitFoldOp::Xor: return fold_typed<BitFoldOp::Xor>(state, seen, groups, ids, typed, valid, rows, scratch, stream);
      }
    }
  });
}

}  // namespace pistachio::kernels::cuda
