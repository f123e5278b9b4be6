#include "expr/expression_evaluator.h"

#include <c10/core/impl/VirtualGuardImpl.h>

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

Argument null_argument(LogicalType type, at::Device device) {
  return {null_column(type, 1, device), true};
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
    case ExpressionKind::Constant: return constant_argument(expression, frame);
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

Argument ExpressionEvaluator::constant_argument(const Expression& constant, const Frame& frame) const {
  const at::Device device = frame.device();
  auto make = [&] { return Argument{repeat_value(constant.value(), 1, device), true, &constant.value()}; };
  if (device.is_cpu()) return make();
  return constants_->find(constant, c10::impl::VirtualGuardImpl(device.type()).getStream(device), make);
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
      if (is_null_constant(argument)) return null_argument(expression.type(), frame.device());
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
  const bool is_and = expression.kind() == ExpressionKind::And;
  at::Tensor hits;    // AND: all operands so far are true; OR: one is
  at::Tensor misses;  // AND: one is false; OR: all are. Undefined: all rows but the hits, since no operand was NULL
  for (const ExpressionPtr& child : expression.children()) {
    at::Tensor open;  // rows that are not decided; undefined: evaluates all
    if (hits.defined() && may_raise(*child, frame)) open = !is_and ? hits.logical_not() : misses.defined() ? misses.logical_not() : hits;
    const int64_t open_rows = open.defined() ? kernels::count_true(open) : frame.rows();
    Truth truth;
    if (open_rows < frame.rows()) {
      const Truth some = truth_of(evaluate_selected(*child, frame, open), open_rows);
      truth.is_true = kernels::spread(some.is_true.contiguous(), open);
      if (some.is_false.defined()) truth.is_false = kernels::spread(some.is_false.contiguous(), open);
    } else {
      truth = truth_of(evaluate(*child, frame), frame.rows());
    }
    if (!hits.defined()) {
      hits = truth.is_true;
      misses = truth.is_false;
      continue;
    }
    if (misses.defined() || truth.is_false.defined()) {
      if (!misses.defined()) misses = hits.logical_not();
      if (!truth.is_false.defined()) truth.is_false = truth.is_true.logical_not();
      misses = is_and ? misses.logical_or(truth.is_false) : misses.logical_and(truth.is_false);
    }
    hits = is_and ? hits.logical_and(truth.is_true) : hits.logical_or(truth.is_true);
  }
  if (!misses.defined()) return {Column::fixed(TypeKind::Boolean, std::move(hits)), false};
  at::Tensor known = hits.logical_or(misses);
  const bool has_nulls = kernels::count_true(known) != frame.rows();
  return {Column::fixed(TypeKind::Boolean, std::move(hits), has_nulls ? std::move(known) : at::Tensor()), false};
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
