// Result of the summarize kernels: count, min, max and sum of a column's values, exact for integers and decimals. Bodies return it
// as a small CPU tensor (one transfer from a device), which these functions unpack:
//   integers, booleans   int64 [5]   count, min, max, sum low word, sum high word
//   two-word decimals    int64 [7]   count, min low, high, max low, high, sum low, high
//   float, double        double [4]  count, min, max, sum
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kernels/ops/int128.h"

namespace pistachio::kernels {

struct ColumnSummary {
  int64_t count = 0;      // values that are not NULL
  bool floating = false;  // which of the two groups below holds the result
  Int128 min = 0;         // all zeros if count is 0
  Int128 max = 0;
  Int128 sum = 0;
  double float_min = 0;  // NaN is greater than every number, as in PostgreSQL
  double float_max = 0;
  double float_sum = 0;
};

ColumnSummary unpack_summary(const at::Tensor& packed);

struct TextSummary {
  int64_t count = 0;  // values that are not NULL
  int64_t characters = 0;
  int64_t bytes = 0;
  int64_t min_index = -1;  // first of the smallest values by bytes; -1 if count is 0
  int64_t max_index = -1;  // first of the greatest
};

// From int64 [5] in the order of the members.
TextSummary unpack_text_summary(const at::Tensor& packed);

}  // namespace pistachio::kernels
