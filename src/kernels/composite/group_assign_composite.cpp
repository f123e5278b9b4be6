// Reference body of group_assign and group_rehash: stock ATen calls or scalar loops, slow and simple, on any device.

#include <vector>

#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

// The slot of a hash, or the empty slot where it would be inserted.
int64_t find_slot(const int64_t* slots, int64_t capacity, int64_t hash) {
  int64_t slot = hash & (capacity - 1);
  while (slots[2 * slot + 1] != 0 && slots[2 * slot] != hash) slot = (slot + 1) & (capacity - 1);
  return slot;
}

std::tuple<at::Tensor, at::Tensor> group_assign(at::Tensor& slots, int64_t groups, int64_t most_groups, const at::Tensor& hashes,
                                                int64_t begin) {
  const at::Tensor host_slots = slots.cpu(), host_hashes = hashes.cpu();
  int64_t* table = host_slots.mutable_data_ptr<int64_t>();
  const int64_t* words = host_hashes.const_data_ptr<int64_t>();
  std::vector<int64_t> ids, first_rows;
  for (int64_t row = begin; row < hashes.size(0); ++row) {
    const int64_t slot = find_slot(table, slots.size(0), words[row]);
    if (table[2 * slot + 1] == 0) {
      if (groups == most_groups) break;
      table[2 * slot] = words[row];
      table[2 * slot + 1] = ++groups;
      first_rows.push_back(row);
    }
    ids.push_back(table[2 * slot + 1] - 1);
  }
  slots.copy_(host_slots);
  return {at::tensor(ids, at::kLong).to(hashes.device()), at::tensor(first_rows, at::kLong).to(hashes.device())};
}

at::Tensor group_rehash(const at::Tensor& slots, int64_t capacity, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const at::Tensor host = slots.cpu();
  const int64_t* from = host.const_data_ptr<int64_t>();
  at::Tensor larger = at::zeros({capacity, 2}, at::kLong);
  int64_t* to = larger.mutable_data_ptr<int64_t>();
  for (int64_t slot = 0; slot < slots.size(0); ++slot) {
    if (from[2 * slot + 1] == 0) continue;
    const int64_t target = find_slot(to, capacity, from[2 * slot]);
    to[2 * target] = from[2 * slot];
    to[2 * target + 1] = from[2 * slot + 1];
  }
  return larger.to(slots.device());
}

}  // namespace

REGISTER_BODY(Composite, "group_assign", group_assign);
REGISTER_BODY(Composite, "group_rehash", group_rehash);

}  // namespace pistachio::kernels::composite
