// What can be wrong with a run-length stream: its text, and whether it holds as many values as are asked for.
#pragma once

#include <cstdint>

#include "kernels/cpu/rle_runs.h"

namespace pistachio::kernels::cpu {

// Throws DataError with the offset in the `bytes` tensor.
[[noreturn]] void throw_rle_problem(RleProblem problem, int64_t offset);

// Throws DataError when the runs in bytes[begin, end) hold fewer than `needed` values, so that no memory is taken for a count that lies.
// Cheap: the runs are counted only where bit-packed ones could not hold the values, and then their bytes are few.
void check_run_counts(const uint8_t* bytes, int64_t begin, int64_t end, int64_t bit_width, int64_t needed);

}  // namespace pistachio::kernels::cpu
