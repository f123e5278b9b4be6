// Reference bodies of the operations that count waits for a device: there is nothing to wait for, so nothing is counted.
#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

int64_t count_no_waits(const at::Tensor&, int64_t) {
  return 0;
}

void stop_counting_no_waits(const at::Tensor&, int64_t) {}

}  // namespace

REGISTER_BODY(Composite, "count_device_waits", count_no_waits);
REGISTER_BODY(Composite, "stop_counting_device_waits", stop_counting_no_waits);

}  // namespace pistachio::kernels::composite
