#include "expr/expression_evaluator.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <unordered_set>

#include "base/check.h"
#include "base/error.h"
#include "columns/concatenate_columns.h"
#include "columns/decode_dictionary.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "columns/scalar_access.h"
#include "expr/cast.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/deferred_checks.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/spread.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

// The rows an expression is evaluated on: a chunk, or selected rows of another frame, whose columns are then selected lazily.
class ExpressionEvaluator::Frame {
 public:
  Frame(const Chunk& chunk, const CancelToken& token) : token_(token), chunk_(&chunk), rows_(chunk.rows()), device_(chunk.device()) {}
  Frame(Frame& parent, at::Tensor mask)
      : token_(parent.token_), parent_(&parent), mask_(std::move(mask)), rows_(kernels::count_true(mask_)), device_(parent.device_) {}

  int64_t rows() const { return rows_; }
  at::Device device() const { return device_; }
  const Column& column(size_t position) {
    if (parent_ == nullptr) return chunk_->column(position);
    auto found = selected_.find(position);
    if (found == selected_.end()) found = selected_.emplace(position, select_rows(parent_->column(position), mask_, rows_)).first;
    return found->second;
  }

  const CancelToken& token() const { return token_; }

  std::unordered_map<const Expression*, Argument> known;

 private:
  const CancelToken& token_;
  const Chunk* chunk_ = nullptr;
  Frame* parent_ = nullptr;
  at::Tensor mask_;
  int64_t rows_;
  at::Device device_;
  std::map<size_t, Column> selected_;
};

