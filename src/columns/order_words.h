// Values as 64-bit words whose signed order is that of the values: what sorting and range joins compare.
#pragma once

#include <vector>

#include "data/column.h"

namespace pistachio {

// int64 [rows] each, the most significant first; NULLs have any word. Numbers, dates and times of at most 64 bits have one word, and the
// words of two columns of one type can be compared. Those of text are ranks among the rows of this column.
std::vector<at::Tensor> order_words(const Column& column);

// Lengths of intervals [rows, 2] as 128-bit numbers [rows, 2]: days of 24 hours, 30 to the month, above microseconds of the last day. A
// length of many years needs more than 64 bits.
at::Tensor interval_lengths(const at::Tensor& intervals);

// Intervals [rows, 2] as 128-bit numbers [rows, 2] in their order, and back. Among those of equal length, such as 1 month and 30 days,
// the order is any, but always the same. Only for lengths of up to 292,000 years, which 64 bits of microseconds hold.
at::Tensor ordered_intervals(const at::Tensor& intervals);
at::Tensor intervals_of_ordered(const at::Tensor& ordered);

}  // namespace pistachio
