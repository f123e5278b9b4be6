// Selects the body of an operation by the device of a tensor. Only included by ops/*.cpp.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels {

// The backend whose bodies serve `input` on this thread: its device's or, in composite mode, the composite one.
Backend backend_of(const at::Tensor& input);

// The bodies of one operation; callers keep it in a static.
template <typename Signature>
class Operation {
 public:
  explicit Operation(const char* name) {
    const AnyBody composite = find_body(Backend::Composite, name, typeid(Signature));
    ENSURE(composite.function != nullptr, "the kernel {} has no composite body", name);
    for (int backend = 0; backend < kBackends; ++backend) {
      const AnyBody own = find_body(static_cast<Backend>(backend), name, typeid(Signature));
      bodies_[backend] = reinterpret_cast<Signature*>(own.function ? own.function : composite.function);
    }
  }

  // The body to call: the one of the tensor's device, or the composite one if there is none.
  Signature* on(const at::Tensor& input) const { return bodies_[static_cast<int>(backend_of(input))]; }

 private:
  Signature* bodies_[kBackends];
};

// An empty tensor on the device, for operations without a tensor argument: a body is chosen by the device of a tensor.
at::Tensor tensor_on(at::Device device);

// A dtype on the device of `input` (CPU if undefined), for the empty output of an empty page table.
at::TensorOptions output_options(const at::Tensor& input, at::ScalarType type);

}  // namespace pistachio::kernels
