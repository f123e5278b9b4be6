// Errors of run-length streams: their messages, and the check that a stream holds enough values.
#pragma once

#include <cstdint>

#include "kernels/cpu/rle_runs.h"

namespace pistachio::kernels::cpu {

// Throws DataError with the offset in the `bytes` tensor.
[[noreturn]] void throw_rle_problem(RleProblem problem, int64_t offset);

// Throws DataError if the runs in bytes[begin, end) hold fewer than `needed` values, before anything is allocated for them. Cheap: runs are
// only walked if bit-packing could not fit that many values into the bytes.
void check_run_counts(const uint8_t* bytes, int64_t begin, int64_t end, int64_t bit_width, int64_t needed);

}  // namespace pistachio::kernels::cpu
