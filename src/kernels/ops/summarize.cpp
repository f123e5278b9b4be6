// Schema and entry point of summarize and summarize_dictionary.
#include "kernels/ops/summarize.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

ColumnSummary summarize(const at::Tensor& values, const at::Tensor& validity) {
  check_values(values);
  std::optional<at::Tensor> mask;
  if (validity.defined()) {
    check_mask(validity, values.size(0), values);
    mask = validity.contiguous();
  }
  static const auto operation =
      find_operation<at::Tensor(const at::Tensor&, const std::optional<at::Tensor>&)>("pistachio::summarize");
  return unpack_summary(operation.redispatch(dispatch_keys(values), values.contiguous(), mask));
}

ColumnSummary summarize_dictionary(const at::Tensor& dictionary, const at::Tensor& codes, const at::Tensor& validity) {
  check_values(dictionary);
  check_codes(codes, dictionary);
  ENSURE(codes.numel() == 0 || dictionary.size(0) > 0, "{} codes for an empty dictionary", codes.numel());
  std::optional<at::Tensor> mask;
  if (validity.defined()) {
    check_mask(validity, codes.size(0), codes);
    mask = validity.contiguous();
  }
  static const auto operation = find_operation<at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)>(
      "pistachio::summarize_dictionary");
  return unpack_summary(operation.redispatch(dispatch_keys(dictionary), dictionary.contiguous(), codes.contiguous(), mask));
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("summarize(Tensor values, Tensor? validity) -> Tensor");
  library.def("summarize_dictionary(Tensor dictionary, Tensor codes, Tensor? validity) -> Tensor");
}

}  // namespace pistachio::kernels
