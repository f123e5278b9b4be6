// How function bodies read arguments and write results: raw pointers, with a stride of zero for constants, in loops that the compiler can
// optimize as a whole. Arguments are plain columns (the evaluator decodes dictionaries).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "expr/function.h"
#include "expr/type_rules.h"
#include "expr/work_poll.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

using Types = std::span<const LogicalType>;
using Literals = std::span<const bool>;

template <typename Value>
class ArgumentValues {
 public:
  explicit ArgumentValues(const Argument& argument)
      : tensor_(argument.column.values().contiguous()), data_(tensor_.const_data_ptr<Value>()), step_(argument.is_constant ? 0 : 1) {}
  Value operator[](int64_t row) const { return data_[row * step_]; }

 private:
  at::Tensor tensor_;
  const Value* data_;
  int64_t step_;
};

struct WordPair {
  int64_t low;
  int64_t high;
};

// Intervals and decimals of more than 18 digits.
template <>
class ArgumentValues<WordPair> {
 public:
  explicit ArgumentValues(const Argument& argument)
      : tensor_(argument.column.values().contiguous()), data_(tensor_.const_data_ptr<int64_t>()), step_(argument.is_constant ? 0 : 2) {}
  WordPair operator[](int64_t row) const { return {data_[row * step_], data_[row * step_ + 1]}; }

 private:
  at::Tensor tensor_;
  const int64_t* data_;
  int64_t step_;
};

class ArgumentText {
 public:
  explicit ArgumentText(const Argument& argument)
      : column_(argument.column),
        bytes_(column_.bytes().numel() == 0 ? "" : reinterpret_cast<const char*>(column_.bytes().const_data_ptr<uint8_t>())),
        begins_tensor_(column_.begins().contiguous()),
        ends_tensor_(column_.ends().contiguous()),
        begins_(begins_tensor_.const_data_ptr<int64_t>()),
        ends_(ends_tensor_.const_data_ptr<int64_t>()),
        step_(argument.is_constant ? 0 : 1) {}

  std::string_view operator[](int64_t row) const {
    return {bytes_ + begins_[row * step_], static_cast<size_t>(ends_[row * step_] - begins_[row * step_])};
  }
  int64_t length(int64_t row) const { return ends_[row * step_] - begins_[row * step_]; }
  // Offset of a view into this column's bytes.
  int64_t offset(const char* at) const { return at - bytes_; }
  const at::Tensor& bytes() const { return column_.bytes(); }
  // Total length of the first `rows` values.
  int64_t total_bytes(int64_t rows) const {
    int64_t total = 0;
    for (int64_t row = 0; row < rows; ++row) total += length(row);
    return total;
  }

 private:
  Column column_;
  const char* bytes_;
  at::Tensor begins_tensor_;
  at::Tensor ends_tensor_;
  const int64_t* begins_;
  const int64_t* ends_;
  int64_t step_;
};

// Rows that may raise errors.
class CountedRows {
 public:
  explicit CountedRows(const FunctionCall& call)
      : tensor_(call.valid.defined() ? call.valid.contiguous() : at::Tensor()),
        data_(tensor_.defined() ? tensor_.const_data_ptr<bool>() : nullptr) {}
  bool operator[](int64_t row) const { return data_ == nullptr || data_[row]; }
  bool all() const { return data_ == nullptr; }

 private:
  at::Tensor tensor_;
  const bool* data_;
};

// Whether any row may raise an error. Bodies validate constants only then.
inline bool any_row_counts(const FunctionCall& call) {
  return call.rows > 0 && (!call.valid.defined() || call.valid.any().item<bool>());
}

// The result of a body if no row counts.
inline Column placeholder_rows(const FunctionCall& call) {
  return Column::fixed(call.result,
                       call.result.is_wide() ? at::zeros({call.rows, 2}, at::kLong) : at::zeros({call.rows}, call.result.scalar_type()));
}

// A column of `body(row)` for every row.
template <typename Value, typename Body>
Column fill_rows(const FunctionCall& call, const Body& body) {
  at::Tensor values = at::empty({call.rows}, call.result.scalar_type());
  Value* out = values.mutable_data_ptr<Value>();
  for (int64_t row = 0; row < call.rows; ++row) out[row] = body(row);
  return Column::fixed(call.result, std::move(values));
}

// The same for bodies that raise errors: skips rows that do not count.
template <typename Value, typename Body>
Column fill_counted_rows(const FunctionCall& call, const Body& body) {
  CountedRows counted(call);
  return fill_rows<Value>(call, [&](int64_t row) -> Value { return counted[row] ? body(row) : Value(); });
}

// A column of `body(row, poll)` for every row; `texts` are the arguments whose bytes it reads.
template <typename Value, typename Body, typename... Texts>
Column fill_text_rows(const FunctionCall& call, const Body& body, const Texts&... texts) {
  at::Tensor values = at::empty({call.rows}, call.result.scalar_type());
  Value* out = values.mutable_data_ptr<Value>();
  for_each_polled_row(
      call.rows, call.token, [&](int64_t row) { return (texts.length(row) + ...); },
      [&](int64_t row, auto& poll) { out[row] = body(row, poll); });
  return Column::fixed(call.result, std::move(values));
}

// Two words per value; `body(row)` returns a WordPair.
template <typename Body>
Column fill_wide_rows(const FunctionCall& call, const Body& body) {
  CountedRows counted(call);
  at::Tensor values = at::empty({call.rows, 2}, at::kLong);
  int64_t* out = values.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < call.rows; ++row) {
    WordPair pair = counted[row] ? body(row) : WordPair{0, 0};
    out[row * 2] = pair.low;
    out[row * 2 + 1] = pair.high;
  }
  return Column::fixed(call.result, std::move(values));
}

// Whether an argument is accepted for a parameter of this type. Next to decimals, whole constants have type DECIMAL(n,0).
inline bool fits_parameter(LogicalType type, bool is_literal, TypeKind wanted) {
  if (is_literal) return true;
  if (wanted == TypeKind::BigInt || wanted == TypeKind::Integer) {
    return casts_implicitly(type, wanted) || (type.kind() == TypeKind::Decimal && type.scale() == 0);
  }
  return casts_implicitly(type, wanted);
}

// Short names for the tables of functions.
constexpr TypeKind kText = TypeKind::Varchar;
constexpr TypeKind kWhole = TypeKind::BigInt;
constexpr TypeKind kTruth = TypeKind::Boolean;
constexpr TypeKind kDouble = TypeKind::Double;

template <TypeKind result, TypeKind... parameters>
std::optional<FunctionTypes> resolve_as(Types types, Literals literals) {
  constexpr size_t count = sizeof...(parameters);
  if (types.size() != count) return std::nullopt;
  FunctionTypes match{{LogicalType(parameters)...}, result};
  for (size_t i = 0; i < count; ++i) {
    if (!fits_parameter(types[i], literals[i], match.arguments[i].kind())) return std::nullopt;
  }
  return match;
}

}  // namespace pistachio
