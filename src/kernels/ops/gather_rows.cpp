// Entry point of gather_rows.
#include "kernels/ops/gather_rows.h"

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {

at::Tensor gather_rows(const at::Tensor& values, const at::Tensor& rows) {
  check_values(values);
  check_words(rows, values);
  if (values.size(0) == 0) {  // every row is -1
    return is_wide(values) ? at::zeros({rows.size(0), 2}, values.options()) : at::zeros({rows.size(0)}, values.options());
  }
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&)> operation("gather_rows");
  return operation.on(values)(values.contiguous(), rows.contiguous());
}

}  // namespace pistachio::kernels
