// Entry point of route_rows.
#include "kernels/ops/route_rows.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> route_rows(const at::Tensor& hashes, const at::Tensor& owners, int64_t ranks) {
  check_words(hashes, hashes);
  ENSURE(owners.defined());
  ENSURE(owners.scalar_type() == at::kInt || owners.scalar_type() == at::kLong, "owners are {}", c10::toString(owners.scalar_type()));
  ENSURE_EQ(owners.dim(), 1);
  ENSURE(is_power_of_two(owners.size(0)) && owners.size(0) <= int64_t{1} << 16, "{} buckets", owners.size(0));
  ENSURE(owners.device() == hashes.device());
  ENSURE(ranks >= 1 && ranks <= int64_t{1} << 16, "{} ranks", ranks);
  static const Operation<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, int64_t)> operation("route_rows");
  return operation.on(hashes)(hashes.contiguous(), owners.to(at::kLong).contiguous(), ranks);
}

}  // namespace pistachio::kernels
