#include "columns/order_words.h"

#include "columns/decode_dictionary.h"
#include "data/calendar.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_ranks.h"

namespace pistachio {

namespace {

// Maps doubles to integers of the same order: -0.0 like 0.0, all NaNs equal and above everything.
at::Tensor floating_word(const at::Tensor& values) {
  at::Tensor numbers = values.to(at::kDouble) + 0.0;
  at::Tensor bits = numbers.view(at::kLong);
  at::Tensor word = at::where(bits.lt(0), bits.bitwise_xor(INT64_MAX), bits);
  return word.masked_fill(numbers.isnan(), INT64_MAX);
}

// A month counts as 30 days.
at::Tensor whole_days(const at::Tensor& months_and_days) {
  return months_and_days.bitwise_right_shift(32) * 30 + months_and_days.bitwise_left_shift(32).bitwise_right_shift(32);
}

at::Tensor text_word(const Column& column, const at::Tensor& stop) {
  if (!column.is_dictionary()) return kernels::text_ranks(column.bytes(), column.begins(), column.ends(), stop);
  const Column& entries = *column.dictionary_column();
  if (entries.rows() > column.rows()) return text_word(decode_dictionary(column), stop);
  return kernels::text_ranks(entries.bytes(), entries.begins(), entries.ends(), stop).index_select(0, column.codes());
}

}  // namespace

at::Tensor interval_lengths(const at::Tensor& intervals) {
  at::Tensor micros = intervals.select(1, 0);
  at::Tensor days = at::floor_divide(micros, at::full({1}, kDayMicros, micros.options()));
  return at::stack({micros - days * kDayMicros, whole_days(intervals.select(1, 1)) + days}, 1);
}

std::vector<at::Tensor> order_words(const Column& column, const at::Tensor& stop) {
  if (column.type().is_text()) return {text_word(column, stop)};
  Column plain = decode_dictionary(column);
  if (plain.type().is_floating()) return {floating_word(plain.values())};
  if (plain.type().kind() == TypeKind::Interval) {
    at::Tensor lengths = interval_lengths(plain.values());
    return {lengths.select(1, 1).contiguous(), lengths.select(1, 0).contiguous()};
  }
  if (plain.type().is_wide()) {
    // The low word is unsigned: flipping the top bit makes its signed order correct.
    return {plain.values().select(1, 1).contiguous(), plain.values().select(1, 0).bitwise_xor(INT64_MIN)};
  }
  return {plain.values().to(at::kLong)};
}

}  // namespace pistachio
