// Looks up ranks of integers, for raw memory; the layout of the ranks is described in ops/key_ranks.h. Compiled per instruction set for its
// bit counts.
#pragma once

#include <cstdint>

#include "kernels/cpu/value_kind.h"

namespace pistachio::kernels::cpu {

struct KeyRanks {
  const uint64_t* words;  // bits and number of smaller values, interleaved
  uint64_t values;        // range of the values, 64 per pair of words
  uint64_t least;

  // Wraps for values below `least`, to far above every range.
  template <typename T>
  uint64_t place_of(T value) const {
    return static_cast<uint64_t>(static_cast<int64_t>(value)) - least;
  }
};

// Writes the rank of each value in [begin, end) of `values`, -1 where there is none. `validity` may be null. The range of the ranks is not
// empty.
void look_up_ranks(const KeyRanks& ranks, ValueKind kind, const void* values, const bool* validity, int64_t begin, int64_t end,
                   int64_t* found);

}  // namespace pistachio::kernels::cpu
