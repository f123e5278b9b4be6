// Reference body of join_build: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/TensorIndexing.h>
#include <torch/library.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor, at::Tensor> join_build(const at::Tensor& hashes, const std::optional<at::Tensor>& validity,
                                                          int64_t bits, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const at::Tensor host = hashes.cpu();
  const int64_t* words = host.const_data_ptr<int64_t>();
  const auto bucket_of = [&](int64_t row) {
    return bits == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(words[row]) >> (64 - bits));
  };
  at::Tensor order = at::arange(hashes.size(0), at::kLong);
  if (validity) order = order.index({validity->cpu()});
  int64_t* rows = order.mutable_data_ptr<int64_t>();
  std::stable_sort(rows, rows + order.numel(), [&](int64_t left, int64_t right) { return bucket_of(left) < bucket_of(right); });
  at::Tensor offsets = at::zeros({(int64_t{1} << bits) + 1}, at::kLong);
  int64_t* out = offsets.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < order.numel(); ++i) ++out[bucket_of(rows[i]) + 1];
  std::partial_sum(out, out + offsets.numel(), out);
  const at::Tensor ordered_hashes = host.index_select(0, order);
  return {offsets.to(hashes.device()), order.to(hashes.device()), ordered_hashes.to(hashes.device())};
}

}  // namespace

TORCH_LIBRARY_IMPL(pistachio, CompositeExplicitAutograd, library) {
  library.impl("join_build", TORCH_FN(join_build));
}

}  // namespace pistachio::kernels::composite
