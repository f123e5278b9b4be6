// The inner loop of gather_rows, on raw memory. Values are moved by their size in bytes: 1, 2, 4, 8 or 16.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

// Every row must be in [-1, entries), entries > 0; -1 yields zero.
void take_rows(const void* values, int64_t entries, int64_t value_bytes, const int64_t* rows, int64_t count, void* out);

}  // namespace pistachio::kernels::cpu
