// Schemas and entry points of the operations on the memory of a device.
#include "kernels/ops/device_memory.h"

#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

DeviceMemory device_memory(at::Device device) {
  static const auto operation = find_operation<at::Tensor(const at::Tensor&)>("pistachio::device_memory");
  const at::Tensor like = tensor_on(device);
  const at::Tensor counts = operation.redispatch(dispatch_keys(like), like);
  ENSURE_EQ(counts.numel(), 5);
  const int64_t* count = counts.const_data_ptr<int64_t>();
  return {.total = count[0], .free = count[1], .tensors = count[2], .allocated = count[3], .peak = count[4]};
}

void limit_device_memory(at::Device device, int64_t bytes) {
  ENSURE(bytes > 0);
  static const auto operation = find_operation<void(const at::Tensor&, int64_t)>("pistachio::limit_device_memory");
  const at::Tensor like = tensor_on(device);
  operation.redispatch(dispatch_keys(like), like, bytes);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  // int64 CPU [5], the members of DeviceMemory.
  library.def("device_memory(Tensor like) -> Tensor");
  library.def("limit_device_memory(Tensor like, int bytes) -> ()");
}

}  // namespace pistachio::kernels
