// Reference body of segment_moments and moments_merge: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/TensorIndexing.h>
#include <ATen/core/Tensor.h>

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

void segment_moments(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& values, const std::optional<at::Tensor>& validity) {
  const at::Tensor groups = (validity ? ids.index({*validity}) : ids).cpu();
  const at::Tensor numbers = (validity ? values.index({*validity}) : values).to(at::kDouble).cpu();
  const at::Tensor host = moments.cpu();
  auto group = groups.accessor<int64_t, 1>();
  auto number = numbers.accessor<double, 1>();
  auto state = host.accessor<double, 2>();
  for (int64_t row = 0; row < group.size(0); ++row) {
    auto moment = state[group[row]];
    moment[0] += 1;
    const double distance = number[row] - moment[1];
    moment[1] += distance * (1 / moment[0]);
    moment[2] += distance * (number[row] - moment[1]);
  }
  moments.copy_(host);
}

void moments_merge(at::Tensor& moments, const at::Tensor& ids, const at::Tensor& other) {
  const at::Tensor groups = ids.cpu(), others = other.cpu(), host = moments.cpu();
  auto group = groups.accessor<int64_t, 1>();
  auto added = others.accessor<double, 2>();
  auto state = host.accessor<double, 2>();
  for (int64_t row = 0; row < group.size(0); ++row) {
    auto moment = state[group[row]];
    const double count = added[row][0];
    if (count == 0) continue;
    if (moment[0] == 0) {
      for (int64_t column = 0; column < 3; ++column) moment[column] = added[row][column];
      continue;
    }
    const double total = moment[0] + count;
    const double distance = added[row][1] - moment[1];
    moment[1] += distance * (count / total);
    moment[2] += added[row][2] + distance * distance * (moment[0] * count / total);
    moment[0] = total;
  }
  moments.copy_(host);
}

}  // namespace

REGISTER_BODY(Composite, "segment_moments", segment_moments);
REGISTER_BODY(Composite, "moments_merge", moments_merge);

}  // namespace pistachio::kernels::composite
