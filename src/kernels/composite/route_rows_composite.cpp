// Reference body of route_rows: stock ATen calls, slow and simple, on any device.
#include "base/check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor> route_rows(const at::Tensor& hashes, const at::Tensor& owners, int64_t ranks) {
  ENSURE(owners.min().item<int64_t>() >= 0 && owners.max().item<int64_t>() < ranks, "owners outside of {} ranks", ranks);
  int64_t bits = 0;
  while (int64_t{1} << bits < owners.size(0)) ++bits;
  // The shift is arithmetic; the mask removes the sign bits.
  const at::Tensor buckets = bits == 0 ? at::zeros_like(hashes) : hashes.bitwise_right_shift(64 - bits).bitwise_and(owners.size(0) - 1);
  const at::Tensor rank_of_row = owners.index_select(0, buckets);
  const at::Tensor order = std::get<1>(rank_of_row.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false));
  at::Tensor offsets = at::zeros({ranks + 1}, hashes.options());
  offsets.slice(0, 1).copy_(at::bincount(rank_of_row, {}, ranks).cumsum(0));
  return {order, offsets};
}

}  // namespace

REGISTER_BODY(Composite, "route_rows", route_rows);

}  // namespace pistachio::kernels::composite
