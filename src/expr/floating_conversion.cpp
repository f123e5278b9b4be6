#include "expr/floating_conversion.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "columns/device_copy.h"
#include "columns/scalar_access.h"
#include "expr/cast.h"
#include "expr/parse_value.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

int scale_of_exact(LogicalType type) {
  return type.kind() == TypeKind::Decimal ? type.scale() : 0;
}

// Integers up to `kMax` and powers of ten up to `kScale` are exact in the type, so that their quotient is rounded only once.
template <typename Number>
struct ExactQuotient {
  static constexpr int64_t kMax = int64_t{1} << std::numeric_limits<Number>::digits;
  static constexpr int kScale = std::is_same_v<Number, float> ? 10 : 22;

  static bool holds(Int128 value, int scale) { return value <= kMax && value >= -kMax && scale <= kScale; }
};

template <typename Number>
Number nearest_number(Int128 value, int scale) {
  if (ExactQuotient<Number>::holds(value, scale)) return static_cast<Number>(value) / static_cast<Number>(power_of_ten(scale));
  std::string text = format_scaled_integer(value, 0);
  fmt::format_to(std::back_inserter(text), "e-{}", scale);
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

template <typename Number>
at::Tensor nearest_numbers(const Column& column, LogicalType to) {
  const at::Tensor& values = column.values();
  int scale = scale_of_exact(column.type());
  bool is_wide = column.type().is_wide();
  if (!is_wide && scale == 0) return values.to(to.scalar_type());
  if (!is_wide && scale <= ExactQuotient<Number>::kScale) {
    at::Tensor beyond = values.gt(ExactQuotient<Number>::kMax).logical_or_(values.lt(-ExactQuotient<Number>::kMax));
    // Divides by a tensor, not a scalar: CUDA would multiply by the reciprocal of a scalar, which rounds twice.
    at::Tensor divisor = at::full({1}, static_cast<double>(power_of_ten(scale)), values.options().dtype(to.scalar_type()));
    if (!beyond.any().item<bool>()) return values.to(to.scalar_type()) / divisor;
  }
  at::Tensor words = copied_to(values, at::kCPU).contiguous();
  const int64_t* source = words.const_data_ptr<int64_t>();
  at::Tensor result = at::empty({words.size(0)}, at::TensorOptions(to.scalar_type()));
  Number* target = result.mutable_data_ptr<Number>();
  const int64_t words_of_row = is_wide ? 2 : 1;
  for (int64_t row = 0; row < words.size(0); ++row) {
    Int128 value = source[row * words_of_row];
    if (is_wide) value = (Int128{source[2 * row + 1]} << 64) | static_cast<Int128>(static_cast<uint64_t>(source[2 * row]));
    target[row] = nearest_number<Number>(value, scale);
  }
  return copied_to(result, values.device());
}

// Whether rounding `scaled` to an integer equals rounding the printed digits: it is small and not near a half.
bool rounds_safely(double scaled) {
  double magnitude = std::abs(scaled);
  return magnitude < 1e9 && std::abs(magnitude - std::floor(magnitude) - 0.5) > 1e-3;
}

// Whole numbers are exact; others are taken as their shortest round-trip digits, so that 1.115 rounds to 1.12.
template <typename Number>
std::string digits_of(Number number) {
  bool is_whole = std::abs(number) >= static_cast<Number>(ExactQuotient<Number>::kMax);
  return is_whole ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
}

Int128 decimal_of(const ScalarValue& value, LogicalType to) {
  if (!std::isfinite(value.floating)) throw UserError(fmt::format("{} is out of range for {}", value.to_string(), to.to_string()));
  bool is_real = value.type.kind() == TypeKind::Real;
  std::string digits = is_real ? digits_of(static_cast<float>(value.floating)) : digits_of(value.floating);
  return rounded_decimal(*read_decimal_text(digits), to, value.to_string());
}

}  // namespace

at::Tensor exact_to_floating(const Column& column, LogicalType to) {
  return to.kind() == TypeKind::Real ? nearest_numbers<float>(column, to) : nearest_numbers<double>(column, to);
}

Column floating_to_decimal(const Column& source, LogicalType to, const at::Tensor& source_valid) {
  Column column = to_device(source, at::kCPU);
  at::Tensor valid = source_valid.defined() ? copied_to(source_valid, at::kCPU).contiguous() : source_valid;
  const bool* counts = valid.defined() ? valid.const_data_ptr<bool>() : nullptr;
  bool is_double = source.type().kind() == TypeKind::Double;
  at::Tensor numbers = column.values().to(at::kDouble).contiguous();
  const double* number = numbers.const_data_ptr<double>();
  auto factor = static_cast<double>(power_of_ten(to.scale()));
  auto largest = static_cast<double>(power_of_ten(std::min(9, to.precision())) - 1);
  int64_t words = to.is_wide() ? 2 : 1;
  at::Tensor result = at::zeros({column.rows() * words}, at::kLong);
  auto* target = result.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < column.rows(); ++row) {
    if (counts != nullptr && !counts[row]) continue;
    double scaled = number[row] * factor;
    double rounded = std::round(scaled);
    bool is_simple = is_double && rounds_safely(scaled) && std::abs(rounded) <= largest;
    Int128 value = is_simple ? static_cast<Int128>(rounded) : decimal_of(ScalarValue::of_floating(source.type(), number[row]), to);
    target[row * words] = static_cast<int64_t>(value);
    if (words == 2) target[row * words + 1] = static_cast<int64_t>(value >> 64);
  }
  at::Tensor shaped = to.is_wide() ? result.view({-1, 2}) : result.to(to.scalar_type());
  return Column::fixed(to, copied_to(shaped, source.device()), source.validity());
}

}  // namespace pistachio
