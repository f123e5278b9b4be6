// Minimum or maximum per group on the GPU. Every value is mapped to a 64-bit key of which the smallest unsigned one is the best, so that
// one atomic minimum serves all types and both directions. Two-word values take two passes: the best high word per group, then the best low
// word among the rows that have it.
// The key `no_key` also means "no value yet"; a row that really has it marks its group.
#include "kernels/cuda/segment_extreme_cuda.h"

#include <type_traits>

#include "kernels/cuda/segment_fold.h"

namespace pistachio::kernels::cuda {

namespace {

using Key = unsigned long long;
constexpr Key no_key = ~Key{0};
constexpr Key sign_bit = Key{1} << 63;

template <typename T>
__device__ Key ascending_key(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    const double number = static_cast<double>(value);
    const Key bits = number != number ? 0x7ff8000000000000 : static_cast<Key>(__double_as_longlong(number));
    return (bits & sign_bit) != 0 ? ~bits : bits ^ sign_bit;  // all NaNs are equal, above infinity
  } else {
    return static_cast<Key>(static_cast<int64_t>(value)) ^ sign_bit;
  }
}

template <typename T>
__device__ T value_of_ascending_key(Key key) {
  if constexpr (std::is_floating_point_v<T>) {
    const Key bits = (key & sign_bit) != 0 ? key ^ sign_bit : ~key;
    return static_cast<T>(__longlong_as_double(static_cast<long long>(bits)));
  } else {
    return static_cast<T>(static_cast<int64_t>(key ^ sign_bit));
  }
}

// The key of a value; `flip` is all ones for the maximum.
template <typename T>
struct KeyOfValue {
  const T* values;
  Key flip;
  __device__ Key operator()(int64_t row) const { return ascending_key(values[row]) ^ flip; }
};

struct KeyOfHighWord {
  const WideWords* values;
  Key flip;
  __device__ Key operator()(int64_t row) const { return ascending_key(values[row].high) ^ flip; }
};

__device__ void take_smaller(Key* cell, Key key) {
  if (key < *static_cast<volatile Key*>(cell)) atomicMin(cell, key);  // once a group has some values, few rows improve it
}

template <typename KeyOf>
struct ExtremeFold {
  using Cell = Key;
  using State = Key;
  KeyOf key_of;
  bool* marked;

  __device__ static Cell identity() { return no_key; }
  __device__ void add(Cell* cell, int64_t row, int64_t group) const {
    const Key key = key_of(row);
    if (key == no_key) marked[group] = true;
    take_smaller(cell, key);
  }
  __device__ static void combine(Cell& into, Cell cell) { into = min(into, cell); }
  __device__ static void flush(State* state, Cell cell) { take_smaller(state, cell); }
  __device__ void add_to_state(State* state, int64_t row, int64_t group) const { add(state, row, group); }
};

struct LowWordFold {
  using Cell = Key;
  using State = Key;
  const WideWords* values;
  const Key* best_high_keys;
  Key flip;

  __device__ static Cell identity() { return no_key; }
  __device__ void add(Cell* cell, int64_t row, int64_t group) const {
    const WideWords value = values[row];
    if ((ascending_key(value.high) ^ flip) == best_high_keys[group]) take_smaller(cell, static_cast<Key>(value.low) ^ flip);
  }
  __device__ static void combine(Cell& into, Cell cell) { into = min(into, cell); }
  __device__ static void flush(State* state, Cell cell) { take_smaller(state, cell); }
  __device__ void add_to_state(State* state, int64_t row, int64_t group) const { add(state, row, group); }
};

// The key of a group's state, or no_key.
template <typename KeyOf>
struct KeyOfState {
  KeyOf key_of;
  const bool* seen;
  __device__ Key operator()(int64_t group) const { return seen[group] ? key_of(group) : no_key; }
};

struct LowKeyOfState {
  const WideWords* best;
  const bool* seen;
  const Key* best_high_keys;
  Key flip;
  __device__ Key operator()(int64_t group) const {
    if (!seen[group] || (ascending_key(best[group].high) ^ flip) != best_high_keys[group]) return no_key;
    return static_cast<Key>(best[group].low) ^ flip;
  }
};

template <typename T>
struct StoreBest {
  T* best;
  bool* seen;
  const Key* keys;
  const bool* marked;
  Key flip;
  __device__ void operator()(int64_t group) const {
    const Key key = keys[group];
    if (key == no_key && !marked[group] && !seen[group]) return;
    best[group] = value_of_ascending_key<T>(key ^ flip);
    seen[group] = true;
  }
};

struct StoreWideBest {
  WideWords* best;
  bool* seen;
  const Key* high_keys;
  const Key* low_keys;
  const bool* marked;
  Key flip;
  __device__ void operator()(int64_t group) const {
    const Key key = high_keys[group];
    if (key == no_key && !marked[group] && !seen[group]) return;
    best[group] = {static_cast<int64_t>(low_keys[group] ^ flip), value_of_ascending_key<int64_t>(key ^ flip)};
    seen[group] = true;
  }
};

}  // namespace

void update_extremes(ValueKind kind, void* best, bool* seen, int64_t groups, const int64_t* ids, const void* values, bool take_max,
                     const bool* valid, int64_t rows, ScratchMemory& scratch, cudaStream_t stream) {
  if (rows == 0) return;
  const Key flip = take_max ? ~Key{0} : 0;
  Key* keys = scratch.take<Key>(groups);
  bool* marked = scratch.take<bool>(groups);
  check_cuda(cudaMemsetAsync(marked, 0, static_cast<size_t>(groups), stream));
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    T* state = static_cast<T*>(best);
    const T* typed = static_cast<const T*>(values);
    if constexpr (std::is_same_v<T, WideWords>) {
      map_rows(groups, keys, KeyOfState<KeyOfHighWord>{{state, flip}, seen}, stream);
      fold_segments(ExtremeFold<KeyOfHighWord>{{typed, flip}, marked}, keys, groups, ids, valid, rows, stream);
      Key* low_keys = scratch.take<Key>(groups);
      map_rows(groups, low_keys, LowKeyOfState{state, seen, keys, flip}, stream);
      fold_segments(LowWordFold{typed, keys, flip}, low_keys, groups, ids, valid, rows, stream);
      for_rows(groups, StoreWideBest{state, seen, keys, low_keys, marked, flip}, stream);
    } else {
      map_rows(groups, keys, KeyOfState<KeyOfValue<T>>{{state, flip}, seen}, stream);
      fold_segments(ExtremeFold<KeyOfValue<T>>{{typed, flip}, marked}, keys, groups, ids, valid, rows, stream);
      for_rows(groups, StoreBest<T>{state, seen, keys, marked, flip}, stream);
    }
  });
}

}  // namespace pistachio::kernels::cuda
