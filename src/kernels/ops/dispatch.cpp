#include "kernels/ops/dispatch.h"

#include "kernels/ops/kernel_mode.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

Backend backend_of(const at::Tensor& input) {
  if (kernel_mode() == KernelMode::Composite) return Backend::Composite;
  return input.is_cuda() ? Backend::Cuda : Backend::Cpu;
}

at::Tensor tensor_on(at::Device device) {
  return at::empty({0}, at::TensorOptions(at::kByte).device(device));
}

at::TensorOptions output_options(const at::Tensor& input, at::ScalarType type) {
  return at::TensorOptions(type).device(input.defined() ? input.device() : at::Device(at::kCPU));
}

}  // namespace pistachio::kernels
