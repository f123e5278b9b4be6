// Reference body of segment_extreme and segment_extreme_text: stock ATen calls or scalar loops, slow and simple, on any device.
#include <ATen/Dispatch.h>

#include <algorithm>
#include <string_view>

#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

// NaN equals itself (neither is less) and is greater than every number; for integers the second condition is never true.
template <typename T>
bool is_less(T left, T right) {
  return left < right || (left == left && right != right);
}

// `better(row, group)` compares a row's value with the best of its group; `take` makes it the best.
template <typename Better, typename Take>
void update_groups(const at::Tensor& ids, const at::Tensor& validity, bool* seen, const Better& better, const Take& take) {
  const int64_t* group = ids.const_data_ptr<int64_t>();
  const bool* valid = validity.const_data_ptr<bool>();
  for (int64_t row = 0; row < ids.numel(); ++row) {
    if (!valid[row]) continue;
    if (!seen[group[row]] || better(row, group[row])) take(row, group[row]);
    seen[group[row]] = true;
  }
}

at::Tensor host_validity(const std::optional<at::Tensor>& validity, int64_t rows) {
  return validity ? validity->cpu() : at::ones({rows}, at::kBool);
}

template <typename T>
void update_values(const at::Tensor& best, bool* seen, const at::Tensor& ids, const at::Tensor& values, bool take_max,
                   const at::Tensor& validity) {
  T* state = best.mutable_data_ptr<T>();
  const T* value = values.const_data_ptr<T>();
  update_groups(
      ids, validity, seen,
      [&](int64_t row, int64_t group) { return take_max ? is_less(state[group], value[row]) : is_less(value[row], state[group]); },
      [&](int64_t row, int64_t group) { state[group] = value[row]; });
}

void update_wide(const at::Tensor& best, bool* seen, const at::Tensor& ids, const at::Tensor& values, bool take_max,
                 const at::Tensor& validity) {
  auto state = best.accessor<int64_t, 2>();
  auto words = values.accessor<int64_t, 2>();
  update_groups(
      ids, validity, seen,
      [&](int64_t row, int64_t group) {
        const Int128 value = int128_from_words(words[row][0], words[row][1]);
        const Int128 former = int128_from_words(state[group][0], state[group][1]);
        return take_max ? former < value : value < former;
      },
      [&](int64_t row, int64_t group) {
        state[group][0] = words[row][0];
        state[group][1] = words[row][1];
      });
}

void segment_extreme(at::Tensor& best, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, bool take_max,
                     const std::optional<at::Tensor>& validity) {
  const at::Tensor host_best = best.cpu(), host_seen = seen.cpu(), host_ids = ids.cpu(), host_values = values.cpu();
  const at::Tensor valid = host_validity(validity, ids.size(0));
  bool* marks = host_seen.mutable_data_ptr<bool>();
  if (is_wide(values)) {
    update_wide(host_best, marks, host_ids, host_values, take_max, valid);
  } else {
    AT_DISPATCH_ALL_TYPES_AND(at::kBool, values.scalar_type(), "segment_extreme",
                              [&] { update_values<scalar_t>(host_best, marks, host_ids, host_values, take_max, valid); });
  }
  best.copy_(host_best);
  seen.copy_(host_seen);
}

at::Tensor segment_extreme_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& ids,
                                int64_t groups, bool take_max, const std::optional<at::Tensor>& validity) {
  const at::Tensor host_bytes = bytes.cpu(), host_begins = begins.cpu(), host_ends = ends.cpu();
  const char* data = reinterpret_cast<const char*>(host_bytes.const_data_ptr<uint8_t>());
  const int64_t* from = host_begins.const_data_ptr<int64_t>();
  const int64_t* to = host_ends.const_data_ptr<int64_t>();
  const auto text = [&](int64_t row) { return std::string_view(data + from[row], static_cast<size_t>(to[row] - from[row])); };
  at::Tensor best = at::full({groups}, -1, at::kLong), seen = at::zeros({groups}, at::kBool);
  int64_t* rows = best.mutable_data_ptr<int64_t>();
  update_groups(
      ids.cpu(), host_validity(validity, ids.size(0)), seen.mutable_data_ptr<bool>(),
      [&](int64_t row, int64_t group) { return take_max ? text(rows[group]) < text(row) : text(row) < text(rows[group]); },
      [&](int64_t row, int64_t group) { rows[group] = row; });
  return best.to(bytes.device());
}

}  // namespace

REGISTER_BODY(Composite, "segment_extreme", segment_extreme);
REGISTER_BODY(Composite, "segment_extreme_text", segment_extreme_text);

}  // namespace pistachio::kernels::composite
