// Reference body of sort_order: stock ATen calls or scalar loops, slow and simple, on any device.

#include <algorithm>
#include <vector>

#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor sort_order(at::TensorList words, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  std::vector<at::Tensor> host;
  for (const at::Tensor& word : words) host.push_back(word.cpu());
  at::Tensor order = at::arange(words[0].size(0), at::kLong);
  int64_t* rows = order.mutable_data_ptr<int64_t>();
  std::stable_sort(rows, rows + order.numel(), [&](int64_t left, int64_t right) {
    for (const at::Tensor& word : host) {
      const int64_t* keys = word.const_data_ptr<int64_t>();
      if (keys[left] != keys[right]) return keys[left] < keys[right];
    }
    return false;
  });
  return order.to(words[0].device());
}

}  // namespace

REGISTER_BODY(Composite, "sort_order", sort_order);

}  // namespace pistachio::kernels::composite
