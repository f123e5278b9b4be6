// Reference body of range_search: all binary searches at once, by stock ATen calls on any device.
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor range_search(const at::Tensor& keys, const at::Tensor& bounds, const at::Tensor& begins, const at::Tensor& ends, bool after_equal,
                        const std::optional<at::Tensor>& stop) {
  const StopCheck check(stop);
  at::Tensor low = begins.clone(), high = at::where(ends.gt(begins), ends, begins);
  while (low.numel() > 0 && keys.numel() > 0) {
    check();
    const at::Tensor open = low.lt(high);
    if (!open.any().item<bool>()) break;
    const at::Tensor middle = (low + high).bitwise_right_shift(1);
    const at::Tensor key = keys.index_select(0, middle.clamp(0, keys.numel() - 1));
    const at::Tensor is_before = (after_equal ? key.le(bounds) : key.lt(bounds)).logical_and(open);
    low = at::where(is_before, middle + 1, low);
    high = at::where(open.logical_and(is_before.logical_not()), middle, high);
  }
  return low;
}

}  // namespace

REGISTER_BODY(Composite, "range_search", range_search);

}  // namespace pistachio::kernels::composite
