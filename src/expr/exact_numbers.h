// Decimals and integers as 64 or 128-bit numbers in function bodies: reads any width, checks results against the digits of their type.
#pragma once

#include <fmt/format.h>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/cast.h"

namespace pistachio {

// A decimal or BIGINT argument as Number: int64_t, or Int128 if it may be wide.
template <typename Number>
class ArgumentNumbers;

template <>
class ArgumentNumbers<int64_t> : public ArgumentValues<int64_t> {
 public:
  using ArgumentValues<int64_t>::ArgumentValues;
};

template <>
class ArgumentNumbers<Int128> {
 public:
  explicit ArgumentNumbers(const Argument& argument)
      : tensor_(argument.column.values().contiguous()),
        data_(tensor_.const_data_ptr<int64_t>()),
        words_(argument.column.type().is_wide() ? 2 : 1),
        step_(argument.is_constant ? 0 : words_) {}
  Int128 operator[](int64_t row) const {
    const int64_t* at = data_ + row * step_;
    return words_ == 1 ? Int128{at[0]} : (Int128{at[1]} << 64) | static_cast<Int128>(static_cast<uint64_t>(at[0]));
  }

 private:
  at::Tensor tensor_;
  const int64_t* data_;
  int64_t words_;
  int64_t step_;
};

// A column of the call's decimal type with the Numbers that `body(row)` returns.
template <typename Number, typename Body>
Column fill_decimals(const FunctionCall& call, const Body& body) {
  const Number most = static_cast<Number>(power_of_ten(call.result.precision()) - 1);
  auto checked = [&](int64_t row) {
    Number value = body(row);
    if (value > most || value < -most) throw UserError(fmt::format("number out of range for {}", call.result.to_string()));
    return value;
  };
  if (call.result.is_wide()) {
    return fill_wide_rows(call, [&](int64_t row) {
      Int128 value = checked(row);
      return WordPair{static_cast<int64_t>(value), static_cast<int64_t>(value >> 64)};
    });
  }
  return fill_counted_rows<int64_t>(call, [&](int64_t row) { return static_cast<int64_t>(checked(row)); });
}

// Calls `body` with a value of the narrowest type that holds argument and result: 64 bits if neither is wide.
template <typename Body>
Column with_number_width(const FunctionCall& call, const Body& body) {
  if (call.arguments[0].column.type().is_wide() || call.result.is_wide()) return body(Int128{0});
  return body(int64_t{0});
}

}  // namespace pistachio
