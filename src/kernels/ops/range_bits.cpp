// Entry point of range_bits.
#include "kernels/ops/range_bits.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

at::Tensor range_bits(const at::Tensor& values, const at::Tensor& validity, const at::Tensor& begins, const at::Tensor& ends, BitOp op,
                      const at::Tensor& stop) {
  check_words(values, values);
  check_ranges(begins, ends, values);
  const auto code = static_cast<int64_t>(op);
  ENSURE(code >= 0 && code <= static_cast<int64_t>(BitOp::Xor), "operation {}", code);
  const std::optional<at::Tensor> mask = optional_validity(validity, values.size(0), values);
  static const Operation<at::Tensor(const at::Tensor&, const std::optional<at::Tensor>&, const at::Tensor&, const at::Tensor&, int64_t,
                                    const std::optional<at::Tensor>&)>
      operation("range_bits");
  return operation.on(values)(values.contiguous(), mask, begins.contiguous(), ends.contiguous(), code, optional_stop(stop));
}

}  // namespace pistachio::kernels
