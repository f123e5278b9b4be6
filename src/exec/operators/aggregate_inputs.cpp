#include "exec/operators/aggregate_inputs.h"

#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

at::Tensor truth(const Column& column) {
  Column plain = decode_dictionary(column);
  return plain.has_validity() ? plain.values().logical_and(plain.validity()) : plain.values();
}

}  // namespace

ExpressionPtr guarded_argument(const ExpressionPtr& argument, const ExpressionPtr& filter) {
  if (!filter || !argument || !argument->can_raise()) return argument;
  ExpressionPtr nothing = Expression::constant(ScalarValue::null(argument->type()));
  return Expression::conditional(ExpressionKind::Case, {filter, argument, nothing}, argument->type());
}

AggregateInputs::AggregateInputs(const std::vector<ColumnId>& groups, const std::vector<LogicalType>& group_types) {
  for (size_t i = 0; i < groups.size(); ++i) expressions_.push_back(Expression::column(groups[i], group_types[i]));
}

void AggregateInputs::add_call(const AggregateCall& call) {
  argument_.push_back(add(guarded_argument(call.argument, call.filter)));
  filter_.push_back(add(call.filter));
}

void AggregateInputs::add_state(const AggregateCall& call, const std::vector<ColumnId>& columns) {
  std::vector<LogicalType> types = state_types(call);
  std::vector<size_t> places;
  for (size_t i = 0; i < columns.size(); ++i) {
    places.push_back(expressions_.size());
    expressions_.push_back(Expression::column(columns[i], types[i]));
  }
  states_.push_back(std::move(places));
}

int AggregateInputs::add(const ExpressionPtr& expression) {
  if (!expression) return -1;
  expressions_.push_back(expression);
  return static_cast<int>(expressions_.size()) - 1;
}

AggregateInputs::CallRows AggregateInputs::rows_of_call(size_t call, const std::vector<Column>& columns, const at::Tensor& ids,
                                                        bool decodes) const {
  CallRows rows{ids, {}, std::nullopt};
  if (filter_[call] >= 0) rows.mask = truth(columns[static_cast<size_t>(filter_[call])]);
  const int64_t selected = rows.mask.defined() ? kernels::count_true(rows.mask) : ids.numel();
  if (rows.mask.defined()) rows.ids = kernels::compress(ids, rows.mask, selected);
  if (argument_[call] < 0) return rows;
  rows.argument = columns[static_cast<size_t>(argument_[call])];
  if (rows.mask.defined()) rows.argument = select_rows(*rows.argument, rows.mask, selected);
  if (decodes) rows.argument = decode_dictionary(*rows.argument);
  return rows;
}

std::vector<Column> AggregateInputs::state_of_call(size_t call, const std::vector<Column>& columns) const {
  std::vector<Column> state;
  for (size_t place : states_[call]) state.push_back(decode_dictionary(columns[place]));
  return state;
}

}  // namespace pistachio
