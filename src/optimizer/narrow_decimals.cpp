// Products and sums of decimals declare the digits that their operands could need by type: DECIMAL(15,2) * DECIMAL(16,2) is a DECIMAL(31,4)
// of 128 bits. The bounds of the columns in use, from statistics in footers and from types, mostly prove that 64 bits hold every value. Where
// only the value counts, in arguments of sums and in columns that are merely computed for them, the expression gets a type of at most 18
// digits. Should a bound be wrong, checked arithmetic still raises an error.
#include <algorithm>
#include <map>

#include "expr/cast.h"
#include "expr/column_set.h"
#include "expr/function.h"
#include "expr/function_table.h"
#include "expr/type_rules.h"
#include "optimizer/footer_facts.h"
#include "optimizer/number_range.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

constexpr int kMaxNarrowDigits = 18;  // of a decimal in 64 bits

bool fits_64_bits(const NumberRange& bounds) {
  const Int128 limit = power_of_ten(kMaxNarrowDigits) - 1;
  return bounds.least >= -limit && bounds.greatest <= limit;
}

int digits_of(const NumberRange& bounds) {
  Int128 rest = std::max(bounds.greatest, -bounds.least);
  int digits = 1;
  for (rest /= 10; rest > 0; rest /= 10) ++digits;
  return digits;
}

LogicalType type_of(const NumberRange& bounds, int scale) {
  return LogicalType::decimal(std::max({digits_of(bounds), scale, 1}), scale);
}

NumberRange product_of(const NumberRange& left, const NumberRange& right) {
  const auto [least, greatest] = std::minmax(
      {left.least * right.least, left.least * right.greatest, left.greatest * right.least, left.greatest * right.greatest});
  return {least, greatest};
}

bool passes_on(const NamedExpression& column) {
  return column.expression->kind() == ExpressionKind::Column && column.expression->column_id() == column.id;
}

class DecimalNarrowing {
 public:
  explicit DecimalNarrowing(LogicalPlan& plan) : plan_(plan) {
    for (const OutputColumn& column : plan.output) fixed_.insert(column.id);
  }

  // Before any rewrite().
  void find_fixed(const LogicalNode& node);
  // Children first.
  void rewrite(LogicalNode& node);

 private:
  // The same value and scale in a type of at most 18 digits.
  struct Narrow {
    ExpressionPtr expression;
    NumberRange bounds;
  };

  std::optional<Narrow> narrowed(const ExpressionPtr& expression);
  std::optional<Narrow> narrowed_column(const ExpressionPtr& expression);
  std::optional<Narrow> narrowed_constant(const Expression& expression) const;
  std::optional<Narrow> narrowed_cast(const Expression& expression);
  std::optional<Narrow> narrowed_call(const Expression& expression);
  std::optional<Narrow> narrowed_choice(const Expression& expression);
  static std::optional<Narrow> made(const Expression& expression, std::vector<ExpressionPtr> operands, NumberRange bounds);

  ExpressionPtr with_moved_columns(const ExpressionPtr& expression) const;
  void rewrite_project(LogicalProject& project);
  void rewrite_aggregate(LogicalAggregate& aggregate);

  LogicalPlan& plan_;
  ColumnSet fixed_;                         // not to be replaced: used by id, not in expressions only
  ColumnSet computed_;                      // by projections
  std::map<ColumnId, ColumnId> moved_;      // computed columns that were replaced by narrower ones
  std::map<ColumnId, NumberRange> bounds_;  // of columns, as far as they were needed
  std::map<ColumnId, std::pair<TablePtr, size_t>> stored_;
};

void DecimalNarrowing::find_fixed(const LogicalNode& node) {
  auto add = [&](const std::vector<ColumnId>& columns) { fixed_.insert(columns.begin(), columns.end()); };
  if (const auto* aggregate = node.as<LogicalAggregate>()) add(aggregate->groups);
  if (const auto* limit = node.as<LogicalLimit>()) add(limit->groups);
  if (const auto* window = node.as<LogicalWindow>()) add(window->partition);
  if (const auto* join = node.as<LogicalJoin>()) add(join->output);
  if (const auto* repeat = node.as<LogicalRepeat>()) add({repeat->times});
  if (const auto* read = node.as<LogicalSharedRead>()) add(read->sources);
  if (const auto* project = node.as<LogicalProject>()) {
    // Copies of a subplan compute the same column.
    for (const NamedExpression& column : project->columns) {
      if (!passes_on(column) && !computed_.insert(column.id)) fixed_.insert(column.id);
    }
  }
  if (const auto* operation = node.as<LogicalSetOperation>()) {
    add(operation->left_columns);
    add(operation->right_columns);
  }
}

