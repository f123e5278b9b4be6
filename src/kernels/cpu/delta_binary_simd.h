// The inner loop of delta_binary_decode, on raw memory; see ops/delta_binary_decode.h for the contract.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

enum class DeltaProblem { None, EndsEarly, NumberTooLong, BlockSize, TooFewValues, BitWidth };

struct DeltaOutcome {
  DeltaProblem problem = DeltaProblem::None;
  int64_t length = 0;  // bytes of the stream; with a problem, the offset where it was found
};

// Writes values [skip, skip + take) of the stream [begin, end).
DeltaOutcome decode_delta(const uint8_t* begin, const uint8_t* end, int64_t skip, int64_t take, bool is_32_bit, int64_t* out);

}  // namespace pistachio::kernels::cpu
