// Sort keys as words: int64 tensors whose signed order, the most significant word first, is the wanted order of the rows. Rows with equal
// keys have equal words, and only those.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "data/column.h"

namespace pistachio {

// Adds the words of one key.
void append_sort_words(const Column& key, bool descending, bool nulls_first, std::vector<at::Tensor>& words);

}  // namespace pistachio
