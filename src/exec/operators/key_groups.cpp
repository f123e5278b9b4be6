#include "exec/operators/key_groups.h"

#include "exec/operators/group_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

KeyGroups group_rows(const std::vector<Column>& keys, int64_t rows, at::Device device, const MemoryAccount& account,
                     const CancelToken& token) {
  Reservation memory = account.reserve_now(rows * 48, ReservationKind::Held);  // groups, slots, row numbers
  std::vector<LogicalType> types;
  for (const Column& key : keys) types.push_back(key.type());
  GroupTable groups(types, device);
  at::Tensor ids = groups.assign(keys, rows, token);
  at::Tensor row_of = at::zeros({groups.groups()}, ids.options());
  row_of.scatter_(0, ids, at::arange(rows, ids.options()));
  return {std::move(ids), std::move(row_of)};
}

}  // namespace pistachio
