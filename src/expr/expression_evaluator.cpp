#include "expr/expression_evaluator.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_set>

#include "base/check.h"
#include "base/error.h"
#include "columns/decode_dictionary.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "expr/cast.h"
#include "expr/evaluation_frame.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/deferred_checks.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/spread.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

[[noreturn]] void rethrow_with_position(const UserError& error, const Expression& expression) {
  if (error.position() || expression.position() < 0) throw error;
  throw UserError(error.message(), expression.position());
}

Argument constant_argument(const ScalarValue& value, at::Device device) {
  return {repeat_value(value, 1, device), true};
}

Column with_validity(Column column, const at::Tensor& valid) {
  if (!valid.defined()) return column;
  at::Tensor both = both_valid(column.validity(), valid);
  if (column.is_dictionary()) return Column::dictionary(column.codes(), column.dictionary_column(), both);
  if (column.type().is_text()) return Column::text(column.type(), column.bytes(), column.begins(), column.ends(), both);
  return Column::fixed(column.type(), column.values(), both);
}

// Maps the results of dictionary entries to rows. Text stays dictionary-coded.
Column spread_entries(const Column& entries, const Column& coded) {
  if (entries.type().is_text() && !entries.has_validity() && !entries.is_dictionary()) {
    return Column::dictionary(coded.codes(), std::make_shared<const Column>(entries), coded.validity());
  }
  Column spread = take_rows(entries, coded.codes().to(at::kLong));
  return with_validity(std::move(spread), coded.validity());
}

