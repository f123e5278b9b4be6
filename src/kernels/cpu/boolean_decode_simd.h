// The inner loops of definition_levels_decode and plain_boolean_decode, on raw memory.
#pragma once

#include <cstdint>

#include "kernels/cpu/rle_runs.h"

namespace pistachio::kernels::cpu {

struct LevelsOutcome {
  RleProblem problem = RleProblem::None;
  bool above_max = false;
  int64_t offset = 0;  // bytes from the start of the stream
  int64_t valid_skipped = 0;
  int64_t valid_taken = 0;
};

// Writes level == max_level as bytes for levels [skip, skip + take) of the stream [begin, end). max_level is at least 1.
LevelsOutcome decode_levels(const uint8_t* begin, const uint8_t* end, uint32_t max_level, int64_t skip, int64_t take, uint8_t* out);

// Expands bits [skip, skip + take) of [begin, end) to bytes; the range must hold them.
void decode_bits(const uint8_t* begin, const uint8_t* end, int64_t skip, int64_t take, uint8_t* out);

}  // namespace pistachio::kernels::cpu
