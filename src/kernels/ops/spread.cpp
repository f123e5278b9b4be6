// Schema and entry point of spread.
#include "kernels/ops/spread.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor spread(const at::Tensor& values, const at::Tensor& validity) {
  check_values(values);
  ENSURE(validity.defined());
  check_mask(validity, validity.numel(), values);
  static const auto operation = find_operation<at::Tensor(const at::Tensor&, const at::Tensor&)>("pistachio::spread");
  return operation.redispatch(dispatch_keys(values), values.contiguous(), validity.contiguous());
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("spread(Tensor values, Tensor validity) -> Tensor");
}

}  // namespace pistachio::kernels
