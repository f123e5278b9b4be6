#include "storage/column_selection.h"

#include <ATen/ATen.h>

#include "base/check.h"
#include "kernels/ops/compare_constant.h"
#include "kernels/ops/compare_text_constant.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/spread.h"

namespace pistachio {

namespace {

at::Tensor compare_plain(const Column& column, const ColumnFilter& filter) {
  const ScalarValue& constant = filter.constant;
  if (column.type().is_text())
    return kernels::compare_text_constant(column.bytes(), column.begins(), column.ends(), filter.comparison, constant.text);
  if (column.type().is_wide()) {
    return kernels::compare_wide_constant(column.values(), filter.comparison, static_cast<int64_t>(constant.integer),
                                          static_cast<int64_t>(constant.integer >> 64));
  }
  if (column.type().is_floating()) return kernels::compare_constant(column.values(), filter.comparison, constant.floating);
  if (column.type().kind() == TypeKind::Boolean)
    return kernels::compare_constant(column.values(), filter.comparison, constant.integer != 0);
  return kernels::compare_constant(column.values(), filter.comparison, static_cast<int64_t>(constant.integer));
}

FilterOutcome outcome_of_validity(const Column& column) {
  if (!column.has_validity()) return {.all = true};
  return {.mask = column.validity()};
}

}  // namespace

Column select_rows(const Column& column, const at::Tensor& mask) {
  at::Tensor validity = column.has_validity() ? kernels::compress(column.validity(), mask) : at::Tensor();
  if (column.is_dictionary())
    return Column::dictionary(kernels::compress(column.codes(), mask), column.dictionary_column(), std::move(validity));
  if (column.type().is_text()) {
    return Column::text(column.type(), column.bytes(), kernels::compress(column.begins(), mask), kernels::compress(column.ends(), mask),
                        std::move(validity));
  }
  return Column::fixed(column.type(), kernels::compress(column.values(), mask), std::move(validity));
}

Column spread_rows(const Column& dense, const at::Tensor& validity) {
  ENSURE(!dense.has_validity());
  if (dense.is_dictionary()) return Column::dictionary(kernels::spread(dense.codes(), validity), dense.dictionary_column(), validity);
  if (dense.type().is_text()) {
    return Column::text(dense.type(), dense.bytes(), kernels::spread(dense.begins(), validity), kernels::spread(dense.ends(), validity),
                        validity);
  }
  return Column::fixed(dense.type(), kernels::spread(dense.values(), validity), validity);
}

FilterOutcome evaluate_filter(const Column& column, const ColumnFilter& filter) {
  if (filter.kind == ColumnFilter::Kind::Never) return {.none = true};
  if (filter.kind == ColumnFilter::Kind::NotNull) return outcome_of_validity(column);
  at::Tensor mask;
  if (column.is_dictionary()) {
    at::Tensor entries = compare_plain(*column.dictionary_column(), filter);
    int64_t passing = kernels::count_true(entries);
    if (passing == 0) return {.none = true};
    if (passing == entries.numel()) return outcome_of_validity(column);
    mask = kernels::dictionary_gather(entries, column.codes());
  } else {
    mask = compare_plain(column, filter);
  }
  if (column.has_validity()) mask = mask.logical_and(column.validity());
  return {.mask = std::move(mask)};
}

}  // namespace pistachio
