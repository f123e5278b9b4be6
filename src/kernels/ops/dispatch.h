// Calls the body of an operation through the torch dispatcher, entered below autograd (kernels have no gradients, and its
// fallback would box every call). Only included by ops/*.cpp.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace pistachio::kernels {

// The handle of an operation registered by TORCH_LIBRARY_FRAGMENT(pistachio, m); callers keep it in a static.
template <typename Signature>
c10::TypedOperatorHandle<Signature> find_operation(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

// The keys that select the body for `input`: its device's keys or, in composite mode, a backend without registered bodies, whose slot
// torch fills with the composite body. ATen calls inside that body dispatch by their tensors as usual.
c10::DispatchKeySet dispatch_keys(const at::Tensor& input);

// An empty tensor on the device, for operations without a tensor argument: the dispatcher chooses a body by the device of a tensor.
at::Tensor tensor_on(at::Device device);

// A dtype on the device of `input` (CPU if undefined), for the empty output of an empty page table.
at::TensorOptions output_options(const at::Tensor& input, at::ScalarType type);

}  // namespace pistachio::kernels
