// The inner loop of rle_decode, on raw memory; see ops/rle_decode.h for the contract.
#pragma once

#include <cstdint>

#include "kernels/cpu/rle_runs.h"

namespace pistachio::kernels::cpu {

struct RleOutcome {
  RleProblem problem = RleProblem::None;
  int64_t offset = 0;  // where the problem was found, from the start of the stream
  uint32_t max = 0;    // maximum of the values taken
};

// Skips `skip` values of the stream [begin, end) and writes the next `take` to `out`. bit_width is 1..32.
RleOutcome decode_rle(const uint8_t* begin, const uint8_t* end, int bit_width, int64_t skip, int64_t take, uint32_t* out);

}  // namespace pistachio::kernels::cpu
