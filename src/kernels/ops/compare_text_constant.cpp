// Schema and entry point of compare_text_constant.
#include "kernels/ops/compare_text_constant.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor compare_text_constant(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, Comparison comparison,
                                 const std::string& constant) {
  check_text(bytes, begins, ends);
  static const auto operation =
      find_operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, std::string_view)>(
          "pistachio::compare_text_constant");
  return operation.redispatch(dispatch_keys(bytes), bytes.contiguous(), begins.contiguous(), ends.contiguous(),
                              static_cast<int64_t>(comparison), constant);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("compare_text_constant(Tensor bytes, Tensor begins, Tensor ends, int comparison, str constant) -> Tensor");
}

}  // namespace pistachio::kernels
