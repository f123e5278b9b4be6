// Schema and entry point of text_substring.
#include "kernels/ops/text_substring.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> text_substring(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t skipped,
                                                  int64_t count) {
  check_text(bytes, begins, ends);
  ENSURE_GE(skipped, 0);
  ENSURE_GE(count, 0);
  static const auto operation =
      find_operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, int64_t)>(
          "pistachio::text_substring");
  return operation.redispatch(dispatch_keys(bytes), bytes.contiguous(), begins.contiguous(), ends.contiguous(), skipped, count);
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("text_substring(Tensor bytes, Tensor begins, Tensor ends, int skipped, int count) -> (Tensor begins_out, Tensor ends_out)");
}

}  // namespace pistachio::kernels
