#include "kernels/cuda/scratch_memory.h"

#include <algorithm>
#include <vector>

#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

struct ScratchMemory::Blocks {
  std::vector<at::Tensor> tensors;
};

ScratchMemory::ScratchMemory() : blocks_(std::make_unique<Blocks>()) {}
ScratchMemory::~ScratchMemory() = default;

void* ScratchMemory::take_bytes(size_t bytes) {
  const auto size = static_cast<int64_t>(std::max<size_t>(bytes, 1));
  blocks_->tensors.push_back(at::empty({size}, at::TensorOptions(at::kByte).device(at::kCUDA)));
  return blocks_->tensors.back().mutable_data_ptr();
}

}  // namespace pistachio::kernels::cuda
