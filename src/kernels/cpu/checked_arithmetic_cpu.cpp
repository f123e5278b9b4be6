// CPU bodies of checked_arithmetic and wide_arithmetic: branch-free loops that accumulate errors in one flag. Only if it is set at the end,
// a second pass finds out whether a valid row caused it.

#include <limits>
#include <type_traits>

#include "base/check.h"
#include "base/error.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/checked_arithmetic.h"
#include "kernels/ops/int128.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

template <typename Number>
struct UnsignedOf : std::make_unsigned<Number> {};
template <>
struct UnsignedOf<Int128> {
  using type = UInt128;
};

// Sets `bad` if there is no result (overflow, division by zero). A zero divisor is replaced by one.
template <Arithmetic operation, typename Number>
inline Number apply(Number left, Number right, bool& bad) {
  Number result = 0;
  if constexpr (operation == Arithmetic::Add) {
    bad |= __builtin_add_overflow(left, right, &result);
  } else if constexpr (operation == Arithmetic::Subtract) {
    bad |= __builtin_sub_overflow(left, right, &result);
  } else if constexpr (operation == Arithmetic::Multiply) {
    bad |= __builtin_mul_overflow(left, right, &result);
  } else {
    using Unsigned = typename UnsignedOf<Number>::type;
    const Number lowest = static_cast<Number>(Unsigned{1} << (sizeof(Number) * 8 - 1));
    const bool wraps = right == -1 && left == lowest;
    bad |= right == 0 || (wraps && operation != Arithmetic::Modulo);
    const Number divisor = right == 0 || wraps ? Number{1} : right;
    if constexpr (operation == Arithmetic::Modulo) {
      result = wraps ? Number{0} : static_cast<Number>(left % divisor);
    } else {
      result = static_cast<Number>(left / divisor);
      if constexpr (operation == Arithmetic::DivideRounding) {
        const Number rest = static_cast<Number>(left - result * divisor);
        const Unsigned magnitude =
            rest < 0 ? static_cast<Unsigned>(Unsigned{0} - static_cast<Unsigned>(rest)) : static_cast<Unsigned>(rest);
        const Unsigned size =
            divisor < 0 ? static_cast<Unsigned>(Unsigned{0} - static_cast<Unsigned>(divisor)) : static_cast<Unsigned>(divisor);
        const bool away = magnitude >= static_cast<Unsigned>(size - magnitude);
        if (rest != 0 && away) result = static_cast<Number>(result + ((left < 0) == (divisor < 0) ? 1 : -1));
      }
    }
  }
  return result;
}

// The sides may be narrower than the result.
template <Arithmetic operation, typename Number, typename Left = Number, typename Right = Number>
struct Loop {
  const Left* left;
  int64_t left_step;
  const Right* right;
  int64_t right_step;
  Number* results;
  int64_t rows;

  static Number apply_to(Left left, Right right, bool& bad) {
    if constexpr (sizeof(Left) + sizeof(Right) <= sizeof(Number)) {
      // Cannot overflow, and a product takes one multiplication.
      if constexpr (operation == Arithmetic::Add) return Number{left} + right;
      if constexpr (operation == Arithmetic::Subtract) return Number{left} - right;
      if constexpr (operation == Arithmetic::Multiply) return Number{left} * right;
    }
    return apply<operation, Number>(left, right, bad);
  }

  bool run() const {
    bool bad = false;
    if (left_step == 1 && right_step == 1) {
      for (int64_t i = 0; i < rows; ++i) results[i] = apply_to(left[i], right[i], bad);
    } else if (left_step == 1) {
      const Right constant = *right;
      for (int64_t i = 0; i < rows; ++i) results[i] = apply_to(left[i], constant, bad);
    } else {
      const Left constant = *left;
      for (int64_t i = 0; i < rows; ++i) results[i] = apply_to(constant, right[i * right_step], bad);
    }
    return bad;
  }

  void blame(const bool* valid) const {
    for (int64_t i = 0; i < rows; ++i) {
      if (valid != nullptr && !valid[i]) continue;
      bool bad = false;
      const Right divisor = right[i * right_step];
      apply_to(left[i * left_step], divisor, bad);
      if (!bad) continue;
      constexpr bool divides = operation != Arithmetic::Add && operation != Arithmetic::Subtract && operation != Arithmetic::Multiply;
      throw UserError(divides && divisor == 0 ? "division by zero" : "number out of range");
    }
  }
};

