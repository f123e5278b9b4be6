// CPU body of segment_bits. Nothing branches on a row: a NULL and a group without a value stand for the identity of the operation.

#include <algorithm>

#include "kernels/cpu/value_kind_of.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/segment_bits.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

template <BitOp op, typename T>
T combine_bits(T left, T right) {
  if constexpr (op == BitOp::And) return static_cast<T>(left & right);
  if constexpr (op == BitOp::Or) return static_cast<T>(left | right);
  return static_cast<T>(left ^ right);
}

template <BitOp op, typename T>
constexpr T bit_identity = op == BitOp::And ? static_cast<T>(-1) : T{0};

template <typename T>
struct BitRows {
  const int64_t* ids;
  const T* values;
  const bool* validity;  // null: no NULLs
  int64_t rows;
};

template <BitOp op, bool has_nulls, typename T>
void add_to_groups(T* bits, bool* seen, const BitRows<T>& batch) {
  for (int64_t row = 0; row < batch.rows; ++row) {
    const int64_t group = batch.ids[row];
    const bool valid = !has_nulls || batch.validity[row];
    const T before = seen[group] ? bits[group] : bit_identity<op, T>;
    bits[group] = combine_bits<op>(before, valid ? batch.values[row] : bit_identity<op, T>);
    seen[group] |= valid;
  }
}

// Without GROUP BY: the running value stays in a register, and the compiler vectorizes the loop.
template <BitOp op, bool has_nulls, typename T>
void add_to_one_group(T& bits, bool& seen, const BitRows<T>& batch) {
  T running = seen ? bits : bit_identity<op, T>;
  bool any = seen || (!has_nulls && batch.rows > 0);
  for (int64_t row = 0; row < batch.rows; ++row) {
    const bool valid = !has_nulls || batch.validity[row];
    running = combine_bits<op>(running, valid ? batch.values[row] : bit_identity<op, T>);
    if constexpr (has_nulls) any |= valid;
  }
  bits = running;
  seen = any;
}

template <BitOp op, bool has_nulls, typename T>
void add_bits(T* bits, bool* seen, int64_t groups, const BitRows<T>& batch) {
  if (groups == 1) {
    add_to_one_group<op, has_nulls>(*bits, *seen, batch);
  } else {
    add_to_groups<op, has_nulls>(bits, seen, batch);
  }
}

template <BitOp op, typename T>
void add_bits_of_op(T* bits, bool* seen, int64_t groups, const BitRows<T>& batch) {
  const auto add = batch.validity != nullptr ? add_bits<op, true, T> : add_bits<op, false, T>;
  add(bits, seen, groups, batch);
}

void segment_bits(at::Tensor& bits, at::Tensor& seen, const at::Tensor& ids, const at::Tensor& values, int64_t op,
                  const std::optional<at::Tensor>& validity) {
  with_type(value_kind_of(values), [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      const BitRows<T> batch{ids.const_data_ptr<int64_t>(), static_cast<const T*>(values.const_data_ptr()),
                             validity ? validity->const_data_ptr<bool>() : nullptr, ids.numel()};
      const auto add = static_cast<BitOp>(op) == BitOp::And  ? add_bits_of_op<BitOp::And, T>
                       : static_cast<BitOp>(op) == BitOp::Or ? add_bits_of_op<BitOp::Or, T>
                                                             : add_bits_of_op<BitOp::Xor, T>;
      add(static_cast<T*>(bits.mutable_data_ptr()), seen.mutable_data_ptr<bool>(), seen.numel(), batch);
    }
  });
}

}  // namespace

REGISTER_BODY(Cpu, "segment_bits", segment_bits);

}  // namespace pistachio::kernels::cpu