std::optional<DecimalNarrowing::Narrow> DecimalNarrowing::made(const Expression& expression, std::vector<ExpressionPtr> operands,
                                                               NumberRange bounds) {
  if (!fits_64_bits(bounds)) return std::nullopt;
  const LogicalType type = type_of(bounds, expression.type().scale());
  return Narrow{Expression::call(expression.function(), std::move(operands), type, expression.position()), bounds};
}

std::optional<DecimalNarrowing::Narrow> DecimalNarrowing::narrowed_column(const ExpressionPtr& expression) {
  const ColumnId id = expression->column_id();
  if (expression->type().is_wide()) return std::nullopt;
  auto known = bounds_.find(id);
  if (known == bounds_.end()) {
    NumberRange bounds = range_of_type(expression->type());
    auto stored = stored_.find(id);
    const std::optional<FooterBounds> exact =
        stored != stored_.end() ? exact_bounds(*stored->second.first, stored->second.second) : std::nullopt;
    if (exact) bounds = exact->least ? NumberRange{exact->least->integer, exact->greatest->integer} : NumberRange{};
    known = bounds_.emplace(id, bounds).first;
  }
  if (!fits_64_bits(known->second)) return std::nullopt;
  return Narrow{expression, known->second};
}

std::optional<DecimalNarrowing::Narrow> DecimalNarrowing::narrowed_constant(const Expression& expression) const {
  const int scale = scale_of_number(expression.type());
  const Int128 value = expression.value().is_null ? 0 : expression.value().integer;
  const NumberRange bounds{value, value};
  if (!fits_64_bits(bounds)) return std::nullopt;
  const LogicalType type = type_of(bounds, scale);
  ScalarValue constant = expression.value().is_null ? ScalarValue::null(type) : ScalarValue::of_integer(type, value);
  return Narrow{Expression::constant(std::move(constant), expression.position()), bounds};
}

std::optional<DecimalNarrowing::Narrow> DecimalNarrowing::narrowed_cast(const Expression& expression) {
  const ExpressionPtr& child = expression.children()[0];
  if (!is_exact_number(child->type())) return std::nullopt;
  const int shift = expression.type().scale() - scale_of_number(child->type());
  if (shift < 0 || shift > kMaxNarrowDigits) return std::nullopt;
  std::optional<Narrow> value = narrowed(child);
  if (!value) return std::nullopt;
  const Int128 factor = power_of_ten(shift);
  const NumberRange bounds{value->bounds.least * factor, value->bounds.greatest * factor};
  if (!fits_64_bits(bounds) || digits_of(bounds) > expression.type().precision()) return std::nullopt;
  if (is_integer(value->expression->type()))
    value->expression = Expression::cast(value->expression, LogicalType::decimal(kMaxNarrowDigits, 0), expression.position());
  if (shift == 0) return value;
  const LogicalType factor_type = LogicalType::decimal(std::min(shift + 1, kMaxNarrowDigits), 0);
  const ExpressionPtr by = Expression::constant(ScalarValue::of_integer(factor_type, factor), expression.position());
  const ExpressionPtr product = make_call("*", {value->expression, by}, expression.position());
  return Narrow{Expression::call(product->function(), {value->expression, by}, type_of(bounds, expression.type().scale()), expression.position()),
                bounds};
}

std::optional<DecimalNarrowing::Narrow> DecimalNarrowing::narrowed_call(const Expression& expression) {
  const std::string_view name = expression.function().name;
  if (name != "+" && name != "-" && name != "*") return std::nullopt;
  std::vector<ExpressionPtr> operands;
  std::vector<NumberRange> bounds;
  for (const ExpressionPtr& child : expression.children()) {
    if (child->type().kind() != TypeKind::Decimal) return std::nullopt;
    std::optional<Narrow> operand = narrowed(child);
    if (!operand) return std::nullopt;
    operands.push_back(std::move(operand->expression));
    bounds.push_back(operand->bounds);
  }
  if (operands.size() == 1) {
    const NumberRange negated{-bounds[0].greatest, -bounds[0].least};
    return made(expression, std::move(operands), name == "-" ? negated : bounds[0]);
  }
  if (name == "*") return made(expression, std::move(operands), product_of(bounds[0], bounds[1]));
  if (name == "+")
    return made(expression, std::move(operands), {bounds[0].least + bounds[1].least, bounds[0].greatest + bounds[1].greatest});
  return made(expression, std::move(operands), {bounds[0].least - bounds[1].greatest, bounds[0].greatest - bounds[1].least});
}

