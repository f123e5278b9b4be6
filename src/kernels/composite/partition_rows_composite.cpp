// Reference body of partition_rows: stock ATen calls or scalar loops, slow and simple, on any device.

#include <algorithm>
#include <numeric>

#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor> partition_rows(const at::Tensor& hashes, int64_t bits, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const at::Tensor host = hashes.cpu();
  const int64_t* words = host.const_data_ptr<int64_t>();
  const auto partition_of = [&](int64_t row) {
    return bits == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(words[row]) >> (64 - bits));
  };
  at::Tensor order = at::arange(hashes.size(0), at::kLong);
  int64_t* rows = order.mutable_data_ptr<int64_t>();
  std::stable_sort(rows, rows + hashes.size(0), [&](int64_t left, int64_t right) { return partition_of(left) < partition_of(right); });
  at::Tensor offsets = at::zeros({(int64_t{1} << bits) + 1}, at::kLong);
  int64_t* out = offsets.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < hashes.size(0); ++row) ++out[partition_of(row) + 1];
  std::partial_sum(out, out + offsets.numel(), out);
  return {order.to(hashes.device()), offsets.to(hashes.device())};
}

}  // namespace

REGISTER_BODY(Composite, "partition_rows", partition_rows);

}  // namespace pistachio::kernels::composite
