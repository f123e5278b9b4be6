// Reference body of bounds_below: stock ATen calls, slow and simple, on any device.
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor bounds_below(at::TensorList words, at::TensorList bounds, const std::optional<at::Tensor>& stop) {
  const StopCheck check(stop);
  at::Tensor found = at::zeros_like(words[0], at::MemoryFormat::Contiguous);
  for (int64_t bound = 0; bound < bounds[0].size(0); ++bound) {
    check();
    // Lexicographic comparison, from the least significant word up.
    at::Tensor reached = at::ones_like(words[0], at::TensorOptions(at::kBool));
    for (size_t i = words.size(); i-- > 0;) {
      const at::Tensor limit = bounds[i][bound];
      reached = words[i].gt(limit).logical_or(words[i].eq(limit).logical_and(reached));
    }
    found.add_(reached);
  }
  return found;
}

}  // namespace

REGISTER_BODY(Composite, "bounds_below", bounds_below);

}  // namespace pistachio::kernels::composite
