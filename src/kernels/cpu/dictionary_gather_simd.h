// The inner loop of dictionary_gather, on raw memory. Values are moved by their size in bytes: 1, 2, 4, 8 or 16.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

// Every code must be in [0, entries).
void gather_values(const void* dictionary, int64_t entries, int64_t value_bytes, const int32_t* codes, int64_t rows, void* out);

}  // namespace pistachio::kernels::cpu
