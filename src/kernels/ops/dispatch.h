// How a front door reaches a body: through the torch dispatcher, entered below autograd (kernels have no gradients, and its
// fallback would box every call). Only the front doors (ops/*.cpp) include this.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace pistachio::kernels {

// The handle of an operation registered by TORCH_LIBRARY_FRAGMENT(pistachio, m); front doors keep it in a static.
template <typename Signature>
c10::TypedOperatorHandle<Signature> find_operation(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

// The keys that pick the body for `input`: those of its device, or, in composite mode, a backend that nobody registers a body for,
// whose slot torch therefore fills with the composite body. ATen calls inside that body dispatch by their tensors as always.
c10::DispatchKeySet dispatch_keys(const at::Tensor& input);

// A dtype on the device of `input`, which may be undefined (then the CPU): for the empty output of an empty page table.
at::TensorOptions output_options(const at::Tensor& input, at::ScalarType type);

}  // namespace pistachio::kernels