// Runs `body` on dictionary entries instead of rows. An error may come from an entry that no row uses: then it runs on the rows after all.
template <typename Body>
std::optional<Column> on_entries(const Column& coded, bool can_raise, const Body& body) {
  const Column& entries = *coded.dictionary_column();
  if (entries.rows() > coded.rows() || entries.rows() == 0) return std::nullopt;
  if (!can_raise) return spread_entries(body(entries), coded);
  try {
    return spread_entries(body(entries), coded);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace

ExpressionEvaluator::ExpressionEvaluator(std::vector<ExpressionPtr> expressions, const std::vector<ColumnId>& layout)
    : expressions_(std::move(expressions)) {
  for (size_t i = 0; i < layout.size(); ++i) positions_.emplace(layout[i].value, i);
  std::unordered_map<const Expression*, std::vector<const Expression*>, HashExpression, SameExpression> seen;
  std::function<void(const Expression&)> visit = [&](const Expression& expression) {
    if (expression.is_constant() || expression.kind() == ExpressionKind::Column) return;
    std::vector<const Expression*>& same = seen[&expression];
    same.push_back(&expression);
    // A repeated occurrence is not computed, so its subexpressions do not count again.
    if (same.size() > 1) return;
    for (const ExpressionPtr& child : expression.children()) visit(*child);
  };
  for (const ExpressionPtr& expression : expressions_) visit(*expression);
  for (const auto& [representative, all] : seen) {
    if (all.size() < 2) continue;
    for (const Expression* expression : all) shared_.emplace(expression, representative);
  }
}

std::vector<Column> ExpressionEvaluator::evaluate(const Chunk& chunk, const CancelToken& token) const {
  return kernels::with_deferred_checks(chunk.device(), [&] {
    Frame frame(chunk, token);
    std::vector<Column> columns;
    columns.reserve(expressions_.size());
    for (const ExpressionPtr& expression : expressions_) columns.push_back(evaluate(*expression, frame).expanded(chunk.rows()));
    return columns;
  });
}

at::Tensor ExpressionEvaluator::evaluate_condition(const Chunk& chunk, const CancelToken& token) const {
  ENSURE(expressions_.size() == 1 && expressions_[0]->type().kind() == TypeKind::Boolean);
  return kernels::with_deferred_checks(chunk.device(), [&] {
    Frame frame(chunk, token);
    return truth_of(evaluate(*expressions_[0], frame), chunk.rows()).is_true;
  });
}

Argument ExpressionEvaluator::evaluate(const Expression& expression, Frame& frame) const {
  auto shared = shared_.find(&expression);
  if (shared == shared_.end()) return evaluate_node(expression, frame);
  auto known = frame.known.find(shared->second);
  if (known == frame.known.end()) known = frame.known.emplace(shared->second, evaluate_node(expression, frame)).first;
  return known->second;
}

// Whether evaluating the expression on all rows of the frame could raise an error that has not been ruled out: what is known raised none.
bool ExpressionEvaluator::may_raise(const Expression& whole, const Frame& frame) const {
  // A node may have many parents: none is visited twice.
  std::unordered_set<const Expression*> visited;
  std::vector<const Expression*> open{&whole};
  while (!open.empty()) {
    const Expression& expression = *open.back();
    open.pop_back();
    if (!expression.can_raise() || !visited.insert(&expression).second) continue;
    auto shared = shared_.find(&expression);
    if (shared != shared_.end() && frame.known.contains(shared->second)) continue;
    if (expression.raises_itself()) return true;
    for (const ExpressionPtr& child : expression.children()) open.push_back(child.get());
  }
  return false;
}

Argument ExpressionEvaluator::evaluate_node(const Expression& expression, Frame& frame) const {
  frame.token().throw_if_cancelled();
  switch (expression.kind()) {
    case ExpressionKind::Constant: return constant_argument(expression.value(), frame.device());
    case ExpressionKind::Column: {
      auto position = positions_.find(expression.column_id().value);
      ENSURE(position != positions_.end(), "column #{} is not in the chunk", expression.column_id().value);
      return {frame.column(position->second), false};
    }
    case ExpressionKind::Call: return evaluate_call(expression, frame);
    case ExpressionKind::Cast: return evaluate_cast(expression, frame);
    case ExpressionKind::And:
    case ExpressionKind::Or: return evaluate_logical(expression, frame);
    case ExpressionKind::Case: return evaluate_case(expression, frame);
    case ExpressionKind::Coalesce: return evaluate_coalesce(expression, frame);
  }
  fail_check(__FILE__, __LINE__, "unknown expression kind");
}

Argument ExpressionEvaluator::evaluate_call(const Expression& expression, Frame& frame) const {
  const Function& function = expression.function();
  std::vector<Argument> arguments;
  size_t varying = 0;
  size_t last_varying = 0;
  for (const ExpressionPtr& child : expression.children()) {
    arguments.push_back(evaluate(*child, frame));
    if (arguments.back().is_constant) continue;
    ++varying;
    last_varying = arguments.size() - 1;
  }
  bool strict = function.null_rule == NullRule::Strict;
  if (strict) {
    for (const Argument& argument : arguments) {
      if (is_null_constant(argument)) return constant_argument(ScalarValue::null(expression.type()), frame.device());
    }
  }
  try {
    if (varying == 0 && !arguments.empty() && function.is_stable) {
      return {call_function(function, {arguments, 1, expression.type(), {}, &frame.token()}), true};
    }
    if (strict && varying == 1 && function.is_stable && arguments[last_varying].column.is_dictionary()) {
      Column coded = arguments[last_varying].column;
      auto of_entries = [&](const Column& entries) {
        std::vector<Argument> own = arguments;
        own[last_varying].column = entries;
        return call_function(function, {own, entries.rows(), expression.type(), {}, &frame.token()});
      };
      std::optional<Column> result;
      // On a GPU each lane has a stream of its own: none may use what another one is still computing.
      if (!function.can_raise && !expression.type().is_text() && coded.device().is_cpu() && coded.dictionary_column()->rows() > 0) {
        result = entry_results_->find(expression, coded.dictionary_column(), coded.rows(), of_entries);
        if (result) result = spread_entries(*result, coded);
      } else {
        result = on_entries(coded, function.can_raise, of_entries);
      }
      if (result) return {std::move(*result), false};
    }
    at::Tensor valid;
    for (Argument& argument : arguments) {
      argument.column = decode_dictionary(argument.column);
      if (!argument.is_constant) valid = both_valid(valid, argument.column.validity());
    }
    if (arguments.empty()) {
      Column result = function.evaluate({arguments, frame.rows(), expression.type(), {}, &frame.token()});
      return {to_device(result, frame.device()), false};
    }
    if (!strict) return {call_function(function, {arguments, frame.rows(), expression.type(), {}, &frame.token()}), false};
    return {with_validity(call_function(function, {arguments, frame.rows(), expression.type(), valid, &frame.token()}), valid), false};
  } catch (const UserError& error) {
    rethrow_with_position(error, expression);
  }
}

Argument ExpressionEvaluator::evaluate_cast(const Expression& expression, Frame& frame) const {
  Argument argument = evaluate(*expression.children()[0], frame);
  try {
    if (argument.column.is_dictionary() && !argument.is_constant) {
      bool can_raise = cast_can_raise(argument.column.type(), expression.type());
      std::optional<Column> result = on_entries(argument.column, can_raise, [&](const Column& entries) {
        return cast_column(entries, expression.type(), {}, &frame.token());
      });
      if (result) return {std::move(*result), false};
    }
    return {cast_column(argument.column, expression.type(), {}, &frame.token()), argument.is_constant};
  } catch (const UserError& error) {
    rethrow_with_position(error, expression);
  }
}

Argument ExpressionEvaluator::evaluate_selected(const Expression& expression, Frame& frame, const at::Tensor& mask) const {
  Frame selected(frame, mask);
  return evaluate(expression, selected);
}

// AND is decided by false, OR by true: decided rows are skipped where a later operand may raise an error.
Argument ExpressionEvaluator::evaluate_logical(const Expression& expression, Frame& frame) const {
  bool is_and = expression.kind() == ExpressionKind::And;
  at::Tensor settled;  // false for AND, true for OR
  at::Tensor passed;   // all operands so far are true for AND, false for OR; other rows are NULL
  bool may_be_null = false;
  for (const ExpressionPtr& child : expression.children()) {
    bool skips = settled.defined() && may_raise(*child, frame) && kernels::count_true(settled) > 0;
    Truth truth;
    if (skips) {
      at::Tensor open = settled.logical_not();
      Argument part = evaluate_selected(*child, frame, open);
      Truth some = truth_of(part, kernels::count_true(open));
      truth = {kernels::spread(some.is_true.contiguous(), open), kernels::spread(some.is_false.contiguous(), open), some.may_be_null};
    } else {
      truth = truth_of(evaluate(*child, frame), frame.rows());
    }
    const at::Tensor& settles = is_and ? truth.is_false : truth.is_true;
    const at::Tensor& passes = is_and ? truth.is_true : truth.is_false;
    settled = settled.defined() ? settled.logical_or(settles) : settles;
    passed = passed.defined() ? passed.logical_and(passes) : passes;
    may_be_null = may_be_null || truth.may_be_null;
  }
  if (!may_be_null) return {Column::fixed(TypeKind::Boolean, is_and ? passed : settled), false};
  at::Tensor known = settled.logical_or(passed);
  at::Tensor values = is_and ? settled.logical_not() : settled;
  bool has_nulls = kernels::count_true(known) != frame.rows();
  return {Column::fixed(TypeKind::Boolean, values, has_nulls ? known : at::Tensor()), false};
}

std::optional<ScalarValue> evaluate_short_constant(const ExpressionPtr& expression, int64_t longest_text, const CancelToken& token) {
  if (expression->is_constant()) return expression->value();
  Column value = decode_dictionary(ExpressionEvaluator({expression}, {}).evaluate(Chunk({}, 1), token)[0]);
  if (value.type().is_text() && (value.ends() - value.begins()).item<int64_t>() > longest_text) return std::nullopt;
  return value_at(value, 0);
}

ScalarValue evaluate_constant(const ExpressionPtr& expression, const CancelToken& token) {
  return *evaluate_short_constant(expression, std::numeric_limits<int64_t>::max(), token);
}

}  // namespace pistachio
