// CPU bodies of range_sum and range_sum_float. Exact sums add the rows that enter a range and subtract those that leave it.

#include <type_traits>

#include "base/error.h"
#include "kernels/cpu/sliding_range.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

template <typename T>
struct ExactTotal {
  const T* values;
  const bool* validity;  // null: no NULLs
  Int128 sum = 0;

  Int128 value(int64_t row) const { return validity == nullptr || validity[row] ? static_cast<Int128>(values[row]) : 0; }
  void add(int64_t row) { sum += value(row); }
  void remove(int64_t row) { sum -= value(row); }
};

// The words are summed apart, so that no sum of a range can overflow.
struct WideTotal {
  const int64_t* words;
  const bool* validity;  // null: no NULLs
  Int128 low = 0;
  Int128 high = 0;

  void add(int64_t row) {
    if (validity != nullptr && !validity[row]) return;
    low += static_cast<uint64_t>(words[2 * row]);
    high += words[2 * row + 1];
  }
  void remove(int64_t row) {
    if (validity != nullptr && !validity[row]) return;
    low -= static_cast<uint64_t>(words[2 * row]);
    high -= words[2 * row + 1];
  }
};

at::Tensor sum_wide(WideTotal total, const Ranges& ranges, const std::optional<at::Tensor>& stop) {
  at::Tensor sums = at::empty({ranges.count, 2}, at::kLong);
  int64_t* out = sums.mutable_data_ptr<int64_t>();
  total_all(total, ranges, stop, [&](int64_t range) {
    const Int128 high = total.high + (total.low >> 64);
    if (high != static_cast<int64_t>(high)) throw UserError("sum out of range");
    out[2 * range] = low_word(total.low);
    out[2 * range + 1] = static_cast<int64_t>(high);
  });
  return sums;
}

at::Tensor range_sum(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                     const std::optional<at::Tensor>& stop) {
  const Ranges ranges(begins, ends);
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  if (is_wide(values)) return sum_wide({values.const_data_ptr<int64_t>(), valid}, ranges, stop);
  at::Tensor sums = at::empty({ranges.count, 2}, at::kLong);
  int64_t* out = sums.mutable_data_ptr<int64_t>();
  with_type(value_kind_of(values), [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      ExactTotal<T> total{static_cast<const T*>(values.const_data_ptr()), valid};
      total_all(total, ranges, stop, [&](int64_t range) {
        out[2 * range] = low_word(total.sum);
        out[2 * range + 1] = high_word(total.sum);
      });
    }
  });
  return sums;
}

template <typename T>
struct FloatFold {
  using Value = double;
  const T* values;
  const bool* validity;  // null: no NULLs

  static double none() { return 0; }
  double of(int64_t row) const { return validity == nullptr || validity[row] ? static_cast<double>(values[row]) : 0; }
  static double combine(double left, double right) { return left + right; }
};

at::Tensor range_sum_float(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins,
                           const at::Tensor& ends, const std::optional<at::Tensor>& stop) {
  const Ranges ranges(begins, ends);
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  at::Tensor sums = at::empty({ranges.count}, at::kDouble);
  double* out = sums.mutable_data_ptr<double>();
  const auto write = [&](int64_t range, double sum) { out[range] = sum; };
  if (values.scalar_type() == at::kFloat) {
    fold_all(FloatFold<float>{values.const_data_ptr<float>(), valid}, ranges, stop, write);
  } else {
    fold_all(FloatFold<double>{values.const_data_ptr<double>(), valid}, ranges, stop, write);
  }
  return sums;
}

}  // namespace

REGISTER_BODY(Cpu, "range_sum", range_sum);
REGISTER_BODY(Cpu, "range_sum_float", range_sum_float);

}  // namespace pistachio::kernels::cpu
