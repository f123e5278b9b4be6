// Values as 64-bit words whose signed order is the order of the values; used by sorting and range joins.
#pragma once

#include <vector>

#include "data/column.h"

namespace pistachio {

// int64 [rows] each, the most significant first; arbitrary for NULLs. Numbers, dates and times of at most 64 bits have one word, and the
// words of two columns of one type are comparable. Words of text are ranks among the rows of this column; ranking them can be stopped, as
// in kernels/ops/stop_flag.h.
std::vector<at::Tensor> order_words(const Column& column, const at::Tensor& stop = {});

// Lengths of intervals [rows, 2] as 128-bit numbers [rows, 2]: days (24 hours each, 30 per month) in the high word, microseconds of the
// last day in the low word. Long intervals exceed 64 bits of microseconds.
at::Tensor interval_lengths(const at::Tensor& intervals);

}  // namespace pistachio
