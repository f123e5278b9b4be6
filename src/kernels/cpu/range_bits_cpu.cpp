// CPU body of range_bits.
#include "kernels/cpu/sliding_range.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/range_bits.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

template <BitOp op>
struct BitFold {
  using Value = int64_t;
  const int64_t* values;
  const bool* validity;  // null: no NULLs

  static int64_t none() { return op == BitOp::And ? -1 : 0; }
  int64_t of(int64_t row) const { return validity == nullptr || validity[row] ? values[row] : none(); }
  static int64_t combine(int64_t left, int64_t right) {
    if constexpr (op == BitOp::And) return left & right;
    return op == BitOp::Or ? left | right : left ^ right;
  }
};

at::Tensor range_bits(const at::Tensor& values, const std::optional<at::Tensor>& validity, const at::Tensor& begins, const at::Tensor& ends,
                      int64_t op, const std::optional<at::Tensor>& stop) {
  const Ranges ranges(begins, ends);
  const int64_t* words = values.const_data_ptr<int64_t>();
  const bool* valid = validity ? validity->const_data_ptr<bool>() : nullptr;
  at::Tensor bits = at::empty({ranges.count}, at::kLong);
  int64_t* out = bits.mutable_data_ptr<int64_t>();
  const auto write = [&](int64_t range, int64_t value) { out[range] = value; };
  switch (static_cast<BitOp>(op)) {
    case BitOp::And: fold_all(BitFold<BitOp::And>{words, valid}, ranges, stop, write); break;
    case BitOp::Or: fold_all(BitFold<BitOp::Or>{words, valid}, ranges, stop, write); break;
    case BitOp::Xor: fold_all(BitFold<BitOp::Xor>{words, valid}, ranges, stop, write); break;
  }
  return bits;
}

}  // namespace

REGISTER_BODY(Cpu, "range_bits", range_bits);

}  // namespace pistachio::kernels::cpu
