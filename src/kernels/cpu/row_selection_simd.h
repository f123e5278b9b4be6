// The inner loops of compress, count_true and spread, on raw memory. Values are moved by their size in bytes: 1, 2, 4, 8 or 16.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

int64_t count_true_bytes(const uint8_t* mask, int64_t rows);

// Writes the values whose mask is true; `selected` is their exact number.
void compress_values(const void* values, int64_t value_bytes, const uint8_t* mask, int64_t rows, int64_t selected, void* out);

// Writes `rows` values: the next of the `stored` ones where validity is true, zero elsewhere. `stored` is the exact number of true rows.
void spread_values(const void* values, int64_t value_bytes, int64_t stored, const uint8_t* validity, int64_t rows, void* out);

}  // namespace pistachio::kernels::cpu