template <Arithmetic operation, typename Number, typename Left = Number, typename Right = Number>
void compute(const void* left, bool left_constant, const void* right, bool right_constant, void* results, int64_t rows, const bool* valid) {
  const Loop<operation, Number, Left, Right> loop{
      static_cast<const Left*>(left), left_constant ? 0 : 1, static_cast<const Right*>(right), right_constant ? 0 : 1,
      static_cast<Number*>(results),  rows};
  if (loop.run()) [[unlikely]]
    loop.blame(valid);
}

template <typename Number>
void choose(Arithmetic operation, const at::Tensor& left, const at::Tensor& right, at::Tensor& results,
            const std::optional<at::Tensor>& valid) {
  const int64_t rows = results.size(0);
  const bool* counts = valid ? valid->const_data_ptr<bool>() : nullptr;
  const bool left_constant = left.size(0) == 1;
  const bool right_constant = right.size(0) == 1;
  const auto run = [&](auto body) {
    body(left.const_data_ptr(), left_constant, right.const_data_ptr(), right_constant, results.mutable_data_ptr(), rows, counts);
  };
  switch (operation) {
    case Arithmetic::Add: return run(compute<Arithmetic::Add, Number>);
    case Arithmetic::Subtract: return run(compute<Arithmetic::Subtract, Number>);
    case Arithmetic::Multiply: return run(compute<Arithmetic::Multiply, Number>);
    case Arithmetic::Divide: return run(compute<Arithmetic::Divide, Number>);
    case Arithmetic::Modulo: return run(compute<Arithmetic::Modulo, Number>);
    case Arithmetic::DivideRounding: return run(compute<Arithmetic::DivideRounding, Number>);
  }
}

at::Tensor checked_arithmetic(const at::Tensor& left, int64_t operation, const at::Tensor& right, const std::optional<at::Tensor>& valid) {
  at::Tensor results = at::empty({left.numel() == 1 ? right.numel() : left.numel()}, left.options());
  const auto chosen = static_cast<Arithmetic>(operation);
  switch (left.scalar_type()) {
    case at::kChar: choose<int8_t>(chosen, left, right, results, valid); break;
    case at::kShort: choose<int16_t>(chosen, left, right, results, valid); break;
    case at::kInt: choose<int32_t>(chosen, left, right, results, valid); break;
    case at::kLong: choose<int64_t>(chosen, left, right, results, valid); break;
    default: fail_check(__FILE__, __LINE__, "no integer dtype");
  }
  return results;
}

// Two int64 words, low word first, have the layout of an __int128 on a little-endian machine. Only the alignment may be missing: the pooled
// allocator guarantees it, a slice does not.
at::Tensor aligned(const at::Tensor& words) {
  return reinterpret_cast<uintptr_t>(words.const_data_ptr()) % alignof(Int128) == 0 ? words : words.clone();
}

// Sums, differences and products of 64-bit numbers, or of one with a two-word number.
template <typename Left, typename Right>
void compute_mixed(Arithmetic operation, const at::Tensor& left, const at::Tensor& right, at::Tensor& results,
                   const std::optional<at::Tensor>& valid) {
  const auto run = [&](auto body) {
    body(left.const_data_ptr(), left.size(0) == 1, right.const_data_ptr(), right.size(0) == 1, results.mutable_data_ptr(), results.size(0),
         valid ? valid->const_data_ptr<bool>() : nullptr);
  };
  switch (operation) {
    case Arithmetic::Add: return run(compute<Arithmetic::Add, Int128, Left, Right>);
    case Arithmetic::Subtract: return run(compute<Arithmetic::Subtract, Int128, Left, Right>);
    case Arithmetic::Multiply: return run(compute<Arithmetic::Multiply, Int128, Left, Right>);
    default: fail_check(__FILE__, __LINE__, "quotients take two-word numbers");
  }
}

at::Tensor wide_arithmetic(const at::Tensor& left, int64_t operation, const at::Tensor& right, const std::optional<at::Tensor>& valid) {
  at::Tensor results = at::empty({left.size(0) == 1 ? right.size(0) : left.size(0), 2}, left.options());
  const auto chosen = static_cast<Arithmetic>(operation);
  if (is_wide(left) && is_wide(right)) {
    choose<Int128>(chosen, aligned(left), aligned(right), results, valid);
  } else if (is_wide(left)) {
    compute_mixed<Int128, int64_t>(chosen, aligned(left), right, results, valid);
  } else if (is_wide(right)) {
    compute_mixed<int64_t, Int128>(chosen, left, aligned(right), results, valid);
  } else {
    compute_mixed<int64_t, int64_t>(chosen, left, right, results, valid);
  }
  return results;
}

}  // namespace

REGISTER_BODY(Cpu, "checked_arithmetic", checked_arithmetic);
REGISTER_BODY(Cpu, "wide_arithmetic", wide_arithmetic);

}  // namespace pistachio::kernels::cpu
