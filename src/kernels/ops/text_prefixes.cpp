// Entry point of text_prefixes.
#include "kernels/ops/text_prefixes.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_prefixes(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                                                 const at::Tensor& prefix) {
  check_text(bytes, begins, ends);
  ENSURE(prefix.is_cpu() && prefix.scalar_type() == at::kByte && prefix.dim() == 1);
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&)>
      operation("text_prefixes");
  return operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous(), prefix.contiguous());
}

}  // namespace pistachio::kernels
