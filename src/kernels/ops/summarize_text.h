// Count, characters, bytes, minimum and maximum of a text column. Characters are UTF-8 code points, counted as bytes that are not
// continuation bytes (10xxxxxx), so that invalid text can be counted too and is never rejected.
//   bytes, begins, ends  text of n values; every [begins[i], ends[i]) is inside bytes
//   validity             bool [n], or undefined: no NULLs
// summarize_text_dictionary takes the dictionary's text (d entries) and codes int32 [n], trusted as in dictionary_gather; it computes
// each entry's length once, and its min_index and max_index are dictionary entries used by a valid row.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/ops/column_summary.h"

namespace pistachio::kernels {

TextSummary summarize_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& validity = {});
TextSummary summarize_text_dictionary(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& codes,
                                      const at::Tensor& validity = {});

}  // namespace pistachio::kernels
