// Reference body of decimal_from_bytes, int96_to_micros and float16_to_float: stock ATen calls, slow and simple, on any device.
#include "base/error.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::composite {

namespace {

// Byte `index` counted from the least significant one, 0 .. 15; beyond the row, the sign extension.
at::Tensor byte_from_end(const at::Tensor& rows, const at::Tensor& sign_byte, int64_t index) {
  return index < rows.size(1) ? rows.select(1, rows.size(1) - 1 - index).to(at::kLong) : sign_byte;
}

at::Tensor word_from_bytes(const at::Tensor& rows, const at::Tensor& sign_byte, int64_t first) {
  at::Tensor word = at::zeros_like(sign_byte);
  for (int64_t i = 0; i < 8; ++i) word = word.bitwise_or(byte_from_end(rows, sign_byte, first + i).bitwise_left_shift(8 * i));
  return word;
}

at::Tensor decimal_from_bytes(const at::Tensor& rows, bool wide) {
  const int64_t width = rows.size(1), kept = wide ? 16 : 8;
  const at::Tensor sign_byte = rows.select(1, 0).ge(128).to(at::kLong).mul(255);
  if (width > kept && rows.size(0) > 0) {
    const at::Tensor top_kept = rows.select(1, width - kept).ge(128).to(at::kLong).mul(255);
    const at::Tensor extension = concatenate_tensors({rows.slice(1, 0, width - kept).to(at::kLong), top_kept.unsqueeze(1)}, 1);
    const at::Tensor wrong = extension.ne(sign_byte.unsqueeze(1)).any(1);
    if (wrong.any().item<bool>()) {
      throw DataError("a decimal is too large for its type", {.offset = wrong.to(at::kInt).argmax().item<int64_t>() * width});
    }
  }
  const at::Tensor low = word_from_bytes(rows, sign_byte, 0);
  return wide ? at::stack({low, word_from_bytes(rows, sign_byte, 8)}, 1) : low;
}

at::Tensor int96_to_micros(const at::Tensor& rows) {
  constexpr int64_t julian_day_of_1970 = 2440588, micros_of_a_day = 86400000000;
  const at::Tensor nanos = rows.slice(1, 0, 8).clone(at::MemoryFormat::Contiguous).view(at::kLong).view({-1});
  const at::Tensor days = rows.slice(1, 8, 12).clone(at::MemoryFormat::Contiguous).view(at::kInt).view({-1}).to(at::kLong);
  // As whole days and the rest of a day, which is never negative, to compare with the ends of int64 in the same form.
  const at::Tensor micros = at::div(nanos, 1000, "floor");
  const at::Tensor more_days = at::div(micros, micros_of_a_day, "floor");
  const at::Tensor day = days - julian_day_of_1970 + more_days, rest = micros - more_days.mul(micros_of_a_day);
  constexpr int64_t last_day = INT64_MAX / micros_of_a_day, last_rest = INT64_MAX % micros_of_a_day;
  constexpr int64_t first_day = -last_day - 1, first_rest = micros_of_a_day - last_rest - 1;
  const at::Tensor above = day.gt(last_day).logical_or(day.eq(last_day).logical_and(rest.gt(last_rest)));
  const at::Tensor below = day.lt(first_day).logical_or(day.eq(first_day).logical_and(rest.lt(first_rest)));
  const at::Tensor wrong = above.logical_or(below);
  if (wrong.any().item<bool>()) {
    throw DataError("a timestamp lies outside the range of microseconds", {.offset = wrong.to(at::kInt).argmax().item<int64_t>() * 12});
  }
  // On the first day the product alone wraps around; the sum is back in range.
  return day.mul(micros_of_a_day) + rest;
}

at::Tensor float16_to_float(const at::Tensor& rows) {
  return rows.clone().view(at::kHalf).view({-1}).to(at::kFloat);
}

}  // namespace

REGISTER_BODY(Composite, "decimal_from_bytes", decimal_from_bytes);
REGISTER_BODY(Composite, "int96_to_micros", int96_to_micros);
REGISTER_BODY(Composite, "float16_to_float", float16_to_float);

}  // namespace pistachio::kernels::composite
