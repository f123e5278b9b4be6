// CPU body of range_moments.
#include "kernels/cpu/sliding_range.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

template <typename T>
struct MomentFold {
  struct Value {
    double count, mean, squares;
  };
  const T* values;
  const bool* validity;  // null: no NULLs

  static Value none() { return {0, 0, 0}; }
  Value of(int64_t row) const { return validity == nullptr || validity[row] ? Value{1, static_cast<double>(values[row]), 0} : none(); }
  static Value combine(const Value& left, const Value& right) {
    if (left.count == 0) return right;
    if (right.count == 0) return left;
    const double total = left.count + right.count, distance = right.mean - left.mean, share = right.count / total;
    return {total, left.mean + distance * share, left.squares + right.squares + distance * distance * (left.count * share)};
  }
};

at::Tensor range_moments(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                         const std::optional<at::Tensor>& stop) {
  const Ranges ranges(begins, ends);
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  at::Tensor moments = at::empty({ranges.count, 3}, at::kDouble);
  double* out = moments.mutable_data_ptr<double>();
  const auto write = [&](int64_t range, const auto& value) {
    out[3 * range] = value.count;
    out[3 * range + 1] = value.mean;
    out[3 * range + 2] = value.squares;
  };
  if (values.scalar_type() == at::kFloat) {
    fold_all(MomentFold<float>{values.const_data_ptr<float>(), valid}, ranges, stop, write);
  } else {
    fold_all(MomentFold<double>{values.const_data_ptr<double>(), valid}, ranges, stop, write);
  }
  return moments;
}

}  // namespace

REGISTER_BODY(Cpu, "range_moments", range_moments);

}  // namespace pistachio::kernels::cpu