namespace {

[[noreturn]] void rethrow_with_position(const UserError& error, const Expression& expression) {
  if (error.position() || expression.position() < 0) throw error;
  throw UserError(error.message(), expression.position());
}

Argument constant_argument(const ScalarValue& value, at::Device device) {
  return {repeat_value(value, 1, device), true};
}

bool is_null_constant(const Argument& argument) {
  return argument.is_constant && argument.column.has_validity() && !argument.column.validity().item<bool>();
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

// Merges the results of subsets of the rows. Each part has a row per row of its mask, or one row for all.
class Merger {
 public:
  Merger(LogicalType type, int64_t rows, at::Device device)
      : type_(type), source_(at::full({rows}, -1, at::TensorOptions(at::kLong).device(device))) {}

  void add(const Argument& part, const at::Tensor& mask) {
    int64_t count = part.column.rows();
    at::Tensor places = part.is_constant ? at::full({kernels::count_true(mask)}, next_, source_.options())
                                         : at::arange(next_, next_ + count, source_.options());
    source_.masked_scatter_(mask, places);
    pieces_.push_back(part.column);
    next_ += count;
  }

  Argument finish() const {
    if (pieces_.empty()) return {null_column(type_, source_.numel(), source_.device()), false};
    return {take_rows_or_null(concatenate_columns(pieces_), source_, source_.ge(0)), false};
  }

 private:
  LogicalType type_;
  at::Tensor source_;
  std::vector<Column> pieces_;
  int64_t next_ = 0;
};

struct Truth {
  at::Tensor is_true;
  at::Tensor is_false;
  bool may_be_null = false;
};

Truth truth_of(const Argument& argument, int64_t rows) {
  Column column = decode_dictionary(argument.expanded(rows));
  if (!column.has_validity()) return {column.values(), column.values().logical_not()};
  return {column.values().logical_and(column.validity()), column.values().logical_not().logical_and_(column.validity()), true};
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
      std::optional<Column> result = on_entries(coded, function.can_raise, [&](const Column& entries) {
        std::vector<Argument> own = arguments;
        own[last_varying].column = entries;
        return call_function(function, {own, entries.rows(), expression.type(), {}, &frame.token()});
      });
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

// Computes all branches on all rows and takes each value from the branch of its row. A GPU would have to be waited for to select rows; a
// CPU gains only where a branch costs nothing.
std::optional<Argument> ExpressionEvaluator::blend_case(const Expression& expression, Frame& frame) const {
  const std::vector<ExpressionPtr>& parts = expression.children();
  if (expression.type().is_text() || frame.rows() == 0) return std::nullopt;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_condition = i % 2 == 0 && i + 1 < parts.size();
    if (may_raise(*parts[i], frame)) return std::nullopt;
    if (frame.device().is_cpu() && !is_condition && !parts[i]->is_constant() && parts[i]->kind() != ExpressionKind::Column) return std::nullopt;
  }
  at::Tensor values, valid;
  auto lay_over = [&](const Argument& part, const at::Tensor& hit) {
    const Column column = decode_dictionary(part.column);
    const bool may_be_null = valid.defined() || column.has_validity();
    const at::Tensor yes = at::ones({1}, hit.options());
    if (may_be_null) {
      valid = at::where(hit, column.has_validity() ? column.validity() : yes, valid.defined() ? valid : yes);
    }
    values = at::where(values.dim() == 2 ? hit.unsqueeze(1) : hit, column.values(), values);
  };
  const Column otherwise = decode_dictionary(evaluate(*parts.back(), frame).column);
  values = otherwise.values();
  if (otherwise.has_validity()) valid = otherwise.validity();
  // The first branch that applies wins, so it is laid over the others.
  for (size_t i = parts.size() - 1; i >= 2; i -= 2) {
    const at::Tensor hit = truth_of(evaluate(*parts[i - 2], frame), frame.rows()).is_true;
    lay_over(evaluate(*parts[i - 1], frame), hit);
  }
  return Argument{Column::fixed(expression.type(), std::move(values), std::move(valid)), false};
}

Argument ExpressionEvaluator::evaluate_case(const Expression& expression, Frame& frame) const {
  if (std::optional<Argument> blended = blend_case(expression, frame)) return std::move(*blended);
  const std::vector<ExpressionPtr>& parts = expression.children();
  at::Tensor open = at::ones({frame.rows()}, at::TensorOptions(at::kBool).device(frame.device()));
  Merger merger(expression.type(), frame.rows(), frame.device());
  int64_t left = frame.rows();
  for (size_t i = 0; i + 1 < parts.size() && left > 0; i += 2) {
    at::Tensor hit;
    if (left == frame.rows() || !may_raise(*parts[i], frame)) {
      hit = truth_of(evaluate(*parts[i], frame), frame.rows()).is_true.logical_and(open);
    } else {
      Argument condition = evaluate_selected(*parts[i], frame, open);
      hit = kernels::spread(truth_of(condition, left).is_true.contiguous(), open);
    }
    int64_t hits = kernels::count_true(hit);
    if (hits == 0) continue;
    merger.add(evaluate_selected(*parts[i + 1], frame, hit), hit);
    open = open.logical_and(hit.logical_not());
    left -= hits;
  }
  if (left > 0) merger.add(evaluate_selected(*parts.back(), frame, open), open);
  return merger.finish();
}

Argument ExpressionEvaluator::evaluate_coalesce(const Expression& expression, Frame& frame) const {
  at::Tensor open = at::ones({frame.rows()}, at::TensorOptions(at::kBool).device(frame.device()));
  Merger merger(expression.type(), frame.rows(), frame.device());
  int64_t left = frame.rows();
  for (const ExpressionPtr& child : expression.children()) {
    if (left == 0) break;
    Argument part = evaluate_selected(*child, frame, open);
    if (is_null_constant(part)) continue;
    if (!part.column.has_validity() || (part.is_constant)) {
      merger.add(part, open);
      left = 0;
      break;
    }
    at::Tensor found = kernels::spread(part.column.validity().contiguous(), open);
    merger.add({select_rows(part.column, part.column.validity()), false}, found);
    open = open.logical_and(found.logical_not());
    left = kernels::count_true(open);
  }
  return merger.finish();
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
