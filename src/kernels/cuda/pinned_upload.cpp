#include "kernels/cuda/pinned_upload.h"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <cstring>

#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/pinned_copy_cuda.h"
#include "kernels/ops/host_memory.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

void upload_to(const at::Tensor& target, const void* source, int64_t bytes) {
  if (bytes == 0) return;
  const at::Tensor pinned = at::empty({bytes}, at::TensorOptions(at::kByte).pinned_memory(true));
  std::memcpy(pinned.mutable_data_ptr(), source, static_cast<size_t>(bytes));
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(target.device().index());
  if (bytes <= kSmallUpload) {
    check_cuda(copy_pinned(pinned.const_data_ptr(), target.mutable_data_ptr(), bytes, stream));
  } else {
    check_cuda(cudaMemcpyAsync(target.mutable_data_ptr(), pinned.const_data_ptr(), static_cast<size_t>(bytes), cudaMemcpyHostToDevice, stream));
  }
  // The pool does not reuse the block before the stream is done with it.
  at::getHostAllocator(at::kCUDA)->record_event(pinned.mutable_data_ptr(), pinned.storage().data_ptr().get_context(), stream.unwrap());
}

}  // namespace pistachio::kernels::cuda
