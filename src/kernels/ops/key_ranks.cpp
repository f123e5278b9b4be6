// Entry points of the operations on key ranks.
#include "kernels/ops/key_ranks.h"

#include <limits>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"

namespace pistachio::kernels {

namespace {

using Mask = std::optional<at::Tensor>;

void check_arguments(const at::Tensor& ranks, const at::Tensor& values) {
  check_values(values);
  ENSURE(!values.is_floating_point() && !is_wide(values), "only integers have ranks");
  check_words(ranks, values);
  ENSURE(ranks.size(0) % 2 == 0, "{} words", ranks.size(0));
}

}  // namespace

void add_key_ranks(at::Tensor& ranks, const at::Tensor& values, const at::Tensor& validity, int64_t least) {
  check_arguments(ranks, values);
  check_state(ranks, at::kLong, 0, values);
  const Mask mask = optional_validity(validity, values.size(0), values);
  static const Operation<void(at::Tensor&, const at::Tensor&, const Mask&, int64_t)> operation("add_key_ranks");
  operation.on(values)(ranks, values.contiguous(), mask, least);
}

int64_t close_key_ranks(at::Tensor& ranks) {
  check_state(ranks, at::kLong, 0, ranks);
  ENSURE(ranks.size(0) % 2 == 0, "{} words", ranks.size(0));
  static const Operation<int64_t(at::Tensor&)> operation("close_key_ranks");
  return operation.on(ranks)(ranks);
}

at::Tensor find_key_ranks(const at::Tensor& ranks, const at::Tensor& values, const at::Tensor& validity, int64_t least) {
  check_arguments(ranks, values);
  const Mask mask = optional_validity(validity, values.size(0), values);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const Mask&, int64_t)> operation("find_key_ranks");
  return operation.on(values)(ranks.contiguous(), values.contiguous(), mask, least);
}

at::Tensor has_key_ranks(const at::Tensor& ranks, const at::Tensor& values, const at::Tensor& validity, int64_t least) {
  check_arguments(ranks, values);
  const Mask mask = optional_validity(validity, values.size(0), values);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const Mask&, int64_t)> operation("has_key_ranks");
  return operation.on(values)(ranks.contiguous(), values.contiguous(), mask, least);
}

bool place_by_rank(at::Tensor& order, const at::Tensor& ranks, const at::Tensor& values, const at::Tensor& validity, int64_t least,
                   int64_t first) {
  check_arguments(ranks, values);
  check_state(order, at::kInt, 0, values);
  ENSURE(first >= 0 && first + values.size(0) <= std::numeric_limits<int32_t>::max(), "rows from {}", first);
  const Mask mask = optional_validity(validity, values.size(0), values);
  static const Operation<bool(at::Tensor&, const at::Tensor&, const at::Tensor&, const Mask&, int64_t, int64_t)> operation("place_by_rank");
  return operation.on(values)(order, ranks.contiguous(), values.contiguous(), mask, least, first);
}

}  // namespace pistachio::kernels
