// Reference body of text_compact: stock ATen calls or scalar loops, slow and simple, on any device.
#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor> text_compact(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                                                int64_t /*room*/) {
  const at::Tensor lengths = ends - begins;
  const at::Tensor offsets = concatenate_tensors({at::zeros({1}, lengths.options()), lengths.cumsum(0)});
  const at::Tensor shift = at::repeat_interleave(begins - offsets.slice(0, 0, -1), lengths);
  const at::Tensor source = at::arange(shift.size(0), shift.options()) + shift;
  return {bytes.index_select(0, source), offsets};
}

}  // namespace

REGISTER_BODY(Composite, "text_compact", text_compact);

}  // namespace pistachio::kernels::composite
