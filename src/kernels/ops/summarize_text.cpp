// Entry point of summarize_text and summarize_text_dictionary.
#include "kernels/ops/summarize_text.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

TextSummary summarize_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& validity) {
  check_text(bytes, begins, ends);
  std::optional<at::Tensor> mask;
  if (validity.defined()) {
    check_mask(validity, begins.size(0), bytes);
    mask = validity.contiguous();
  }
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)> operation(
      "summarize_text");
  return unpack_text_summary(operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous(), mask));
}

TextSummary summarize_text_dictionary(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& codes,
                                      const at::Tensor& validity) {
  check_text(bytes, begins, ends);
  check_codes(codes, bytes);
  ENSURE(codes.numel() == 0 || begins.size(0) > 0, "{} codes for an empty dictionary", codes.numel());
  std::optional<at::Tensor> mask;
  if (validity.defined()) {
    check_mask(validity, codes.size(0), codes);
    mask = validity.contiguous();
  }
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                    const std::optional<at::Tensor>&)>
      operation("summarize_text_dictionary");
  return unpack_text_summary(operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous(), codes.contiguous(), mask));
}

}  // namespace pistachio::kernels
