// Functions on tensors whose ATen declarations are expensive to include.
#include "kernels/ops/tensor_functions.h"

#include <ATen/ops/cat.h>

namespace pistachio::kernels {

at::Tensor concatenate_tensors(at::TensorList parts, int64_t dimension) {
  return at::cat(parts, dimension);
}

}  // namespace pistachio::kernels
