#include "kernels/ops/dispatch.h"

#include "kernels/ops/kernel_mode.h"

namespace pistachio::kernels {

c10::DispatchKeySet dispatch_keys(const at::Tensor& input) {
  if (kernel_mode() == KernelMode::Composite) return c10::DispatchKeySet(c10::DispatchKey::XLA);
  return input.key_set() & c10::after_ADInplaceOrView_keyset;
}

at::TensorOptions output_options(const at::Tensor& input, at::ScalarType type) {
  return at::TensorOptions(type).device(input.defined() ? input.device() : at::Device(at::kCPU));
}

}  // namespace pistachio::kernels
