// Reference body of probe_ranks: scalar loops, slow and simple, for tensors on any device.
#include <vector>

#include "kernels/ops/body_table.h"
#include "kernels/ops/key_ranks.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

std::tuple<at::Tensor, at::Tensor, int64_t> probe_ranks(const at::Tensor& ranks, const std::optional<at::Tensor>& offsets,
                                                        const std::optional<at::Tensor>& order, const at::Tensor& values,
                                                        const std::optional<at::Tensor>& validity, int64_t least, int64_t begin,
                                                        int64_t most_pairs) {
  const at::Tensor found = find_key_ranks(ranks, values, validity.value_or(at::Tensor()), least).cpu();
  const at::Tensor rows_of_ranks = order ? order->cpu() : at::Tensor(), bounds = offsets ? offsets->cpu() : at::Tensor();
  std::vector<int64_t> probe_rows, build_rows;
  int64_t row = begin;
  for (; row < values.size(0) && static_cast<int64_t>(probe_rows.size()) < most_pairs; ++row) {
    const int64_t rank = found.const_data_ptr<int64_t>()[row];
    if (rank < 0) continue;
    const int64_t first = bounds.defined() ? bounds.const_data_ptr<int64_t>()[rank] : rank;
    const int64_t last = bounds.defined() ? bounds.const_data_ptr<int64_t>()[rank + 1] : rank + 1;
    for (int64_t place = first; place < last; ++place) {
      probe_rows.push_back(row);
      build_rows.push_back(rows_of_ranks.defined() ? rows_of_ranks.const_data_ptr<int32_t>()[place] : place);
    }
  }
  const at::Device device = values.device();
  return {at::tensor(probe_rows, at::kLong).to(device), at::tensor(build_rows, at::kLong).to(device), row};
}

}  // namespace

REGISTER_BODY(Composite, "probe_ranks", probe_ranks);

}  // namespace pistachio::kernels::composite
