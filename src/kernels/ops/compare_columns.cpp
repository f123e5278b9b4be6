// Entry point of compare_columns and compare_text_columns.
#include "kernels/ops/compare_columns.h"

#include <ATen/core/Tensor.h>

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
  static const Operation<at::Tensor(const at::Tensor&, int64_t, const at::Tensor&)> operation("compare_columns");
  return operation.on(left)(left.contiguous(), static_cast<int64_t>(comparison), right.contiguous());
}

at::Tensor compare_text_columns(const at::Tensor& left_bytes, const at::Tensor& left_begins, const at::Tensor& left_ends,
                                Comparison comparison, const at::Tensor& right_bytes, const at::Tensor& right_begins,
                                const at::Tensor& right_ends) {
  check_text(left_bytes, left_begins, left_ends);
  check_text(right_bytes, right_begins, right_ends);
  ENSURE_EQ(left_begins.size(0), right_begins.size(0));
  ENSURE(left_bytes.device() == right_bytes.device());
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, const at::Tensor&, const at::Tensor&,
                                    const at::Tensor&)>
      operation("compare_text_columns");
  return operation.on(left_bytes)(left_bytes.contiguous(), left_begins.contiguous(), left_ends.contiguous(),
                                  static_cast<int64_t>(comparison), right_bytes.contiguous(), right_begins.contiguous(),
                                  right_ends.contiguous());
}

}  // namespace pistachio::kernels