// CASE and COALESCE.
std::optional<DecimalNarrowing::Narrow> DecimalNarrowing::narrowed_choice(const Expression& expression) {
  std::vector<ExpressionPtr> children = expression.children();
  std::optional<NumberRange> bounds;
  int digits = 1;
  std::vector<size_t> results;
  for (size_t i = 0; i < children.size(); ++i) {
    const bool is_condition = expression.kind() == ExpressionKind::Case && i % 2 == 0 && i + 1 < children.size();
    if (is_condition) continue;
    std::optional<Narrow> result = narrowed(children[i]);
    if (!result) return std::nullopt;
    children[i] = std::move(result->expression);
    digits = std::max(digits, as_decimal(children[i]->type()).precision());
    results.push_back(i);
    if (!bounds) bounds = result->bounds;
    bounds->least = std::min(bounds->least, result->bounds.least);
    bounds->greatest = std::max(bounds->greatest, result->bounds.greatest);
  }
  if (digits > kMaxNarrowDigits) return std::nullopt;
  const LogicalType type = LogicalType::decimal(digits, expression.type().scale());
  for (size_t i : results) children[i] = coerce(children[i], type);
  return Narrow{Expression::conditional(expression.kind(), std::move(children), type, expression.position()), *bounds};
}

std::optional<DecimalNarrowing::Narrow> DecimalNarrowing::narrowed(const ExpressionPtr& expression) {
  if (!is_exact_number(expression->type())) return std::nullopt;
  if (expression->kind() == ExpressionKind::Column) return narrowed_column(expression);
  if (expression->kind() == ExpressionKind::Constant) return narrowed_constant(*expression);
  std::optional<Narrow> found;
  if (expression->type().kind() == TypeKind::Decimal) {
    if (expression->kind() == ExpressionKind::Cast) found = narrowed_cast(*expression);
    if (expression->kind() == ExpressionKind::Call) found = narrowed_call(*expression);
    if (expression->kind() == ExpressionKind::Case || expression->kind() == ExpressionKind::Coalesce) found = narrowed_choice(*expression);
  }
  if (found || expression->type().is_wide()) return found;
  const NumberRange bounds = range_of_type(expression->type());
  if (!fits_64_bits(bounds)) return std::nullopt;
  return Narrow{expression, bounds};
}

ExpressionPtr DecimalNarrowing::with_moved_columns(const ExpressionPtr& expression) const {
  if (moved_.empty()) return expression;
  return replace_columns(expression, [&](ColumnId id) -> ExpressionPtr {
    auto moved = moved_.find(id);
    if (moved == moved_.end()) return nullptr;
    return Expression::cast(plan_.columns.reference(moved->second), plan_.columns.type(id));
  });
}

void DecimalNarrowing::rewrite_project(LogicalProject& project) {
  for (NamedExpression& column : project.columns) {
    if (passes_on(column)) {
      auto moved = moved_.find(column.id);
      if (moved != moved_.end()) column = {moved->second, plan_.columns.reference(moved->second)};
      continue;
    }
    column.expression = with_moved_columns(column.expression);
    if (!is_exact_number(column.expression->type())) continue;
    std::optional<Narrow> value = narrowed(column.expression);
    if (!value) continue;
    ColumnId id = column.id;
    if (column.expression->type().is_wide()) {
      if (fixed_.contains(id)) continue;
      id = plan_.columns.add(plan_.columns.name(column.id), value->expression->type());
      moved_[column.id] = id;
      column = {id, value->expression};
    }
    bounds_[id] = value->bounds;
  }
}

void DecimalNarrowing::rewrite_aggregate(LogicalAggregate& aggregate) {
  for (AggregateCall& call : aggregate.calls) {
    if (call.filter) call.filter = with_moved_columns(call.filter);
    if (!call.argument) continue;
    call.argument = with_moved_columns(call.argument);
    const AggregateKind kind = call.function->kind;
    const bool takes_any_type = kind == AggregateKind::Sum || kind == AggregateKind::Average || kind == AggregateKind::Count;
    if (!takes_any_type || call.argument->type().kind() != TypeKind::Decimal || !call.argument->type().is_wide()) continue;
    if (std::optional<Narrow> value = narrowed(call.argument)) call.argument = value->expression;
  }
}

void DecimalNarrowing::rewrite(LogicalNode& node) {
  if (const auto* scan = node.as<LogicalScan>()) {
    for (const std::vector<ScanColumn>* columns : {&scan->columns, &scan->hidden}) {
      for (const ScanColumn& column : *columns) stored_[column.id] = {scan->table, column.source};
    }
  } else if (auto* project = node.as<LogicalProject>()) {
    rewrite_project(*project);
  } else if (auto* aggregate = node.as<LogicalAggregate>()) {
    rewrite_aggregate(*aggregate);
  } else if (!moved_.empty()) {
    for_each_expression(node, [&](ExpressionPtr& expression) { expression = with_moved_columns(expression); });
  }
}

}  // namespace

void narrow_decimals(LogicalPlan& plan, const CancelToken& token) {
  DecimalNarrowing narrowing(plan);
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, [&](LogicalPtr& node) { narrowing.find_fixed(*node); }); });
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, [&](LogicalPtr& node) { narrowing.rewrite(*node); }); });
}

}  // namespace pistachio
