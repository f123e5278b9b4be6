// Entry point of summarize and summarize_dictionary.
#include "kernels/ops/summarize.h"

#include <ATen/core/Tensor.h>

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
  static const Operation<at::Tensor(const at::Tensor&, const std::optional<at::Tensor>&)> operation("summarize");
  return unpack_summary(operation.on(values)(values.contiguous(), mask));
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
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)> operation(
      "summarize_dictionary");
  return unpack_summary(operation.on(dictionary)(dictionary.contiguous(), codes.contiguous(), mask));
}

}  // namespace pistachio::kernels
