// Schema and entry point of compare_columns and compare_text_columns.
#include "kernels/ops/compare_columns.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

at::Tensor compare_columns(const at::Tensor& left, Comparison comparison, const at::Tensor& right) {
  check_values(left);
  check_values(right);
  ENSURE(left.scalar_type() == right.scalar_type(), "{} against {}", c10::toString(left.scalar_type()), c10::toString(right.scalar_type()));
  ENSURE(left.sizes() == right.sizes(), "{} rows against {}", left.size(0), right.size(0));
  ENSURE(left.device() == right.device());
  static const auto operation = find_operation<at::Tensor(const at::Tensor&, int64_t, const at::Tensor&)>("pistachio::compare_columns");
  return operation.redispatch(dispatch_keys(left), left.contiguous(), static_cast<int64_t>(comparison), right.contiguous());
}

at::Tensor compare_text_columns(const at::Tensor& left_bytes, const at::Tensor& left_begins, const at::Tensor& left_ends,
                                Comparison comparison, const at::Tensor& right_bytes, const at::Tensor& right_begins,
                                const at::Tensor& right_ends) {
  check_text(left_bytes, left_begins, left_ends);
  check_text(right_bytes, right_begins, right_ends);
  ENSURE_EQ(left_begins.size(0), right_begins.size(0));
  ENSURE(left_bytes.device() == right_bytes.device());
  static const auto operation =
      find_operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, const at::Tensor&, const at::Tensor&,
                                const at::Tensor&)>("pistachio::compare_text_columns");
  return operation.redispatch(dispatch_keys(left_bytes), left_bytes.contiguous(), left_begins.contiguous(), left_ends.contiguous(),
                              static_cast<int64_t>(comparison), right_bytes.contiguous(), right_begins.contiguous(),
                              right_ends.contiguous());
}

TORCH_LIBRARY_FRAGMENT(pistachio, library) {
  library.def("compare_columns(Tensor left, int comparison, Tensor right) -> Tensor");
  library.def(
      "compare_text_columns(Tensor left_bytes, Tensor left_begins, Tensor left_ends, int comparison, Tensor right_bytes, "
      "Tensor right_begins, Tensor right_ends) -> Tensor");
}

}  // namespace pistachio::kernels
