// Sort keys as words: int64 tensors whose signed lexicographic order, most significant word first, is the requested order of rows. Rows have
// equal words if and only if their keys are equal.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "data/column.h"

namespace pistachio {

// Appends the words of one key. `stop` as in kernels/ops/stop_flag.h.
void append_sort_words(const Column& key, bool descending, bool nulls_first, std::vector<at::Tensor>& words,
                       const at::Tensor& stop = {});

}  // namespace pistachio
