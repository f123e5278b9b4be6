#include "columns/scalar_access.h"

#include <cstring>

#include "base/check.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

void store(const ScalarValue& value, at::Tensor& values, int64_t row) {
  LogicalType type = value.type;
  if (type.is_wide()) {
    int64_t* words = values.mutable_data_ptr<int64_t>() + row * 2;
    words[0] = static_cast<int64_t>(value.integer);
    words[1] = static_cast<int64_t>(value.integer >> 64);
    return;
  }
  int64_t integer = static_cast<int64_t>(value.integer);
  switch (type.scalar_type()) {
    case at::kBool: values.mutable_data_ptr<bool>()[row] = integer != 0; break;
    case at::kChar: values.mutable_data_ptr<int8_t>()[row] = static_cast<int8_t>(integer); break;
    case at::kShort: values.mutable_data_ptr<int16_t>()[row] = static_cast<int16_t>(integer); break;
    case at::kInt: values.mutable_data_ptr<int32_t>()[row] = static_cast<int32_t>(integer); break;
    case at::kLong: values.mutable_data_ptr<int64_t>()[row] = integer; break;
    case at::kFloat: values.mutable_data_ptr<float>()[row] = static_cast<float>(value.floating); break;
    case at::kDouble: values.mutable_data_ptr<double>()[row] = value.floating; break;
    default: fail_check(__FILE__, __LINE__, "type has no values");
  }
}

Int128 integer_at(const at::Tensor& values, int64_t row, bool wide) {
  if (wide) {
    const int64_t* words = values.const_data_ptr<int64_t>() + row * 2;
    return (Int128{words[1]} << 64) | static_cast<Int128>(static_cast<uint64_t>(words[0]));
  }
  switch (values.scalar_type()) {
    case at::kBool: return values.const_data_ptr<bool>()[row] ? 1 : 0;
    case at::kChar: return values.const_data_ptr<int8_t>()[row];
    case at::kShort: return values.const_data_ptr<int16_t>()[row];
    case at::kInt: return values.const_data_ptr<int32_t>()[row];
    default: return values.const_data_ptr<int64_t>()[row];
  }
}

}  // namespace

Column repeat_value(const ScalarValue& value, int64_t rows, at::Device device) {
  if (value.is_null) return null_column(value.type, rows, device);
  at::TensorOptions places = at::TensorOptions(at::kLong).device(device);
  if (value.is_text()) {
    at::Tensor bytes = at::empty({static_cast<int64_t>(value.text.size())}, at::kByte);
    if (!value.text.empty()) std::memcpy(bytes.mutable_data_ptr<uint8_t>(), value.text.data(), value.text.size());
    return Column::text(value.type, copied_to(bytes, device), at::zeros({rows}, places), at::full({rows}, bytes.numel(), places));
  }
  at::Tensor one = value.type.is_wide() ? at::empty({1, 2}, at::kLong) : at::empty({1}, value.type.scalar_type());
  store(value, one, 0);
  one = copied_to(one, device);
  if (rows != 1) one = (value.type.is_wide() ? one.expand({rows, 2}) : one.expand({rows})).contiguous();
  return Column::fixed(value.type, std::move(one));
}

namespace {

// One element of a tensor on any device; on the CPU without a call into ATen.
template <typename Value>
Value element(const at::Tensor& tensor, int64_t row) {
  if (tensor.is_cpu()) return tensor.const_data_ptr<Value>()[row * tensor.stride(0)];
  return tensor[row].item<Value>();
}

}  // namespace

ScalarValue value_at(const Column& column, int64_t row) {
  ENSURE(row >= 0 && row < column.rows());
  if (column.has_validity() && !element<bool>(column.validity(), row)) return ScalarValue::null(column.type());
  if (column.is_dictionary()) return value_at(*column.dictionary_column(), element<int32_t>(column.codes(), row));
  if (column.type().is_text()) {
    int64_t begin = element<int64_t>(column.begins(), row);
    int64_t end = element<int64_t>(column.ends(), row);
    at::Tensor bytes = column.bytes().is_cpu() ? column.bytes() : copied_to(column.bytes().slice(0, begin, end), at::kCPU);
    int64_t from = column.bytes().is_cpu() ? begin : 0;
    return ScalarValue::of_text(column.type(), std::string(reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>()) + from,
                                                           static_cast<size_t>(end - begin)));
  }
  if (column.type().kind() == TypeKind::Real) return ScalarValue::of_floating(column.type(), element<float>(column.values(), row));
  if (column.type().kind() == TypeKind::Double) return ScalarValue::of_floating(column.type(), element<double>(column.values(), row));
  bool wide = column.type().is_wide();
  at::Tensor values = column.values();
  if (!values.is_cpu() || !values.is_contiguous()) {
    values = copied_to(values.slice(0, row, row + 1), at::kCPU).contiguous();
    row = 0;
  }
  return ScalarValue::of_integer(column.type(), integer_at(values, row, wide));
}

Column column_of_values(LogicalType type, const std::vector<ScalarValue>& values) {
  int64_t rows = static_cast<int64_t>(values.size());
  at::Tensor validity = at::ones({rows}, at::kBool);
  bool has_nulls = false;
  for (int64_t row = 0; row < rows; ++row) {
    if (!values[static_cast<size_t>(row)].is_null) continue;
    validity.mutable_data_ptr<bool>()[row] = false;
    has_nulls = true;
  }
  if (!has_nulls) validity = at::Tensor();
  if (type.is_text()) {
    at::Tensor begins = at::empty({rows}, at::kLong);
    at::Tensor ends = at::empty({rows}, at::kLong);
    std::string all;
    for (int64_t row = 0; row < rows; ++row) {
      begins.mutable_data_ptr<int64_t>()[row] = static_cast<int64_t>(all.size());
      all += values[static_cast<size_t>(row)].text;
      ends.mutable_data_ptr<int64_t>()[row] = static_cast<int64_t>(all.size());
    }
    at::Tensor bytes = at::empty({static_cast<int64_t>(all.size())}, at::kByte);
    if (!all.empty()) std::memcpy(bytes.mutable_data_ptr<uint8_t>(), all.data(), all.size());
    return Column::text(type, std::move(bytes), std::move(begins), std::move(ends), std::move(validity));
  }
  at::Tensor stored = type.is_wide() ? at::zeros({rows, 2}, at::kLong) : at::zeros({rows}, type.scalar_type());
  for (int64_t row = 0; row < rows; ++row) {
    if (!values[static_cast<size_t>(row)].is_null) store(values[static_cast<size_t>(row)], stored, row);
  }
  return Column::fixed(type, std::move(stored), std::move(validity));
}

}  // namespace pistachio
