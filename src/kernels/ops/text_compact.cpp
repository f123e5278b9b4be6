// Entry point of text_compact.
#include "kernels/ops/text_compact.h"

#include <ATen/core/Tensor.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_compact(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t room) {
  check_text(bytes, begins, ends);
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t)> operation(
      "text_compact");
  return operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous(), room);
}

}  // namespace pistachio::kernels
