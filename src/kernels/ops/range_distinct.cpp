// Entry point of range_distinct.
#include "kernels/ops/range_distinct.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

at::Tensor range_distinct(const at::Tensor& ids, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends, int64_t values,
                          const at::Tensor& stop) {
  check_words(ids, ids);
  check_ranges(begins, ends, ids);
  ENSURE_GE(values, 0);
  const std::optional<at::Tensor> mask = optional_validity(validity, ids.size(0), ids);
  static const Operation<at::Tensor(const at::Tensor&, const std::optional<at::Tensor>&, const at::Tensor&, const at::Tensor&, int64_t,
                                    const std::optional<at::Tensor>&)>
      operation("range_distinct");
  return operation.on(ids)(ids.contiguous(), mask, begins.contiguous(), ends.contiguous(), values, optional_stop(stop));
}

}  // namespace pistachio::kernels
