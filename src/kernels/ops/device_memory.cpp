// Entry points of the operations on the memory of a device.
#include "kernels/ops/device_memory.h"

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

DeviceMemory device_memory(at::Device device) {
  static const Operation<at::Tensor(const at::Tensor&)> operation("device_memory");
  const at::Tensor like = tensor_on(device);
  const at::Tensor counts = operation.on(like)(like);
  ENSURE_EQ(counts.numel(), 5);
  const int64_t* count = counts.const_data_ptr<int64_t>();
  return {.total = count[0], .free = count[1], .tensors = count[2], .allocated = count[3], .peak = count[4]};
}

void limit_device_memory(at::Device device, int64_t bytes) {
  ENSURE(bytes > 0);
  static const Operation<void(const at::Tensor&, int64_t)> operation("limit_device_memory");
  const at::Tensor like = tensor_on(device);
  operation.on(like)(like, bytes);
}

}  // namespace pistachio::kernels
