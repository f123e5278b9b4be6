// Entry point of group_assign and group_rehash.
#include "kernels/ops/group_assign.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/dispatch.h"
#include "kernels/ops/relational_check.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio::kernels {

std::tuple<at::Tensor, at::Tensor> group_assign(at::Tensor& slots, int64_t groups, int64_t most_groups, const at::Tensor& hashes,
                                                int64_t begin) {
  check_words(hashes, hashes);
  check_state(slots, at::kLong, 2, hashes);
  ENSURE(is_power_of_two(slots.size(0)), "{} slots", slots.size(0));
  ENSURE(groups >= 0 && groups <= most_groups, "{} groups of at most {}", groups, most_groups);
  ENSURE_LE(most_groups, slots.size(0) / 2);
  ENSURE(begin >= 0 && begin <= hashes.size(0), "row {} of {}", begin, hashes.size(0));
  static const Operation<std::tuple<at::Tensor, at::Tensor>(at::Tensor&, int64_t, int64_t, const at::Tensor&, int64_t)> operation(
      "group_assign");
  return operation.on(hashes)(slots, groups, most_groups, hashes.contiguous(), begin);
}

at::Tensor group_rehash(const at::Tensor& slots, int64_t capacity, const at::Tensor& stop) {
  ENSURE(slots.defined());
  check_state(slots, at::kLong, 2, slots);
  ENSURE(is_power_of_two(slots.size(0)) && is_power_of_two(capacity), "{} slots, now {}", slots.size(0), capacity);
  ENSURE_GE(capacity, slots.size(0));
  static const Operation<at::Tensor(const at::Tensor&, int64_t, const std::optional<at::Tensor>&)> operation("group_rehash");
  return operation.on(slots)(slots, capacity, optional_stop(stop));
}

}  // namespace pistachio::kernels
