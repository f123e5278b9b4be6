#include "storage/value_conversion.h"

#include <fmt/format.h>

#include "base/check.h"
#include "columns/device_copy.h"
#include "kernels/ops/fixed_bytes_conversion.h"
#include "kernels/ops/magnitude_below.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/two_words.h"

namespace pistachio {

namespace {

void require(bool condition, const char* problem, const DataLocation& where) {
  if (!condition) throw DataError(problem, where);
}

at::Tensor narrow_integers(const at::Tensor& values, at::ScalarType type, const DataLocation& where) {
  at::Tensor narrow = values.to(type);
  require(narrow.to(values.scalar_type()).equal(values), "a value is outside the range of its integer type", where);
  return narrow;
}

at::Tensor unsigned_in_range(const at::Tensor& values, int64_t highest, at::ScalarType type, const DataLocation& where) {
  if (values.numel() > 0) {
    require(values.min().item<int64_t>() >= 0 && values.max().item<int64_t>() <= highest,
            "a value is outside the range of its unsigned type", where);
  }
  return values.to(type);
}

// Milliseconds to microseconds, or microseconds to nanoseconds.
at::Tensor thousandfold(const at::Tensor& values, const char* problem, const DataLocation& where) {
  at::Tensor times = values.to(at::kLong);
  constexpr int64_t highest = INT64_MAX / 1000;
  if (times.numel() > 0) require(times.min().item<int64_t>() >= -highest && times.max().item<int64_t>() <= highest, problem, where);
  return times.mul(1000);
}

constexpr const char* kBeyondMicros = "a time in milliseconds is outside the range of microseconds";
constexpr const char* kBeyondNanos = "a timestamp is outside the range of nanoseconds, which other files of the table have";

Column uuid_text(const ParquetColumn& column, const at::Tensor& rows) {
  // Each of the 36 characters is a hyphen or the hex digit of half a byte.
  static constexpr char kDigits[] = "0123456789abcdef";
  int64_t count = rows.size(0);
  at::Tensor halves = at::stack({rows.bitwise_right_shift(4), rows.bitwise_and(15)}, 2).view({count, 32});
  at::Tensor digits = at::empty({16}, at::kByte);
  std::copy(kDigits, kDigits + 16, digits.mutable_data_ptr<uint8_t>());
  at::Tensor characters = copied_to(digits, rows.device()).index_select(0, halves.reshape({-1}).to(at::kInt)).view({count, 32});
  at::Tensor text = at::full({count, 36}, '-', rows.options());
  int64_t from = 0;
  int64_t to = 0;
  for (int64_t group : {8, 4, 4, 4, 12}) {
    text.narrow(1, to, group).copy_(characters.narrow(1, from, group));
    from += group;
    to += group + 1;
  }
  at::Tensor begins = at::arange(count, rows.options().dtype(at::kLong)) * 36;
  return Column::text(column.type, text.view({-1}), begins, begins + 36);
}

// Months, days, milliseconds as unsigned 32-bit numbers.
at::Tensor interval_words(const at::Tensor& rows, const DataLocation& where) {
  at::Tensor parts =
      rows.numel() == 0 ? at::empty({0, 3}, rows.options().dtype(at::kLong)) : rows.contiguous().view(at::kInt).to(at::kLong).bitwise_and(0xffffffff);
  if (parts.numel() > 0) require(parts.narrow(1, 0, 2).max().item<int64_t>() <= INT32_MAX, "an interval is out of range", where);
  at::Tensor high = parts.select(1, 0).bitwise_left_shift(32).bitwise_or(parts.select(1, 1));
  return at::stack({parts.select(1, 2).mul(1000), high}, 1);
}

// Big-endian numbers of any length, sign-extended to rows of one width.
at::Tensor align_big_endian(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const DataLocation& where) {
  int64_t count = begins.numel();
  if (count == 0) return at::empty({0, 16}, bytes.options());
  at::Tensor lengths = ends - begins;
  require(lengths.min().item<int64_t>() > 0, "a decimal has no bytes", where);
  int64_t width = std::max<int64_t>(16, lengths.max().item<int64_t>());
  require(width <= 64, "a decimal has too many bytes", where);
  at::Tensor positions = ends.unsqueeze(1) - width + at::arange(width, ends.options()).unsqueeze(0);
  at::Tensor inside = positions.ge(begins.unsqueeze(1));
  at::Tensor taken = bytes.index_select(0, positions.maximum(begins.unsqueeze(1)).reshape({-1})).view({count, width});
  at::Tensor sign = bytes.index_select(0, begins).bitwise_right_shift(7).mul(255).unsqueeze(1).expand({count, width});
  return at::where(inside, taken, sign).contiguous();
}

// Arithmetic on decimals relies on their number of digits.
void check_precision(const ParquetColumn& column, const at::Tensor& values, const DataLocation& where) {
  if (column.type.is_wide()) return;
  int64_t bound = 1;
  for (int digit = 0; digit < column.type.precision(); ++digit) bound *= 10;
  require(kernels::magnitude_below(values, bound), "a decimal has more digits than its type", where);
}

}  // namespace

Column convert_numbers(const ParquetColumn& column, at::Tensor values, const DataLocation& where) {
  switch (column.conversion) {
    case ValueConversion::None:
      if (column.type.kind() == TypeKind::Decimal) check_precision(column, values, where);
      break;
    case ValueConversion::NarrowInteger: values = narrow_integers(values, column.type.scalar_type(), where); break;
    case ValueConversion::Unsigned8: values = unsigned_in_range(values, 255, at::kShort, where); break;
    case ValueConversion::Unsigned16: values = unsigned_in_range(values, 65535, at::kInt, where); break;
    case ValueConversion::Unsigned32: values = values.to(at::kLong).bitwise_and(0xffffffff); break;
    case ValueConversion::Unsigned64: values = at::stack({values, at::zeros_like(values)}, 1); break;
    case ValueConversion::WidenDecimal:
      check_precision(column, values, where);
      values = values.to(at::kLong);
      if (column.type.is_wide()) values = kernels::two_words(values);
      break;
    case ValueConversion::MillisToMicros: values = thousandfold(values, kBeyondMicros, where); break;
    default: throw DataError(fmt::format("{} cannot be stored as {}", column.type.to_string(), physical_type_name(column.physical)), where);
  }
  if (column.micros_to_nanos && values.scalar_type() == at::kLong) values = thousandfold(values, kBeyondNanos, where);
  if (values.scalar_type() != column.type.scalar_type()) {
    throw DataError(fmt::format("{} cannot be stored as {}", column.type.to_string(), physical_type_name(column.physical)), where);
  }
  return Column::fixed(column.type, std::move(values));
}

Column convert_fixed_bytes(const ParquetColumn& column, const at::Tensor& rows, const DataLocation& where) {
  switch (column.conversion) {
    case ValueConversion::Int96Timestamp: {
      at::Tensor micros = kernels::int96_to_micros(rows);
      return Column::fixed(column.type, column.micros_to_nanos ? thousandfold(micros, kBeyondNanos, where) : micros);
    }
    case ValueConversion::Float16: return Column::fixed(column.type, kernels::float16_to_float(rows));
    case ValueConversion::Uuid: return uuid_text(column, rows);
    case ValueConversion::BytesToDecimal: {
      at::Tensor values = kernels::decimal_from_bytes(rows, column.type.is_wide());
      check_precision(column, values, where);
      return Column::fixed(column.type, std::move(values));
    }
    case ValueConversion::BytesToInterval: return Column::fixed(column.type, interval_words(rows, where));
    case ValueConversion::BytesToBlob: {
      at::Tensor begins = at::arange(rows.size(0), rows.options().dtype(at::kLong)) * column.fixed_width;
      return Column::text(column.type, rows.reshape({-1}), begins, begins + column.fixed_width);
    }
    default: throw DataError(fmt::format("{} cannot be stored as {}", column.type.to_string(), physical_type_name(column.physical)), where);
  }
}

Column convert_text(const ParquetColumn& column, const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                    const DataLocation& where) {
  if (column.conversion == ValueConversion::BytesToDecimal) {
    at::Tensor values = kernels::decimal_from_bytes(align_big_endian(bytes, begins, ends, where), column.type.is_wide());
    check_precision(column, values, where);
    return Column::fixed(column.type, std::move(values));
  }
  if (!column.type.is_text())
    throw DataError(fmt::format("{} cannot be stored as {}", column.type.to_string(), physical_type_name(column.physical)), where);
  return Column::text(column.type, bytes, begins, ends);
}

}  // namespace pistachio
