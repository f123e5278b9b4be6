// The inner loops that turn the words of sort_order into numbers for radix_sort, for raw memory. Each takes the rows to look at, or a null
// pointer for the rows 0 .. count - 1.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

struct WordRange {
  int64_t least, greatest;
};
// Of at least one word.
WordRange range_of_words(const int64_t* words, const int64_t* rows, int64_t count);
// numbers[i] = numbers[i] << bits | (word - least) >> dropped, of the word of row i.
void append_words(const int64_t* words, const int64_t* rows, int64_t count, int64_t least, int dropped, int bits, uint64_t* numbers);
// numbers[i] = numbers[i] << bits | i.
void append_positions(int64_t count, int bits, uint64_t* numbers);
// out[i] = the row whose position is in the lowest bits of numbers[i].
void rows_of_positions(const uint64_t* numbers, int64_t count, int bits, const int64_t* rows, int64_t* out);

}  // namespace pistachio::kernels::cpu
