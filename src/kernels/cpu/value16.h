// Sixteen bytes that move as one value: wide decimals and intervals.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

struct Value16 {
  uint64_t words[2];
};

}  // namespace pistachio::kernels::cpu
