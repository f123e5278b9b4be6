#include "columns/row_selection.h"

#include "base/check.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/spread.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Applies one tensor operation to the tensors that have a row per value.
template <typename Operation>
Column map_rows(const Column& column, const Operation& operation, at::Tensor validity) {
  if (column.is_dictionary()) return Column::dictionary(operation(column.codes()), column.dictionary_column(), std::move(validity));
  if (column.type().is_text())
    return Column::text(column.type(), column.bytes(), operation(column.begins()), operation(column.ends()), std::move(validity));
  return Column::fixed(column.type(), operation(column.values()), std::move(validity));
}

}  // namespace

at::Tensor both_valid(const at::Tensor& left, const at::Tensor& right) {
  if (!left.defined()) return right;
  if (!right.defined()) return left;
  return left.logical_and(right);
}

Column select_rows(const Column& column, const at::Tensor& mask) {
  return select_rows(column, mask, kernels::count_true(mask));
}

Column select_rows(const Column& column, const at::Tensor& mask, int64_t selected) {
  if (selected == column.rows()) return column;
  at::Tensor validity = column.has_validity() ? kernels::compress(column.validity(), mask, selected) : at::Tensor();
  return map_rows(
      column, [&](const at::Tensor& tensor) { return kernels::compress(tensor, mask, selected); }, std::move(validity));
}

Chunk select_rows(const Chunk& chunk, const at::Tensor& mask) {
  return select_rows(chunk, mask, kernels::count_true(mask));
}

Chunk select_rows(const Chunk& chunk, const at::Tensor& mask, int64_t selected) {
  if (selected == chunk.rows()) return chunk;
  std::vector<Column> columns;
  columns.reserve(chunk.column_count());
  for (const Column& column : chunk.columns()) columns.push_back(select_rows(column, mask, selected));
  return Chunk(std::move(columns), selected, chunk.device());
}

Column spread_rows(const Column& dense, const at::Tensor& validity) {
  // Values under NULL must be valid for their form: spread fills gaps with zero, which is a valid code only if the dictionary has entries.
  at::Tensor valid = dense.has_validity() ? kernels::spread(dense.validity(), validity) : validity;
  if (dense.is_dictionary() && dense.dictionary_column()->rows() == 0)
    return null_column(dense.type(), validity.numel(), validity.device());
  return map_rows(
      dense, [&](const at::Tensor& tensor) { return kernels::spread(tensor, validity); }, std::move(valid));
}

Column take_rows(const Column& column, const at::Tensor& rows) {
  at::Tensor validity = column.has_validity() ? kernels::gather_rows(column.validity(), rows) : at::Tensor();
  return map_rows(
      column, [&](const at::Tensor& tensor) { return kernels::gather_rows(tensor, rows); }, std::move(validity));
}

Column take_rows_or_null(const Column& column, const at::Tensor& rows, const at::Tensor& valid) {
  if (column.rows() == 0 || (column.is_dictionary() && column.dictionary_column()->rows() == 0))
    return null_column(column.type(), rows.numel(), rows.device());
  at::Tensor validity = column.has_validity() ? kernels::gather_rows(column.validity(), rows) : valid;
  return map_rows(
      column, [&](const at::Tensor& tensor) { return kernels::gather_rows(tensor, rows); }, std::move(validity));
}

Chunk take_rows(const Chunk& chunk, const at::Tensor& rows) {
  std::vector<Column> columns;
  columns.reserve(chunk.column_count());
  for (const Column& column : chunk.columns()) columns.push_back(take_rows(column, rows));
  return Chunk(std::move(columns), rows.numel(), chunk.device());
}

Column empty_column(LogicalType type, at::Device device) {
  auto tensors_of = [&](at::ScalarType scalar) { return at::TensorOptions(scalar).device(device); };
  if (type.is_text()) {
    at::Tensor none = at::empty({0}, tensors_of(at::kLong));
    return Column::text(type, at::empty({0}, tensors_of(at::kByte)), none, none);
  }
  return Column::fixed(type, type.is_wide() ? at::empty({0, 2}, tensors_of(at::kLong)) : at::empty({0}, tensors_of(type.scalar_type())));
}

Column null_column(LogicalType type, int64_t rows, at::Device device) {
  auto tensors_of = [&](at::ScalarType scalar) { return at::TensorOptions(scalar).device(device); };
  at::Tensor validity = at::zeros({rows}, tensors_of(at::kBool));
  if (type.is_text()) {
    at::Tensor zeros = at::zeros({rows}, tensors_of(at::kLong));
    return Column::text(type, at::empty({0}, tensors_of(at::kByte)), zeros, zeros, std::move(validity));
  }
  at::Tensor values = type.is_wide() ? at::zeros({rows, 2}, tensors_of(at::kLong)) : at::zeros({rows}, tensors_of(type.scalar_type()));
  return Column::fixed(type, std::move(values), std::move(validity));
}

}  // namespace pistachio
