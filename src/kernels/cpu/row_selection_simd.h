// The inner loops of compress, count_true and spread, for raw memory. Values are moved by their size in bytes: 1, 2, 4, 8 or 16.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

int64_t count_true_bytes(const uint8_t* mask, int64_t rows);

// Writes the `selected` values whose mask is true; selected is exactly their number.
void compress_values(const void* values, int64_t value_bytes, const uint8_t* mask, int64_t rows, int64_t selected, void* out);

// Writes `rows` values: the next of `values`, of which there are `stored`, where validity is true, zero elsewhere. stored is exactly the
// number of true ones.
void spread_values(const void* values, int64_t value_bytes, int64_t stored, const uint8_t* validity, int64_t rows, void* out);

}  // namespace pistachio::kernels::cpu
