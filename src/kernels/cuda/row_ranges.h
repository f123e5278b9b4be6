// Ranges of rows of the window kernels: the rows [begins[i, j], ends[i, j]) of all parts i are the range of result j; none where the end is
// not greater. No torch headers: nvcc compiles this too.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cuda {

struct RowRanges {
  const int64_t* begins;  // [parts, count], device memory, as `ends`
  const int64_t* ends;
  int64_t parts;
  int64_t count;
};

}  // namespace pistachio::kernels::cuda
