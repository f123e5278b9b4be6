// The text of what can be wrong with a run-length or delta stream.
#pragma once

#include <cstdint>

#include "kernels/cpu/rle_runs.h"

namespace pistachio::kernels::cpu {

// Throws DataError with the offset in the `bytes` tensor.
[[noreturn]] void throw_rle_problem(RleProblem problem, int64_t offset);

}  // namespace pistachio::kernels::cpu
