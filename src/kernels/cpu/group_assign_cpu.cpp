// CPU bodies of group_assign and group_rehash.

#include <algorithm>

#include "kernels/cpu/group_table_simd.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

// A view is free but keeps the whole allocation alive: acceptable unless most of it is unused.
at::Tensor shrink(const at::Tensor& tensor, int64_t size) {
  const at::Tensor part = tensor.slice(0, 0, size);
  return size < tensor.size(0) / 2 ? part.clone() : part;
}

std::tuple<at::Tensor, at::Tensor> group_assign(at::Tensor& slots, int64_t groups, int64_t most_groups, const at::Tensor& hashes,
                                                int64_t begin) {
  const int64_t rows = hashes.numel() - begin;
  at::Tensor ids = at::empty({rows}, at::kLong), first_rows = at::empty({std::min(rows, most_groups - groups)}, at::kLong);
  const GroupProgress done =
      assign_groups(static_cast<GroupSlot*>(slots.mutable_data_ptr()), slots.size(0), groups, most_groups, hashes.const_data_ptr<int64_t>(),
                    begin, hashes.numel(), ids.mutable_data_ptr<int64_t>(), first_rows.mutable_data_ptr<int64_t>());
  return {shrink(ids, done.rows), shrink(first_rows, done.groups)};
}

at::Tensor group_rehash(const at::Tensor& slots, int64_t capacity, const std::optional<at::Tensor>& stop) {
  const StopCheck check(stop);
  at::Tensor larger = at::empty({capacity, 2}, at::kLong);
  int64_t* words = larger.mutable_data_ptr<int64_t>();
  for_each_strip(2 * capacity, check, [&](int64_t begin, int64_t end) { std::fill(words + begin, words + end, int64_t{0}); });
  const GroupSlot* from = static_cast<const GroupSlot*>(slots.const_data_ptr());
  GroupSlot* to = static_cast<GroupSlot*>(larger.mutable_data_ptr());
  for_each_strip(slots.size(0), check, [&](int64_t begin, int64_t end) { enter_slots(from + begin, end - begin, to, capacity); });
  return larger;
}

}  // namespace

REGISTER_BODY(Cpu, "group_assign", group_assign);
REGISTER_BODY(Cpu, "group_rehash", group_rehash);

}  // namespace pistachio::kernels::cpu
