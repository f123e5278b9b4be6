// Entry point of delta_text_expand.
#include "kernels/ops/delta_text_expand.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor, at::Tensor> delta_text_expand(const at::Tensor& bytes, const at::Tensor& prefix_lengths,
                                                                 const at::Tensor& suffix_begins, const at::Tensor& suffix_ends,
                                                                 int64_t max_output_bytes) {
  check_text(bytes, suffix_begins, suffix_ends);
  ENSURE(prefix_lengths.scalar_type() == at::kLong && prefix_lengths.dim() == 1 && prefix_lengths.device() == bytes.device());
  ENSURE_EQ(prefix_lengths.size(0), suffix_begins.size(0));
  ENSURE_GE(max_output_bytes, 0);
  static const Operation<std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                                        const at::Tensor&, int64_t)>
      operation("delta_text_expand");
  return operation.on(bytes)(bytes.contiguous(), prefix_lengths.contiguous(), suffix_begins.contiguous(), suffix_ends.contiguous(),
                             max_output_bytes);
}

}  // namespace pistachio::kernels
