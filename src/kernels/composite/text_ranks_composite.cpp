// Reference body of text_ranks: stock ATen calls or scalar loops, slow and simple, on any device.

#include <algorithm>
#include <string_view>

#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

at::Tensor text_ranks(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const at::Tensor host_bytes = bytes.cpu(), host_begins = begins.cpu(), host_ends = ends.cpu();
  const char* data = reinterpret_cast<const char*>(host_bytes.const_data_ptr<uint8_t>());
  const int64_t* from = host_begins.const_data_ptr<int64_t>();
  const int64_t* to = host_ends.const_data_ptr<int64_t>();
  const auto text = [&](int64_t row) { return std::string_view(data + from[row], static_cast<size_t>(to[row] - from[row])); };
  at::Tensor order = at::arange(begins.size(0), at::kLong), ranks = at::empty({begins.size(0)}, at::kLong);
  int64_t* rows = order.mutable_data_ptr<int64_t>();
  std::sort(rows, rows + order.numel(), [&](int64_t left, int64_t right) { return text(left) < text(right); });
  int64_t rank = 0;
  for (int64_t i = 0; i < order.numel(); ++i) {
    if (i > 0 && text(rows[i - 1]) != text(rows[i])) ++rank;
    ranks.mutable_data_ptr<int64_t>()[rows[i]] = rank;
  }
  return ranks.to(bytes.device());
}

}  // namespace

REGISTER_BODY(Composite, "text_ranks", text_ranks);

}  // namespace pistachio::kernels::composite
