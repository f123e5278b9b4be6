#include "kernels/ops/dispatch.h"

#include "kernels/ops/kernel_mode.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

c10::DispatchKeySet dispatch_keys(const at::Tensor& input) {
  if (kernel_mode() == KernelMode::Composite) return c10::DispatchKeySet(c10::DispatchKey::XLA);
  return input.key_set() & c10::after_ADInplaceOrView_keyset;
}

at::Tensor tensor_on(at::Device device) {
  return at::empty({0}, at::TensorOptions(at::kByte).device(device));
}

at::TensorOptions output_options(const at::Tensor& input, at::ScalarType type) {
  return at::TensorOptions(type).device(input.defined() ? input.device() : at::Device(at::kCPU));
}

}  // namespace pistachio::kernels
