// Reference body of checked_arithmetic and wide_arithmetic: one scalar loop in a type wide enough for every result, on any device.
#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/checked_arithmetic.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

Int128 divide(Int128 left, Int128 right, bool rounding) {
  if (right == 0) throw UserError("division by zero");
  constexpr Int128 lowest = static_cast<Int128>(UInt128{1} << 127);
  if (left == lowest && right == -1) throw UserError("number out of range");
  Int128 quotient = left / right;
  Int128 rest = left % right;
  if (!rounding || rest == 0) return quotient;
  UInt128 magnitude = rest < 0 ? -static_cast<UInt128>(rest) : static_cast<UInt128>(rest);
  UInt128 divisor = right < 0 ? -static_cast<UInt128>(right) : static_cast<UInt128>(right);
  if (magnitude < divisor - magnitude) return quotient;
  return (left < 0) == (right < 0) ? quotient + 1 : quotient - 1;
}

Int128 compute(Int128 left, Arithmetic operation, Int128 right) {
  Int128 result = 0;
  bool overflow = false;
  switch (operation) {
    case Arithmetic::Add: overflow = __builtin_add_overflow(left, right, &result); break;
    case Arithmetic::Subtract: overflow = __builtin_sub_overflow(left, right, &result); break;
    case Arithmetic::Multiply: overflow = __builtin_mul_overflow(left, right, &result); break;
    case Arithmetic::Divide: return divide(left, right, false);
    case Arithmetic::DivideRounding: return divide(left, right, true);
    case Arithmetic::Modulo:
      if (right == 0) throw UserError("division by zero");
      return right == -1 ? 0 : left % right;
  }
  if (overflow) throw UserError("number out of range");
  return result;
}

at::Tensor checked_arithmetic(const at::Tensor& left, int64_t operation, const at::Tensor& right, const std::optional<at::Tensor>& valid) {
  const at::Tensor first = left.to(at::kCPU, at::kLong);
  const at::Tensor second = right.to(at::kCPU, at::kLong);
  const at::Tensor counts = valid ? valid->cpu() : at::Tensor();
  const int64_t rows = first.numel() == 1 ? second.numel() : first.numel();
  at::Tensor results = at::zeros({rows}, at::kLong);
  for (int64_t i = 0; i < rows; ++i) {
    if (counts.defined() && !counts.const_data_ptr<bool>()[i]) continue;
    const Int128 result = compute(first.const_data_ptr<int64_t>()[first.numel() == 1 ? 0 : i], static_cast<Arithmetic>(operation),
                                  second.const_data_ptr<int64_t>()[second.numel() == 1 ? 0 : i]);
    const int bits = static_cast<int>(left.element_size()) * 8 - 1;
    if (result >> bits != 0 && result >> bits != -1) throw UserError("number out of range");
    results.mutable_data_ptr<int64_t>()[i] = static_cast<int64_t>(result);
  }
  return results.to(left.options());
}

at::Tensor wide_arithmetic(const at::Tensor& left, int64_t operation, const at::Tensor& right, const std::optional<at::Tensor>& valid) {
  const at::Tensor first = left.cpu();
  const at::Tensor second = right.cpu();
  const at::Tensor counts = valid ? valid->cpu() : at::Tensor();
  const int64_t rows = first.size(0) == 1 ? second.size(0) : first.size(0);
  at::Tensor results = at::zeros({rows, 2}, at::kLong);
  auto word = [](const at::Tensor& words, int64_t row) {
    const int64_t place = words.size(0) == 1 ? 0 : row;
    if (words.dim() == 1) return Int128{words.const_data_ptr<int64_t>()[place]};
    const int64_t* pair = words.const_data_ptr<int64_t>() + place * 2;
    return int128_from_words(pair[0], pair[1]);
  };
  for (int64_t i = 0; i < rows; ++i) {
    if (counts.defined() && !counts.const_data_ptr<bool>()[i]) continue;
    const Int128 result = compute(word(first, i), static_cast<Arithmetic>(operation), word(second, i));
    results.mutable_data_ptr<int64_t>()[i * 2] = low_word(result);
    results.mutable_data_ptr<int64_t>()[i * 2 + 1] = high_word(result);
  }
  return results.to(left.device());
}

}  // namespace

REGISTER_BODY(Composite, "checked_arithmetic", checked_arithmetic);
REGISTER_BODY(Composite, "wide_arithmetic", wide_arithmetic);

}  // namespace pistachio::kernels::composite
