// Sorts numbers with a key in the high bits and a position in the low bits: a radix sort that moves eight bytes per row for both. Raw
// memory, one thread.
#pragma once

#include <cstdint>

#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels::cpu {

// Sorts ascending by the bits [low_bit, high_bit) of the numbers; the lower ones ascend already, the higher ones are zero. The result is
// in `numbers`; `scratch` has room for as many. Polls `stop` between strips of the numbers.
void radix_sort(uint64_t* numbers, uint64_t* scratch, int64_t count, int low_bit, int high_bit, const StopCheck& stop);

}  // namespace pistachio::kernels::cpu
