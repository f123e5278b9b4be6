// CPU bodies of segment_extreme and segment_extreme_text. With groups, a branch per row: it is rarely taken once a group has seen some
// values, so rows do not wait for each other's stores.

#include <type_traits>
#include <vector>

#include "kernels/cpu/text_key.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

struct WideValue {
  int64_t low, high;
};

template <typename T>
bool is_less(T left, T right) {
  if constexpr (std::is_same_v<T, WideValue>) {
    return int128_from_words(left.low, left.high) < int128_from_words(right.low, right.high);
  } else if constexpr (std::is_floating_point_v<T>) {
    // NaN is the greatest value: a number is less than NaN, NaN is not less than NaN.
    return left < right || (right != right && left == left);
  } else {
    return left < right;
  }
}

template <bool take_max, typename T>
bool is_better(T value, T best) {
  return take_max ? is_less(best, value) : is_less(value, best);
}

template <typename T>
struct RowBatch {
  const int64_t* ids;
  const T* values;
  const bool* validity;  // null: no NULLs
  int64_t rows;
};

template <bool take_max, bool has_nulls, typename T>
void update_groups(T* best, bool* seen, const RowBatch<T>& batch) {
  for (int64_t row = 0; row < batch.rows; ++row) {
    const int64_t group = batch.ids[row];
    const T value = batch.values[row];
    const bool valid = !has_nulls || batch.validity[row];
    if (valid & (is_better<take_max>(value, best[group]) | !seen[group])) {  // one branch: validity alone is hard to predict
      best[group] = value;
      seen[group] = true;
    }
  }
}

// Without GROUP BY: the running value stays in registers, and the compiler vectorizes the loop for integers.
template <bool take_max, bool has_nulls, typename T>
void update_single_group(T& best, bool& seen, const RowBatch<T>& batch) {
  int64_t row = 0;
  if (!seen) {
    while (has_nulls && row < batch.rows && !batch.validity[row]) ++row;
    if (row == batch.rows) return;
    best = batch.values[row++];
    seen = true;
  }
  T running = best;
  for (; row < batch.rows; ++row) {
    const T value = batch.values[row];
    const bool valid = !has_nulls || batch.validity[row];
    running = (valid & is_better<take_max>(value, running)) ? value : running;
  }
  best = running;
}

template <bool take_max, bool has_nulls, typename T>
void update_rows(T* best, bool* seen, int64_t groups, const RowBatch<T>& batch) {
  if (groups == 1) {
    update_single_group<take_max, has_nulls>(*best, *seen, batch);
  } else {
    update_groups<take_max, has_nulls>(best, seen, batch);
  }
}

void segment_extreme(at::Tensor& best, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, bool take_max,
                     const std::optional<at::Tensor>& validity) {
  const auto run = [&](auto type) {
    using T = decltype(type);
    const auto update = take_max ? (validity ? update_rows<true, true, T> : update_rows<true, false, T>)
                                 : (validity ? update_rows<false, true, T> : update_rows<false, false, T>);
    update(static_cast<T*>(best.mutable_data_ptr()), seen.mutable_data_ptr<bool>(), seen.numel(),
           {ids.const_data_ptr<int64_t>(), static_cast<const T*>(values.const_data_ptr()),
            validity ? validity->const_data_ptr<bool>() : nullptr, ids.numel()});
  };
  if (is_wide(values)) return run(WideValue{});
  with_type(value_kind_of(values), run);
}

// The best row of a group and the first eight bytes of its text, which decide most comparisons.
struct TextBest {
  uint64_t key = 0;
  int64_t row = -1;
};

at::Tensor segment_extreme_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& ids,
                                int64_t groups, bool take_max, const std::optional<at::Tensor>& validity) {
  const uint8_t* data = bytes.const_data_ptr<uint8_t>();
  const uint8_t* end = data + bytes.numel();
  const int64_t* from = begins.const_data_ptr<int64_t>();
  const int64_t* to = ends.const_data_ptr<int64_t>();
  const int64_t* group_of = ids.const_data_ptr<int64_t>();
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  const auto text = [&](int64_t row) { return TextSpan{data + from[row], to[row] - from[row]}; };
  // Inverted keys turn max into min, so one loop serves both.
  const uint64_t flip = take_max ? ~uint64_t{0} : 0;
  std::vector<TextBest> best(static_cast<size_t>(groups));
  for (int64_t row = 0; row < ids.numel(); ++row) {
    if (valid != nullptr && !valid[row]) continue;
    TextBest& former = best[static_cast<size_t>(group_of[row])];
    const uint64_t key = text_key(text(row), end) ^ flip;
    if (former.row >= 0) {
      if (key > former.key) continue;
      if (key == former.key) {
        const int order = compare_text(text(row), text(former.row));
        if (take_max ? order <= 0 : order >= 0) continue;
      }
    }
    former = {key, row};
  }
  at::Tensor rows = at::empty({groups}, at::kLong);
  for (int64_t group = 0; group < groups; ++group) rows.mutable_data_ptr<int64_t>()[group] = best[static_cast<size_t>(group)].row;
  return rows;
}

}  // namespace

REGISTER_BODY(Cpu, "segment_extreme", segment_extreme);
REGISTER_BODY(Cpu, "segment_extreme_text", segment_extreme_text);

}  // namespace pistachio::kernels::cpu
