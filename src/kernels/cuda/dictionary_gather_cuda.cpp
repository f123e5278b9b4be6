// CUDA body of dictionary_gather, on torch's current stream of the tensors' device. No synchronization.
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "base/check.h"
#include "kernels/cuda/dictionary_gather_cuda.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor dictionary_gather(const at::Tensor& dictionary, const at::Tensor& codes) {
  const c10::cuda::CUDAGuard guard(dictionary.device());
  const bool wide = dictionary.dim() == 2;
  const int64_t rows = codes.numel(), value_bytes = dictionary.element_size() * (wide ? 2 : 1);
  // Two-word values are moved 16 bytes at a time, so a view that starts at an odd word is copied first.
  const bool aligned = reinterpret_cast<uintptr_t>(dictionary.const_data_ptr()) % static_cast<uintptr_t>(value_bytes) == 0;
  const at::Tensor table = aligned ? dictionary : dictionary.clone();
  at::Tensor values = wide ? at::empty({rows, 2}, dictionary.options()) : at::empty({rows}, dictionary.options());
  const cudaError_t error = gather_values(table.const_data_ptr(), value_bytes, codes.const_data_ptr<int32_t>(), rows,
                                          values.mutable_data_ptr(), c10::cuda::getCurrentCUDAStream());
  ENSURE(error == cudaSuccess, "{}", cudaGetErrorString(error));
  return values;
}

}  // namespace

REGISTER_BODY(Cuda, "dictionary_gather", dictionary_gather);

}  // namespace pistachio::kernels::cuda
