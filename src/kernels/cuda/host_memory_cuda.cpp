// CUDA bodies of the host memory operations.
#include <torch/library.h>

#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/pinned_upload.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

void* as_address(int64_t number) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(number));
}

bool register_host_memory(const at::Tensor& like, int64_t address, int64_t bytes) {
  const KernelCall call(like);
  const auto flags = cudaHostRegisterPortable | cudaHostRegisterReadOnly;
  const cudaError_t status = cudaHostRegister(as_address(address), static_cast<size_t>(bytes), flags);
  if (status == cudaSuccess) return true;
  (void)cudaGetLastError();  // else the next launch would report it
  return false;
}

void unregister_host_memory(const at::Tensor& like, int64_t address) {
  const KernelCall call(like);
  // Called by destructors. After a failed kernel both report its error, which the query has reported before.
  (void)cudaDeviceSynchronize();
  (void)cudaHostUnregister(as_address(address));
  (void)cudaGetLastError();
}

at::Tensor upload(const at::Tensor& like, const at::Tensor& host) {
  const KernelCall call(like);
  const at::Tensor copy = at::empty(host.sizes(), like.options().dtype(host.scalar_type()));
  upload_to(copy, host.const_data_ptr(), static_cast<int64_t>(host.nbytes()));
  return copy;
}

void upload_ranges(const at::Tensor& target, const at::Tensor& copies) {
  const KernelCall call(target);
  uint8_t* out = target.mutable_data_ptr<uint8_t>();
  auto rows = copies.accessor<int64_t, 2>();
  for (int64_t copy = 0; copy < rows.size(0); ++copy) {
    check_cuda(cudaMemcpyAsync(out + rows[copy][2], as_address(rows[copy][0]), static_cast<size_t>(rows[copy][1]), cudaMemcpyHostToDevice,
                               call.stream()));
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CUDA, library) {
  library.impl("register_host_memory", TORCH_FN(register_host_memory));
  library.impl("unregister_host_memory", TORCH_FN(unregister_host_memory));
  library.impl("upload", TORCH_FN(upload));
  library.impl("upload_ranges", TORCH_FN(upload_ranges));
}

}  // namespace pistachio::kernels::cuda
