// Entry point of text_ranks.
#include "kernels/ops/text_ranks.h"

#include <ATen/core/Tensor.h>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

at::Tensor text_ranks(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& stop) {
  check_text(bytes, begins, ends);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)> operation(
      "text_ranks");
  return operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous(), optional_stop(stop));
}

}  // namespace pistachio::kernels
