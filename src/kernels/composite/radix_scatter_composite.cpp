// Reference body of radix_count and radix_scatter: stock ATen calls, slow and simple, on any device.

#include <bit>

#include "kernels/ops/body_table.h"
#include "kernels/ops/partition_rows.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

int64_t radix_bits_of(const at::Tensor& partitions) {
  return std::bit_width(static_cast<uint64_t>(partitions.size(0))) - 1;
}

void radix_count(at::Tensor& counts, const at::Tensor& hashes, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  counts.add_(std::get<1>(kernels::partition_rows(hashes, radix_bits_of(counts))).diff());
}

void radix_scatter(at::Tensor& out, const at::Tensor& values, const at::Tensor& hashes, const at::Tensor& places,
                   const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const auto [order, offsets] = kernels::partition_rows(hashes, radix_bits_of(places));
  const at::Tensor shift = at::repeat_interleave(places - offsets.slice(0, 0, -1), offsets.diff());
  out.index_copy_(0, at::arange(order.size(0), order.options()) + shift, values.index_select(0, order));
}

}  // namespace

REGISTER_BODY(Composite, "radix_count", radix_count);
REGISTER_BODY(Composite, "radix_scatter", radix_scatter);

}  // namespace pistachio::kernels::composite
