// CPU body of range_search. The bounds of a window frame grow from row to row: a search starts at the result of the one before it, and goes
// on by a binary search if a few steps are not enough.

#include <algorithm>

#include "kernels/ops/body_table.h"
#include "kernels/ops/stop_flag.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

constexpr int64_t few_steps = 8;

template <bool after_equal>
bool is_before(int64_t key, int64_t bound) {
  return after_equal ? key <= bound : key < bound;
}

template <bool after_equal>
int64_t search(const int64_t* keys, int64_t bound, int64_t begin, int64_t end, int64_t hint) {
  if (end <= begin) return begin;
  if (hint < begin || hint > end || (hint > begin && !is_before<after_equal>(keys[hint - 1], bound))) hint = begin;
  const int64_t near = std::min(end, hint + few_steps);
  for (; hint < near; ++hint) {
    if (!is_before<after_equal>(keys[hint], bound)) return hint;
  }
  if (hint == end) return end;
  return std::partition_point(keys + hint, keys + end, [&](int64_t key) { return is_before<after_equal>(key, bound); }) - keys;
}

template <bool after_equal>
void search_all(const int64_t* keys, const int64_t* bounds, const int64_t* begins, const int64_t* ends, int64_t* out, int64_t count,
                const StopCheck& stop) {
  int64_t hint = 0;
  for_each_strip(count, stop, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) out[i] = hint = search<after_equal>(keys, bounds[i], begins[i], ends[i], hint);
  });
}

at::Tensor range_search(const at::Tensor& keys, const at::Tensor& bounds, const at::Tensor& begins, const at::Tensor& ends, bool after_equal,
                        const std::optional<at::Tensor>& stop) {
  at::Tensor places = at::empty({bounds.numel()}, at::kLong);
  const auto search_them = after_equal ? search_all<true> : search_all<false>;
  search_them(keys.const_data_ptr<int64_t>(), bounds.const_data_ptr<int64_t>(), begins.const_data_ptr<int64_t>(), ends.const_data_ptr<int64_t>(),
              places.mutable_data_ptr<int64_t>(), bounds.numel(), StopCheck(stop));
  return places;
}

}  // namespace

REGISTER_BODY(Cpu, "range_search", range_search);

}  // namespace pistachio::kernels::cpu
