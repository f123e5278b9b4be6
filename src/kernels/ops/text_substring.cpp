// Entry point of text_substring.
#include "kernels/ops/text_substring.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_substring(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t skipped,
                                                  int64_t count) {
  check_text(bytes, begins, ends);
  ENSURE_GE(skipped, 0);
  ENSURE_GE(count, 0);
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, int64_t)>
      operation("text_substring");
  return operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous(), skipped, count);
}

}  // namespace pistachio::kernels
