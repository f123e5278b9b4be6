// Reference bodies of join_build and join_sort_part: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/TensorIndexing.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/ops/body_table.h"
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

void join_sort_part(at::Tensor& offsets, at::Tensor& order, at::Tensor& hashes, int64_t part_bits, int64_t part, int64_t begin,
                    int64_t end) {
  int64_t bits = 0;
  while (int64_t{1} << bits < offsets.size(0) - 1) ++bits;
  const int64_t buckets = int64_t{1} << (bits - part_bits);
  const at::Tensor words = hashes.slice(0, begin, end), host = words.cpu();
  at::Tensor bucket = at::empty({end - begin}, at::kLong);  // within the partition
  for (int64_t i = 0; i < bucket.numel(); ++i) {
    const auto hash = static_cast<uint64_t>(host.const_data_ptr<int64_t>()[i]);
    bucket.mutable_data_ptr<int64_t>()[i] = static_cast<int64_t>(hash >> 1 >> (63 - bits)) & (buckets - 1);
  }
  const at::Tensor by_bucket = std::get<1>(at::sort(bucket, /*stable=*/true, /*dim=*/0, /*descending=*/false)).to(hashes.device());
  words.copy_(words.index_select(0, by_bucket));
  const at::Tensor rows = order.slice(0, begin, end);
  rows.copy_(rows.index_select(0, by_bucket));
  offsets.slice(0, 1 + part * buckets, 1 + (part + 1) * buckets).copy_(at::bincount(bucket, {}, buckets).cumsum(0) + begin);
}

}  // namespace

REGISTER_BODY(Composite, "join_build", join_build);
REGISTER_BODY(Composite, "join_sort_part", join_sort_part);

}  // namespace pistachio::kernels::composite
