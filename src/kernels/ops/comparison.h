// The six comparisons of kernels. Bodies take it as int64.
#pragma once

#include <cstdint>

namespace pistachio::kernels {

enum class Comparison : int64_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

}  // namespace pistachio::kernels
