// Checked integer arithmetic on the GPU. Narrow numbers are computed in 64 bits, which cannot overflow, and checked against their type; 64-
// and 128-bit operations detect overflow directly. Failing rows are reported to the error flag.
#include "kernels/cuda/checked_arithmetic_cuda.h"

#include <type_traits>

#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/wide_number.h"

namespace pistachio::kernels::cuda {

namespace {

using Operation = ArithmeticOperation;

template <typename Number>
struct UnsignedOf;
template <>
struct UnsignedOf<int64_t> {
  using Type = uint64_t;
};
template <>
struct UnsignedOf<WideInt> {
  using Type = WideUnsigned;
};

enum class Outcome { Fine, OutOfRange, DividedByZero };

// Number is int64_t or WideInt.
template <Operation operation, typename Number>
__device__ Outcome apply(Number left, Number right, Number& result) {
  if constexpr (operation == Operation::Add) {
    return add_overflows(left, right, result) ? Outcome::OutOfRange : Outcome::Fine;
  } else if constexpr (operation == Operation::Subtract) {
    return subtract_overflows(left, right, result) ? Outcome::OutOfRange : Outcome::Fine;
  } else if constexpr (operation == Operation::Multiply) {
    return multiply_overflows(left, right, result) ? Outcome::OutOfRange : Outcome::Fine;
  } else {
    using Unsigned = typename UnsignedOf<Number>::Type;
    constexpr Number lowest = static_cast<Number>(Unsigned{1} << (sizeof(Number) * 8 - 1));
    if (right == 0) return Outcome::DividedByZero;
    if (right == -1) {  // the lowest number has no negation
      result = operation == Operation::Modulo ? Number{0} : static_cast<Number>(Unsigned{0} - static_cast<Unsigned>(left));
      return operation != Operation::Modulo && left == lowest ? Outcome::OutOfRange : Outcome::Fine;
    }
    const Number quotient = left / right;
    const Number rest = left - quotient * right;
    result = operation == Operation::Modulo ? rest : quotient;
    if constexpr (operation == Operation::DivideRounding) {
      const Unsigned magnitude = rest < 0 ? Unsigned{0} - static_cast<Unsigned>(rest) : static_cast<Unsigned>(rest);
      const Unsigned divisor = right < 0 ? Unsigned{0} - static_cast<Unsigned>(right) : static_cast<Unsigned>(right);
      if (rest != 0 && magnitude >= divisor - magnitude) result += (left < 0) == (right < 0) ? 1 : -1;
    }
    return Outcome::Fine;
  }
}

// Reads Stored numbers; a constant is always read at offset 0.
template <typename Stored>
struct Side {
  const Stored* values;
  bool constant;
  __device__ auto operator[](int64_t row) const {
    const Stored value = values[constant ? 0 : row];
    if constexpr (std::is_same_v<Stored, WideWords>) {
      return wide_number(value);
    } else {
      return static_cast<int64_t>(value);
    }
  }
};

template <typename Number>
__device__ Outcome set_exactly(Number value, Number& result) {
  result = value;
  return Outcome::Fine;
}

// The sides may be narrower than the result.
template <Operation operation, typename Stored, typename Left = Stored, typename Right = Stored>
struct ComputeRow {
  using Number = std::conditional_t<std::is_same_v<Stored, WideWords>, WideInt, int64_t>;
  Side<Left> left;
  Side<Right> right;
  const bool* valid;
  unsigned long long* error_word;

  __device__ Outcome apply_to(int64_t row, Number& result) const {
    if constexpr (sizeof(Left) + sizeof(Right) <= sizeof(Stored)) {
      // Cannot overflow, and a product takes one multiplication.
      const Number first = left[row], second = right[row];
      if constexpr (operation == Operation::Add) return set_exactly(first + second, result);
      if constexpr (operation == Operation::Subtract) return set_exactly(first - second, result);
      if constexpr (operation == Operation::Multiply) return set_exactly(first * second, result);
    }
    return apply<operation, Number>(left[row], right[row], result);
  }

  __device__ Stored operator()(int64_t row) const {
    Number result = 0;
    if (valid != nullptr && !valid[row]) return Stored{};
    Outcome outcome = apply_to(row, result);
    if constexpr (sizeof(Stored) < sizeof(int64_t)) {
      if (outcome == Outcome::Fine && static_cast<int64_t>(static_cast<Stored>(result)) != result) outcome = Outcome::OutOfRange;
    }
    if (outcome != Outcome::Fine) {
      report_failure(error_word, row, outcome == Outcome::DividedByZero ? division_by_zero : number_out_of_range);
    }
    if constexpr (std::is_same_v<Stored, WideWords>) {
      return wide_words(result);
    } else {
      return static_cast<Stored>(result);
    }
  }
};

template <Operation operation, typename Left, typename Right>
void compute_mixed(ArithmeticSide left, ArithmeticSide right, const bool* valid, int64_t rows, void* results, const DeviceErrorFlag& errors,
                   cudaStream_t stream) {
  const Side<Left> first{static_cast<const Left*>(left.values), left.constant};
  const Side<Right> second{static_cast<const Right*>(right.values), right.constant};
  map_rows(rows, static_cast<WideWords*>(results), ComputeRow<operation, WideWords, Left, Right>{first, second, valid, errors.device_word()},
           stream);
}

template <Operation operation>
void compute(ValueKind kind, ArithmeticSide left, ArithmeticSide right, const bool* valid, int64_t rows, void* results,
             const DeviceErrorFlag& errors, cudaStream_t stream) {
  if constexpr (operation == Operation::Add || operation == Operation::Subtract || operation == Operation::Multiply) {
    if (kind == ValueKind::Wide && left.is_narrow && right.is_narrow) {
      return compute_mixed<operation, int64_t, int64_t>(left, right, valid, rows, results, errors, stream);
    }
    if (kind == ValueKind::Wide && left.is_narrow) {
      return compute_mixed<operation, int64_t, WideWords>(left, right, valid, rows, results, errors, stream);
    }
    if (kind == ValueKind::Wide && right.is_narrow) {
      return compute_mixed<operation, WideWords, int64_t>(left, right, valid, rows, results, errors, stream);
    }
  }
  with_type(kind, [&](auto type) {
    using Stored = decltype(type);
    if constexpr (!std::is_floating_point_v<Stored> && !std::is_same_v<Stored, uint8_t>) {
      const Side<Stored> first{static_cast<const Stored*>(left.values), left.constant};
      const Side<Stored> second{static_cast<const Stored*>(right.values), right.constant};
      map_rows(rows, static_cast<Stored*>(results), ComputeRow<operation, Stored>{first, second, valid, errors.device_word()}, stream);
    }
  });
}

}  // namespace

void compute_rows(ArithmeticOperation operation, ValueKind kind, ArithmeticSide left, ArithmeticSide right, const bool* valid, int64_t rows,
                  void* results, const DeviceErrorFlag& errors, cudaStream_t stream) {
  const auto run = [&](auto body) { body(kind, left, right, valid, rows, results, errors, stream); };
  switch (operation) {
    case Operation::Add: return run(compute<Operation::Add>);
    case Operation::Subtract: return run(compute<Operation::Subtract>);
    case Operation::Multiply: return run(compute<Operation::Multiply>);
    case Operation::Divide: return run(compute<Operation::Divide>);
    case Operation::Modulo: return run(compute<Operation::Modulo>);
    case Operation::DivideRounding: return run(compute<Operation::DivideRounding>);
  }
}

}  // namespace pistachio::kernels::cuda
