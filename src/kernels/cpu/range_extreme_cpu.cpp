// CPU body of range_extreme.
#include "kernels/cpu/sliding_range.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

template <bool take_max>
struct ExtremeFold {
  struct Value {
    int64_t word;
    int64_t row;  // -1: none
  };
  const int64_t* words;
  const bool* validity;  // null: no NULLs

  static Value none() { return {0, -1}; }
  Value of(int64_t row) const { return {words[row], validity == nullptr || validity[row] ? row : -1}; }
  static Value combine(Value left, Value right) {
    const bool better = take_max ? right.word > left.word : right.word < left.word;
    return (right.row >= 0) & ((left.row < 0) | better) ? right : left;
  }
};

at::Tensor range_extreme(const at::Tensor& words, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                         bool take_max, const std::optional<at::Tensor>& stop) {
  const Ranges ranges(begins, ends);
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  at::Tensor rows = at::empty({ranges.count}, at::kLong);
  int64_t* out = rows.mutable_data_ptr<int64_t>();
  const auto write = [&](int64_t range, const auto& best) { out[range] = best.row; };
  if (take_max) {
    fold_all(ExtremeFold<true>{words.const_data_ptr<int64_t>(), valid}, ranges, stop, write);
  } else {
    fold_all(ExtremeFold<false>{words.const_data_ptr<int64_t>(), valid}, ranges, stop, write);
  }
  return rows;
}

}  // namespace

REGISTER_BODY(Cpu, "range_extreme", range_extreme);

}  // namespace pistachio::kernels::cpu
