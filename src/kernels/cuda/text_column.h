// The plain view of a text column's three tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/cuda/text_words.h"

namespace pistachio::kernels::cuda {

inline TextColumn text_column(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends) {
  return {bytes.const_data_ptr<uint8_t>(), begins.const_data_ptr<int64_t>(), ends.const_data_ptr<int64_t>()};
}

}  // namespace pistachio::kernels::cuda
