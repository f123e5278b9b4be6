// The inner loops of hash64, hash64_text and hash64_combine, on raw memory; ops/hash64.h defines the functions.
#pragma once

#include <cstdint>

#include "kernels/cpu/value_kind.h"

namespace pistachio::kernels::cpu {

void hash_values(ValueKind kind, const void* values, int64_t rows, uint64_t* out);
// Two-word values.
void hash_wide(const int64_t* values, int64_t rows, uint64_t* out);
// The integers with these hashes; in place if both are the same memory.
void unhash_integers(const uint64_t* hashes, int64_t rows, uint64_t* out);
void hash_combine(const uint64_t* first, const uint64_t* second, int64_t rows, uint64_t* out);
// Value i is data[begins[i], ends[i]), within the `size` bytes of data.
void hash_text(const uint8_t* data, int64_t size, const int64_t* begins, const int64_t* ends, int64_t rows, uint64_t* out);

}  // namespace pistachio::kernels::cpu
