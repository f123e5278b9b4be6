// CPU bodies of compare_constant and compare_wide_constant. The constant is converted to the values' type first, so that the loops compare
// narrow values without widening. A constant out of the type's range decides all rows; one between two floats is rounded.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "kernels/cpu/compare_constant_simd.h"
#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

struct TestAndSense {
  Test test;
  bool negated;
};

TestAndSense test_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::Equal: return {Test::Equal, false};
    case Comparison::NotEqual: return {Test::Equal, true};
    case Comparison::Less: return {Test::Less, false};
    case Comparison::LessEqual: return {Test::LessEqual, false};
    case Comparison::Greater: return {Test::LessEqual, true};
    case Comparison::GreaterEqual: return {Test::Less, true};
  }
  ENSURE(false, "comparison {}", static_cast<int64_t>(comparison));
}

// The result if every value is less than the constant, or every value is greater.
bool answer_for_all(Comparison comparison, bool values_are_less) {
  switch (comparison) {
    case Comparison::Equal: return false;
    case Comparison::NotEqual: return true;
    case Comparison::Less:
    case Comparison::LessEqual: return values_are_less;
    default: return !values_are_less;
  }
}

void fill(uint8_t* out, int64_t rows, bool answer) {
  std::fill_n(out, rows, static_cast<uint8_t>(answer));
}

void compare_integer_tensor(const at::Tensor& values, Comparison comparison, int64_t constant, uint8_t* out) {
  const ValueKind kind = value_kind_of(values);
  const auto [least, greatest] = with_type(kind, [](auto type) -> std::pair<int64_t, int64_t> {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    return {0, 0};
  });
  if (constant < least || constant > greatest) return fill(out, values.numel(), answer_for_all(comparison, constant > greatest));
  const auto [test, negated] = test_of(comparison);
  compare_integers(kind, values.const_data_ptr(), values.numel(), test, negated, constant, out);
}

void compare_with_nan(const at::Tensor& values, Comparison comparison, uint8_t* out) {
  const bool nan_answer = comparison == Comparison::Equal || comparison == Comparison::GreaterEqual;
  switch (comparison) {
    case Comparison::LessEqual: return fill(out, values.numel(), true);
    case Comparison::Greater: return fill(out, values.numel(), false);
    default: return test_nan(value_kind_of(values), values.const_data_ptr(), values.numel(), !nan_answer, out);
  }
}

// Floats against a constant that is not a float: `<` becomes `<=` the next float below, `>` its negation.
void compare_with_fraction(const at::Tensor& values, Comparison comparison, double constant, uint8_t* out) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float nearest = static_cast<float>(constant);
  const float below = nearest < constant ? nearest : std::nextafterf(nearest, -infinity);
  switch (comparison) {
    case Comparison::Equal: return fill(out, values.numel(), false);
    case Comparison::NotEqual: return fill(out, values.numel(), true);
    default: break;
  }
  const bool greater = comparison == Comparison::Greater || comparison == Comparison::GreaterEqual;
  compare_floats(ValueKind::Float, values.const_data_ptr(), values.numel(), Test::LessEqual, greater, below, out);
}

void compare_float_tensor(const at::Tensor& values, Comparison comparison, double constant, uint8_t* out) {
  if (std::isnan(constant)) return compare_with_nan(values, comparison, out);
  const bool is_float = values.scalar_type() == at::kFloat;
  if (is_float && static_cast<double>(static_cast<float>(constant)) != constant) {
    return compare_with_fraction(values, comparison, constant, out);
  }
  const auto [test, negated] = test_of(comparison);
  compare_floats(is_float ? ValueKind::Float : ValueKind::Double, values.const_data_ptr(), values.numel(), test, negated, constant, out);
}

at::Tensor compare_constant(const at::Tensor& values, int64_t comparison, const at::Scalar& constant) {
  at::Tensor result = at::empty({values.numel()}, at::kBool);
  uint8_t* out = reinterpret_cast<uint8_t*>(result.mutable_data_ptr<bool>());
  if (values.is_floating_point()) {
    compare_float_tensor(values, static_cast<Comparison>(comparison), constant.to<double>(), out);
  } else {
    compare_integer_tensor(values, static_cast<Comparison>(comparison), constant.to<int64_t>(), out);
  }
  return result;
}

at::Tensor compare_wide_constant(const at::Tensor& values, int64_t comparison, int64_t low, int64_t high) {
  at::Tensor result = at::empty({values.size(0)}, at::kBool);
  compare_wide(values.const_data_ptr<int64_t>(), values.size(0), static_cast<Comparison>(comparison), low, high,
               reinterpret_cast<uint8_t*>(result.mutable_data_ptr<bool>()));
  return result;
}

}  // namespace

REGISTER_BODY(Cpu, "compare_constant", compare_constant);
REGISTER_BODY(Cpu, "compare_wide_constant", compare_wide_constant);

}  // namespace pistachio::kernels::cpu
