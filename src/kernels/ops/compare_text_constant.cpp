// Entry point of compare_text_constant.
#include "kernels/ops/compare_text_constant.h"

#include <ATen/core/Tensor.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor compare_text_constant(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, Comparison comparison,
                                 const std::string& constant) {
  check_text(bytes, begins, ends);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, std::string_view)> operation(
      "compare_text_constant");
  return operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous(), static_cast<int64_t>(comparison), constant);
}

}  // namespace pistachio::kernels
