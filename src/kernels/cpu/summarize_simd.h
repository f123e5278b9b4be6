// The inner loops of summarize and summarize_dictionary, on raw memory.
#pragma once

#include <cstdint>

#include "kernels/cpu/value_kind.h"
#include "kernels/ops/int128.h"

namespace pistachio::kernels::cpu {

struct IntegerSummary {
  int64_t count = 0;
  int64_t min = 0;  // zeros if count is 0
  int64_t max = 0;
  Int128 sum = 0;
};

struct FloatSummary {
  int64_t count = 0;
  double min = 0;
  double max = 0;
  double sum = 0;
};

// Null `validity`: all rows are valid. Null `codes`: row i is values[i]; else values[codes[i]], of `entries` values.
IntegerSummary summarize_integers(ValueKind kind, const void* values, int64_t entries, const int32_t* codes, const uint8_t* validity,
                                  int64_t rows);
FloatSummary summarize_floats(ValueKind kind, const void* values, int64_t entries, const int32_t* codes, const uint8_t* validity,
                              int64_t rows);

}  // namespace pistachio::kernels::cpu
