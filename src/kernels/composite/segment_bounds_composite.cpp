// Reference body of segment_bounds: stock ATen calls on any device.

#include <tuple>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor> segment_bounds(const at::Tensor& starts) {
  const int64_t rows = starts.numel();
  const at::Tensor numbers = at::arange(rows, starts.options().dtype(at::kLong));
  if (rows == 0) return {numbers, numbers.clone()};
  at::Tensor begins_here = starts.clone();
  begins_here.narrow(0, 0, 1).fill_(true);
  const at::Tensor first = numbers.masked_select(begins_here);
  const at::Tensor behind = concatenate_tensors({first.slice(0, 1), at::full({1}, rows, first.options())});
  const at::Tensor segment = begins_here.cumsum(0) - 1;
  return {first.index_select(0, segment), behind.index_select(0, segment)};
}

}  // namespace

REGISTER_BODY(Composite, "segment_bounds", segment_bounds);

}  // namespace pistachio::kernels::composite
