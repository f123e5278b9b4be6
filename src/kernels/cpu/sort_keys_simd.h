// The inner loops that convert the words of sort_order to numbers for radix_sort, on raw memory. `rows` selects the rows; null means 0 ..
// count - 1.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

struct WordRange {
  int64_t least, greatest;
};
// Needs at least one word.
WordRange range_of_words(const int64_t* words, const int64_t* rows, int64_t count);
// numbers[i] = numbers[i] << bits | (word - least) >> dropped, where word belongs to the i-th row.
void append_words(const int64_t* words, const int64_t* rows, int64_t count, int64_t least, int dropped, int bits, uint64_t* numbers);
// numbers[i] = numbers[i] << bits | i.
void append_positions(int64_t count, int bits, uint64_t* numbers);
// out[i] = the row whose position is in the lowest bits of numbers[i].
void rows_of_positions(const uint64_t* numbers, int64_t count, int bits, const int64_t* rows, int64_t* out);

}  // namespace pistachio::kernels::cpu
