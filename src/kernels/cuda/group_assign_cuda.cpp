// CUDA bodies of group_assign and group_rehash, on torch's current stream. group_assign synchronizes once per window of rows; group_rehash
// never.
#include "kernels/cuda/group_assign_cuda.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/kernel_call.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cuda {

namespace {

// Windows grow: a full table stops the first one after little work, while many rows with few groups need few windows. A table that has seen
// rows before and is not half full will hardly fill up: one window then.
constexpr int64_t first_window = int64_t{1} << 20;
constexpr int64_t window_growth = 4;

// Not a view, which would keep the whole allocation alive.
at::Tensor shortened(const at::Tensor& words, int64_t count) {
  return count == words.size(0) ? words : words.narrow(0, 0, count).clone();
}

std::tuple<at::Tensor, at::Tensor> group_assign(at::Tensor& slots, int64_t groups, int64_t most_groups, const at::Tensor& hashes,
                                                int64_t begin) {
  const KernelCall call(hashes);
  auto* table = static_cast<GroupSlot*>(slots.mutable_data_ptr());
  const int64_t rows = hashes.size(0) - begin;
  at::Tensor ids = empty_words(hashes, rows);
  std::vector<at::Tensor> first_rows;
  int64_t row = 0;
  const bool is_settled = groups > 0 && groups < most_groups / 2;
  for (int64_t window = is_settled ? most_window_rows : first_window; row < rows; window = std::min(window * window_growth, most_window_rows)) {
    ScratchMemory scratch;
    const int64_t window_rows = std::min(rows - row, window);
    at::Tensor firsts = empty_words(hashes, std::min(window_rows, most_groups - groups));
    const AssignedRows assigned =
        assign_groups(table, slots.size(0), groups, most_groups, hashes.const_data_ptr<int64_t>(), begin + row, window_rows,
                      ids.mutable_data_ptr<int64_t>() + row, firsts.mutable_data_ptr<int64_t>(), scratch, call.stream());
    first_rows.push_back(shortened(firsts, assigned.new_groups));
    groups += assigned.new_groups;
    row += assigned.rows;
    if (assigned.rows < window_rows) break;
  }
  const at::Tensor all_firsts = first_rows.empty()       ? empty_words(hashes, 0)
                                : first_rows.size() == 1 ? first_rows[0]
                                                         : concatenate_tensors(first_rows);
  return {shortened(ids, row), all_firsts};
}

at::Tensor group_rehash(const at::Tensor& slots, int64_t capacity, const std::optional<at::Tensor>& stop) {
  StopCheck{stop}();
  const KernelCall call(slots);
  at::Tensor larger = at::zeros({capacity, 2}, slots.options());
  rehash_groups(static_cast<const GroupSlot*>(slots.const_data_ptr()), slots.size(0), static_cast<GroupSlot*>(larger.mutable_data_ptr()),
                capacity, call.stream());
  return larger;
}

}  // namespace

REGISTER_BODY(Cuda, "group_assign", group_assign);
REGISTER_BODY(Cuda, "group_rehash", group_rehash);

}  // namespace pistachio::kernels::cuda
