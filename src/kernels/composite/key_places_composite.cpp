// Reference body of append_digit and present_places: stock ATen calls, on any device.
#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor append_digit(const std::optional<at::Tensor>& places, const at::Tensor& values, int64_t least, int64_t size,
                        const std::optional<at::Tensor>& validity) {
  at::Tensor digits = values.to(at::kLong) - least + 1;
  if (validity) digits = digits.masked_fill(validity->logical_not(), 0);
  if (places) digits = digits + places->to(at::kLong) * size;
  return digits.to(at::kInt);
}

at::Tensor present_places(const at::Tensor& places, int64_t limit) {
  at::Tensor is_present = at::zeros({limit}, places.options().dtype(at::kBool));
  is_present.index_fill_(0, places.to(at::kLong), true);
  return is_present.nonzero().select(1, 0).contiguous();
}

}  // namespace

REGISTER_BODY(Composite, "append_digit", append_digit);
REGISTER_BODY(Composite, "present_places", present_places);

}  // namespace pistachio::kernels::composite
