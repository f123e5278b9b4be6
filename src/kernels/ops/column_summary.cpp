#include "kernels/ops/column_summary.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"

namespace pistachio::kernels {

ColumnSummary unpack_summary(const at::Tensor& packed) {
  ColumnSummary summary;
  if (packed.scalar_type() == at::kDouble) {
    ENSURE_EQ(packed.numel(), 4);
    const double* words = packed.const_data_ptr<double>();
    summary.floating = true;
    summary.count = static_cast<int64_t>(words[0]);
    summary.float_min = words[1];
    summary.float_max = words[2];
    summary.float_sum = words[3];
    return summary;
  }
  const int64_t* words = packed.const_data_ptr<int64_t>();
  summary.count = words[0];
  if (packed.numel() == 5) {
    summary.min = words[1];
    summary.max = words[2];
    summary.sum = int128_from_words(words[3], words[4]);
  } else {
    ENSURE_EQ(packed.numel(), 7);
    summary.min = int128_from_words(words[1], words[2]);
    summary.max = int128_from_words(words[3], words[4]);
    summary.sum = int128_from_words(words[5], words[6]);
  }
  return summary;
}

TextSummary unpack_text_summary(const at::Tensor& packed) {
  ENSURE_EQ(packed.numel(), 5);
  const int64_t* words = packed.const_data_ptr<int64_t>();
  return {words[0], words[1], words[2], words[3], words[4]};
}

}  // namespace pistachio::kernels
