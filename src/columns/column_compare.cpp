#include "columns/column_compare.h"

#include "base/check.h"
#include "columns/decode_dictionary.h"
#include "columns/order_words.h"
#include "kernels/ops/compare_columns.h"
#include "kernels/ops/compare_constant.h"
#include "kernels/ops/compare_text_constant.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

at::Tensor compare_plain(const Column& column, Comparison comparison, const ScalarValue& constant) {
  if (column.type().is_text())
    return kernels::compare_text_constant(column.bytes(), column.begins(), column.ends(), comparison, constant.text);
  if (column.type().is_wide()) {
    return kernels::compare_wide_constant(column.values(), comparison, static_cast<int64_t>(constant.integer),
                                          static_cast<int64_t>(constant.integer >> 64));
  }
  if (column.type().is_floating()) return kernels::compare_constant(column.values(), comparison, constant.floating);
  if (column.type().kind() == TypeKind::Boolean) return kernels::compare_constant(column.values(), comparison, constant.integer != 0);
  return kernels::compare_constant(column.values(), comparison, static_cast<int64_t>(constant.integer));
}

}  // namespace

at::Tensor compare_columns(const Column& left, Comparison comparison, const Column& right) {
  ENSURE_EQ(left.rows(), right.rows());
  ENSURE(left.type().scalar_type() == right.type().scalar_type());
  Column first = decode_dictionary(left);
  Column second = decode_dictionary(right);
  if (first.type().is_text()) {
    return kernels::compare_text_columns(first.bytes(), first.begins(), first.ends(), comparison, second.bytes(), second.begins(),
                                         second.ends());
  }
  if (first.type().kind() == TypeKind::Interval)
    return kernels::compare_columns(interval_lengths(first.values()), comparison, interval_lengths(second.values()));
  return kernels::compare_columns(first.values(), comparison, second.values());
}

at::Tensor compare_with_constant(const Column& column, Comparison comparison, const ScalarValue& constant) {
  ENSURE(!constant.is_null);
  if (!column.is_dictionary()) return compare_plain(column, comparison, constant);
  if (column.dictionary_column()->rows() > column.rows()) return compare_plain(decode_dictionary(column), comparison, constant);
  at::Tensor entries = compare_plain(*column.dictionary_column(), comparison, constant);
  return kernels::dictionary_gather(entries, column.codes());
}

at::Tensor same_rows(const Column& left, const Column& right) {
  at::Tensor equal = compare_columns(left, Comparison::Equal, right);
  if (!left.has_validity() && !right.has_validity()) return equal;
  at::Tensor left_valid = left.has_validity() ? left.validity() : at::ones_like(equal);
  at::Tensor right_valid = right.has_validity() ? right.validity() : at::ones_like(equal);
  return left_valid.eq(right_valid).logical_and_(equal.logical_or(left_valid.logical_not()));
}

at::Tensor is_outside(const Column& column, Int128 least, Int128 greatest) {
  return compare_with_constant(column, Comparison::Greater, ScalarValue::of_integer(column.type(), greatest))
      .logical_or_(compare_with_constant(column, Comparison::Less, ScalarValue::of_integer(column.type(), least)));
}

}  // namespace pistachio
