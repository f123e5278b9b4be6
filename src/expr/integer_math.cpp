#include "expr/integer_math.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <numeric>
#include <type_traits>

#include "base/check.h"
#include "base/error.h"
#include "expr/argument_access.h"

namespace pistachio {

namespace {

uint64_t magnitude(int64_t value) {
  return value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

int64_t checked(uint64_t value) {
  if (value > static_cast<uint64_t>(INT64_MAX)) throw UserError("number out of range");
  return static_cast<int64_t>(value);
}

// Calls `body` with a value of the result's integer type.
template <typename Body>
Column with_integer(const FunctionCall& call, const Body& body) {
  switch (call.result.kind()) {
    case TypeKind::TinyInt: return body(int8_t{0});
    case TypeKind::SmallInt: return body(int16_t{0});
    case TypeKind::Integer: return body(int32_t{0});
    default: ENSURE(call.result.kind() == TypeKind::BigInt); return body(int64_t{0});
  }
}

template <typename Combine>
Column combine_bits(const FunctionCall& call, const Combine& combine) {
  return with_integer(call, [&](auto zero) {
    using Value = decltype(zero);
    ArgumentValues<Value> left(call.arguments[0]);
    ArgumentValues<Value> right(call.arguments[1]);
    return fill_rows<Value>(call, [&](int64_t row) { return static_cast<Value>(combine(left[row], right[row])); });
  });
}

template <bool left>
Column shift(const FunctionCall& call) {
  return with_integer(call, [&](auto zero) {
    using Value = decltype(zero);
    using Unsigned = std::make_unsigned_t<Value>;
    constexpr int64_t bits = sizeof(Value) * 8;
    ArgumentValues<Value> values(call.arguments[0]);
    ArgumentValues<int64_t> counts(call.arguments[1]);
    return fill_rows<Value>(call, [&](int64_t row) {
      int64_t count = counts[row] & (bits - 1);
      return left ? static_cast<Value>(static_cast<Unsigned>(values[row]) << count) : static_cast<Value>(values[row] >> count);
    });
  });
}

}  // namespace

Column greatest_common_divisor(const FunctionCall& call) {
  ArgumentValues<int64_t> left(call.arguments[0]);
  ArgumentValues<int64_t> right(call.arguments[1]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) { return checked(std::gcd(magnitude(left[row]), magnitude(right[row]))); });
}

Column least_common_multiple(const FunctionCall& call) {
  ArgumentValues<int64_t> left(call.arguments[0]);
  ArgumentValues<int64_t> right(call.arguments[1]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) -> int64_t {
    if (left[row] == 0 || right[row] == 0) return 0;
    uint64_t first = magnitude(left[row]);
    uint64_t second = magnitude(right[row]);
    uint64_t product;
    if (__builtin_mul_overflow(first / std::gcd(first, second), second, &product)) throw UserError("number out of range");
    return checked(product);
  });
}

Column factorial(const FunctionCall& call) {
  constexpr std::array factorials = [] {
    std::array<int64_t, 21> table{1};
    for (size_t i = 1; i < table.size(); ++i) table[i] = table[i - 1] * static_cast<int64_t>(i);
    return table;
  }();
  ArgumentValues<int64_t> values(call.arguments[0]);
  return fill_counted_rows<int64_t>(call, [&](int64_t row) {
    if (values[row] < 0) throw UserError("there is no factorial of a negative number");
    if (values[row] >= static_cast<int64_t>(factorials.size())) throw UserError("number out of range");
    return factorials[static_cast<size_t>(values[row])];
  });
}

Column bits_and(const FunctionCall& call) {
  return combine_bits(call, [](auto left, auto right) { return left & right; });
}

Column bits_or(const FunctionCall& call) {
  return combine_bits(call, [](auto left, auto right) { return left | right; });
}

Column bits_differ(const FunctionCall& call) {
  return combine_bits(call, [](auto left, auto right) { return left ^ right; });
}

Column bits_not(const FunctionCall& call) {
  return with_integer(call, [&](auto zero) {
    using Value = decltype(zero);
    ArgumentValues<Value> values(call.arguments[0]);
    return fill_rows<Value>(call, [&](int64_t row) { return static_cast<Value>(~values[row]); });
  });
}

Column shift_left(const FunctionCall& call) {
  return shift<true>(call);
}

Column shift_right(const FunctionCall& call) {
  return shift<false>(call);
}

}  // namespace pistachio
