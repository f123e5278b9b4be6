// The inner loop of rle_decode, for raw memory; see ops/rle_decode.h for what it means.
#pragma once

#include <cstdint>

#include "kernels/cpu/rle_runs.h"

namespace pistachio::kernels::cpu {

struct RleOutcome {
  RleProblem problem = RleProblem::None;
  int64_t offset = 0;  // bytes from the start of the stream at which the problem was found
  uint32_t max = 0;    // greatest taken value
};

// Steps over `skip` values of the stream [begin, end) and writes the next `take` to out. bit_width is 1..32.
RleOutcome decode_rle(const uint8_t* begin, const uint8_t* end, int bit_width, int64_t skip, int64_t take, uint32_t* out);

}  // namespace pistachio::kernels::cpu
