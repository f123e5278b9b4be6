// The six comparisons, as kernels take them. Through the dispatcher they travel as int64.
#pragma once

#include <cstdint>

namespace pistachio::kernels {

enum class Comparison : int64_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

}  // namespace pistachio::kernels
