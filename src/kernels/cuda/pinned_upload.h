// Uploads of host memory through torch's pool of pinned memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels::cuda {

// Copies `bytes` bytes to `target`, which has at least as many, on the current stream of its device. Does not wait.
void upload_to(const at::Tensor& target, const void* source, int64_t bytes);

}  // namespace pistachio::kernels::cuda
