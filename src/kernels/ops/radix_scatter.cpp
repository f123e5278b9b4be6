// Entry point of radix_count and radix_scatter.
#include "kernels/ops/radix_scatter.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

namespace {

constexpr int64_t kMaxPartitions = 1 << 12;

void check_partitions(const at::Tensor& partitions, const at::Tensor& hashes) {
  check_words(hashes, hashes);
  check_words(partitions, hashes);
  ENSURE(is_power_of_two(partitions.size(0)) && partitions.size(0) <= kMaxPartitions, "{} partitions", partitions.size(0));
}

}  // namespace

void radix_count(at::Tensor& counts, const at::Tensor& hashes, const at::Tensor& stop) {
  check_partitions(counts, hashes);
  check_state(counts, at::kLong, 0, hashes);
  static const Operation<void(at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)> operation("radix_count");
  operation.on(hashes)(counts, hashes.contiguous(), optional_stop(stop));
}

void radix_scatter(at::Tensor& out, const at::Tensor& values, const at::Tensor& hashes, const at::Tensor& places, const at::Tensor& stop) {
  check_partitions(places, hashes);
  check_values(values);
  check_state(out, values.scalar_type(), is_wide(values) ? 2 : 0, hashes);
  ENSURE_EQ(values.size(0), hashes.size(0));
  ENSURE_GE(out.size(0), values.size(0));
  static const Operation<void(at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)>
      operation("radix_scatter");
  operation.on(values)(out, values.contiguous(), hashes.contiguous(), places.contiguous(), optional_stop(stop));
}

}  // namespace pistachio::kernels
