// Entry point of segment_bits.
#include "kernels/ops/segment_bits.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

void segment_bits(at::Tensor& bits, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, BitOp op,
                  const at::Tensor& validity) {
  check_values(values);
  ENSURE(at::isIntegralType(values.scalar_type(), /*includeBool=*/false), "values are {}", c10::toString(values.scalar_type()));
  ENSURE_EQ(values.dim(), 1);
  check_words(ids, values);
  ENSURE_EQ(ids.size(0), values.size(0));
  check_state(bits, values.scalar_type(), 0, values);
  check_state(seen, at::kBool, 0, values);
  ENSURE_EQ(bits.size(0), seen.size(0));
  const auto code = static_cast<int64_t>(op);
  ENSURE(code >= 0 && code <= static_cast<int64_t>(BitOp::Xor), "operation {}", code);
  const std::optional<at::Tensor> mask = optional_validity(validity, ids.size(0), ids);
  static const Operation<void(at::Tensor&, at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, const std::optional<at::Tensor>&)>
      operation("segment_bits");
  operation.on(values)(bits, seen, ids.contiguous(), values.contiguous(), code, mask);
}

}  // namespace pistachio::kernels
