// Counts characters (UTF-8 code points) of text values, on raw memory.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

struct TextLengths {
  int64_t count = 0;
  int64_t characters = 0;
  int64_t bytes = 0;
};

// Sums over the valid rows; null `validity`: all rows. Value i is data[begins[i], ends[i]).
TextLengths sum_text_lengths(const uint8_t* data, const int64_t* begins, const int64_t* ends, const uint8_t* validity,
                             int64_t rows);

// Number of characters of each value.
void count_characters(const uint8_t* data, const int64_t* begins, const int64_t* ends, int64_t rows, int64_t* characters);

}  // namespace pistachio::kernels::cpu
