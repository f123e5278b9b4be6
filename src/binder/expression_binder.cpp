// Expressions without subqueries: names, operators, function calls, casts; constants and type names outside of queries.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "binder/aggregate_owners.h"
#include "binder/expression_binding.h"
#include "binder/grouping.h"
#include "data/decimal_text.h"
#include "expr/cast.h"
#include "expr/expression_evaluator.h"
#include "expr/function_table.h"
#include "expr/interval_text.h"
#include "expr/parse_value.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

// Longer lists of constants use a hash table.
constexpr size_t kLongestInList = 16;

constexpr size_t kMaxDigits = 38;

bool is_constant_list(const std::vector<ExpressionPtr>& list) {
  return std::all_of(list.begin(), list.end(), [](const ExpressionPtr& item) { return item->is_constant(); });
}

// The type of the first argument as compared with the second, as in PostgreSQL: nullif(3, 2.5) is a DECIMAL. Comparing integers with
// integers, floats with floats and dates with timestamps needs no cast.
LogicalType nullif_type(const ExpressionPtr& first, const ExpressionPtr& second) {
  LogicalType type = first->type();
  LogicalType other = second->type();
  if (second->is_untyped()) return type;
  if (first->is_untyped()) return other.kind() == TypeKind::Decimal ? as_decimal_literal(first)->type() : other;
  bool is_kept = (is_integer(type) && is_integer(other)) || (type.is_floating() && other.is_floating()) || !is_number(type);
  if (is_kept) return type;
  return is_exact_number(type) && is_exact_number(other) ? as_decimal(type) : common_type(type, other).value_or(type);
}

// Whether an expression uses columns of enclosing queries at most.
bool is_constant_in(const NameScope& scope, const Expression& expression) {
  ColumnSet columns = columns_of(expression);
  return std::all_of(columns.begin(), columns.end(), [&](ColumnId column) {
    const NameScope* outer = scope.parent();
    while (outer != nullptr && outer->find_id(column) == nullptr) outer = outer->parent();
    return outer != nullptr;
  });
}

// Gives an operand or item of IN the list's type where the comparison depends on it: an untyped literal is read as that type, and a float
// rounds. Other types compare exactly without a cast.
ExpressionPtr as_listed(ExpressionPtr value, LogicalType type) {
  if (value->is_untyped() && type.kind() == TypeKind::Decimal) value = as_decimal_literal(std::move(value));
  return value->is_untyped() || type.is_floating() ? coerce(std::move(value), type) : value;
}

// operand = item for each item of IN. Items that are constant in this query get one type, common to them and the operand; the operand keeps
// its own, as in PostgreSQL: 0.1::real IN (0.1, 0.2) is true, although 0.1::real = 0.1 is not, and 0.1 IN (0.1::real, 1) is not.
std::vector<ExpressionPtr> compare_with_items(const ExpressionPtr& operand, const std::vector<ExpressionPtr>& list, const NameScope& scope,
                                              int64_t position) {
  std::vector<bool> is_constant;
  for (const ExpressionPtr& item : list) is_constant.push_back(is_constant_in(scope, *item));
  std::optional<LogicalType> common;
  bool is_comparable = std::count(is_constant.begin(), is_constant.end(), true) > 1;
  auto include = [&](const ExpressionPtr& value) {
    if (value->is_untyped() || !is_comparable) return;
    common = common ? column_type(*common, value->type()) : value->type();
    is_comparable = common.has_value();
  };
  include(operand);
  for (size_t i = 0; i < list.size(); ++i) {
    if (is_constant[i]) include(list[i]);
  }
  // An untyped literal takes the operand's type anyway.
  bool is_plain = !common || (!common->is_floating() && *common == operand->type() && !operand->is_untyped());
  std::vector<ExpressionPtr> equalities;
  for (size_t i = 0; i < list.size(); ++i) {
    if (is_plain || !is_constant[i]) {
      equalities.push_back(make_call("=", {operand, list[i]}, position));
    } else {
      ExpressionPtr item = as_listed(list[i], *common);
      bool is_read = operand->is_untyped() && item->type() != *common;
      equalities.push_back(make_call("=", {is_read ? as_listed(operand, *common) : operand, item}, position));
    }
  }
  return equalities;
}

const ast::Row* as_row(const ast::Expression& expression) {
  return std::get_if<ast::Row>(&expression.node);
}

// The constant returned by `parse`; adds this position to its error.
template <typename Parse>
ExpressionPtr parsed_constant(const Parse& parse, int64_t position) {
  try {
    return Expression::constant(parse(), position);
  } catch (const UserError& error) {
    refuse_at(error.message(), position);
  }
}

ExpressionPtr double_constant(std::string_view text, int64_t position) {
  return parsed_constant([&] { return parse_value(TypeKind::Double, text); }, position);
}

// The fields of INTERVAL DAY TO HOUR determine the unit of a bare number and which smaller fields are truncated.
ExpressionPtr cast_to_interval(ExpressionPtr operand, const ast::TypeName& type, int64_t position) {
  if (!type.modifiers.empty() && type.modifiers[0] != 6) refuse_at("INTERVAL with a number of digits is not supported: it has 6", position);
  const std::string& fields = type.interval_fields;
  bool is_text = operand->type().kind() == TypeKind::Varchar;
  if (is_text && operand->is_constant() && !operand->value().is_null)
    return parsed_constant([&] { return parse_interval(operand->value().text, fields); }, position);
  if (!operand->is_untyped() && !can_cast(operand->type(), TypeKind::Interval))
    refuse_at(fmt::format("{} cannot be cast to INTERVAL", operand->type().to_string()), position);
  bool is_null = operand->is_constant() && operand->value().is_null;
  if (is_text && !is_null && !fields.empty()) refuse_at("only a constant can be cast from text to INTERVAL with fields", position);
  ExpressionPtr interval = coerce(std::move(operand), TypeKind::Interval);
  std::string smallest = fields.substr(fields.find_last_of(' ') + 1);
  if (smallest.empty() || smallest == "second") return interval;
  ExpressionPtr unit = Expression::constant(ScalarValue::of_text(TypeKind::Varchar, smallest), position);
  return make_call("date_trunc", {std::move(unit), std::move(interval)}, position);
}

ExpressionPtr bind_literal(const ast::Literal& literal, int64_t position) {
  switch (literal.kind) {
    case ast::Literal::Kind::Null: return Expression::untyped(ScalarValue::null(TypeKind::Varchar), position);
    case ast::Literal::Kind::Text: return Expression::untyped(ScalarValue::of_text(TypeKind::Varchar, literal.text), position);
    case ast::Literal::Kind::Boolean:
      return Expression::constant(ScalarValue::of_integer(TypeKind::Boolean, literal.text == "true" ? 1 : 0), position);
    case ast::Literal::Kind::Number: break;
  }
  std::string_view text = literal.text;
  if (text.find_first_of("eE") != std::string_view::npos) return double_constant(text, position);
  size_t point = text.find('.');
  size_t digits = text.size() - text.starts_with('-') - (point == std::string_view::npos ? 0 : 1);
  if (point == std::string_view::npos) {
    for (TypeKind kind : {TypeKind::Integer, TypeKind::BigInt}) {
      ParsedConstant parsed = parse_constant(kind, text);
      if (parsed.exact) return Expression::constant(parsed.value, position);
    }
  }
  size_t scale = point == std::string_view::npos ? 0 : text.size() - point - 1;
  // Ignore leading zeros.
  if (digits > kMaxDigits) digits = scale + static_cast<size_t>(std::max<int64_t>(0, read_decimal_text(text)->point));
  if (digits > kMaxDigits)
    refuse_at(fmt::format("{} has more than 38 digits: write it with an exponent (1e40) or cast it to DOUBLE", text), position);
  LogicalType type = LogicalType::decimal(static_cast<int>(std::max<size_t>({1, digits, scale})), static_cast<int>(scale));
  return Expression::constant(parse_constant(type, text).value, position);
}

// Functions that are not in the function table: they choose their types or arguments by rules of their own.
bool is_special_form(std::string_view name) {
  constexpr std::string_view forms[] = {"coalesce", "greatest", "least", "nullif", "ifnull",    "nvl",
                                        "nvl2",     "if",       "iif",   "typeof", "pg_typeof", "try_cast"};
  return std::find(std::begin(forms), std::end(forms), name) != std::end(forms);
}

}  // namespace

void refuse_at(std::string text, int64_t position) {
  throw UserError(std::move(text), position >= 0 ? std::optional(position) : std::nullopt);
}

std::optional<LogicalType> column_type(LogicalType left, LogicalType right) {
  bool is_real = left.kind() == TypeKind::Real || right.kind() == TypeKind::Real;
  if (is_real && (is_exact_number(left) || is_exact_number(right))) return LogicalType(TypeKind::Real);
  return common_type(left, right);
}

LogicalType common_type_of(const std::vector<ExpressionPtr>& expressions, std::string_view what, int64_t position) {
  std::optional<LogicalType> common;
  for (const ExpressionPtr& expression : expressions) {
    if (expression->is_untyped()) continue;
    if (!common) {
      common = expression->type();
      continue;
    }
    std::optional<LogicalType> next = column_type(*common, expression->type());
    if (!next) {
      refuse_at(fmt::format("{} has {} and {}: cast one of them", what, common->to_string(), expression->type().to_string()),
                expression->position() >= 0 ? expression->position() : position);
    }
    common = next;
  }
  if (common && common->kind() == TypeKind::Decimal) {
    for (const ExpressionPtr& expression : expressions) {
      if (expression->is_untyped()) common = column_type(*common, as_decimal_literal(expression)->type()).value_or(*common);
    }
  }
  return common.value_or(LogicalType(TypeKind::Varchar));
}

LogicalType resolve_type(const ast::TypeName& name) {
  struct Named {
    std::string_view name;
    TypeKind kind;
  };
  static constexpr Named kNames[] = {{"boolean", TypeKind::Boolean},     {"bool", TypeKind::Boolean},
                                     {"tinyint", TypeKind::TinyInt},     {"int1", TypeKind::TinyInt},
                                     {"smallint", TypeKind::SmallInt},   {"int2", TypeKind::SmallInt},
                                     {"integer", TypeKind::Integer},     {"int", TypeKind::Integer},
                                     {"int4", TypeKind::Integer},        {"bigint", TypeKind::BigInt},
                                     {"int8", TypeKind::BigInt},         {"real", TypeKind::Real},
                                     {"float4", TypeKind::Real},         {"double", TypeKind::Double},
                                     {"float8", TypeKind::Double},       {"float", TypeKind::Double},
                                     {"date", TypeKind::Date},           {"time", TypeKind::Time},
                                     {"timestamp", TypeKind::Timestamp}, {"timestamptz", TypeKind::TimestampTz},
                                     {"interval", TypeKind::Interval},   {"varchar", TypeKind::Varchar},
                                     {"text", TypeKind::Varchar},        {"char", TypeKind::Varchar},
                                     {"bpchar", TypeKind::Varchar},      {"string", TypeKind::Varchar},
                                     {"blob", TypeKind::Blob},           {"bytea", TypeKind::Blob},
                                     {"time_ns", TypeKind::TimeNs},      {"timestamp_ns", TypeKind::TimestampNs},
                                     {"timestamptz_ns", TypeKind::TimestampTzNs}};
  if (name.name == "decimal" || name.name == "numeric" || name.name == "hugeint") {
    int64_t precision = !name.modifiers.empty() ? name.modifiers[0] : (name.name == "hugeint" ? 38 : 18);
    int64_t scale = name.modifiers.size() > 1 ? name.modifiers[1] : (name.modifiers.empty() && name.name != "hugeint" ? 3 : 0);
    if (precision < 1 || precision > 38 || scale < 0 || scale > precision)
      refuse_at(fmt::format("DECIMAL({}, {}): 1 to 38 digits, of which at most as many after the point", precision, scale), name.position);
    return LogicalType::decimal(static_cast<int>(precision), static_cast<int>(scale));
  }
  for (const Named& known : kNames) {
    if (known.name == name.name) return known.kind;
  }
  refuse_at(fmt::format("there is no type {}", name.name), name.position);
}

ExpressionPtr QueryBinder::bind_expression(const ast::Expression& expression, const ExpressionPlace& place) {
  return ExpressionBinding(*this, place).bind(expression);
}

ExpressionPtr QueryBinder::bind_condition(const ast::Expression& expression, const ExpressionPlace& place, std::string_view clause) {
  return ExpressionBinding(*this, place).bind_condition(expression, clause);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_condition(const ast::Expression& expression, std::string_view clause) {
  ExpressionPtr bound = bind(expression);
  if (bound->is_untyped()) return coerce(std::move(bound), TypeKind::Boolean);
  // 0 is false, every other integer true.
  if (is_integer(bound->type())) return coerce(std::move(bound), TypeKind::Boolean);
  if (bound->type().kind() != TypeKind::Boolean)
    refuse_at(fmt::format("{} needs a BOOLEAN, not {}", clause, bound->type().to_string()), expression.position);
  return bound;
}

ExpressionPtr QueryBinder::ExpressionBinding::bind(const ast::Expression& expression) {
  stop_if_cancelled(binder_.options_.token);
  struct Visitor {
    ExpressionBinding& binding;
    int64_t position;

    ExpressionPtr operator()(const ast::Literal& node) { return bind_literal(node, position); }
    ExpressionPtr operator()(const ast::ColumnName& node) { return binding.bind_column(node, position); }
    ExpressionPtr operator()(const ast::Star&) { refuse_at("* can stand in a select list and in count(*) only", position); }
    ExpressionPtr operator()(const ast::Operator& node) { return binding.bind_operator(node, position); }
    ExpressionPtr operator()(const ast::Logical& node) { return binding.bind_logical(node, position); }
    ExpressionPtr operator()(const ast::Test& node) { return binding.bind_test(node, position); }
    ExpressionPtr operator()(const ast::Between& node) { return binding.bind_between(node, position); }
    ExpressionPtr operator()(const ast::InList& node) { return binding.bind_in_list(node, position); }
    ExpressionPtr operator()(const ast::Call& node) { return binding.bind_call(node, position); }
    ExpressionPtr operator()(const ast::Cast& node) { return binding.bind_cast(node, position); }
    ExpressionPtr operator()(const ast::Case& node) { return binding.bind_case(node, position); }
    ExpressionPtr operator()(const ast::Subquery& node) { return binding.bind_subquery(node, position); }
    ExpressionPtr operator()(const ast::Row&) { refuse_at("a row of values can only be compared with another row", position); }
  };
  return std::visit(Visitor{*this, expression.position}, expression.node);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_column(const ast::ColumnName& node, int64_t position) {
  if (place_.alias) {
    if (const ast::Expression* item = place_.alias(node, position)) {
      if (place_.grouping != nullptr) {
        // Not bound again: a subquery in it would be joined twice, the second time above the grouping.
        auto grouped = place_.grouping->by_item.find(item);
        if (grouped != place_.grouping->by_item.end()) return binder_.columns_.reference(grouped->second, position);
      }
      ExpressionPlace place = place_;
      place.alias = nullptr;  // an alias does not refer to others
      return binder_.bind_expression(*item, place);
    }
  }
  if (place_.earlier_column) {
    if (ExpressionPtr earlier = place_.earlier_column(node, position)) return earlier;
  }
  const ScopeColumn& column = place_.scope->find(node.parts, position);
  binder_.owners_->note_column(column.id);
  return binder_.columns_.reference(column.id, position);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_operator(const ast::Operator& node, int64_t position) {
  if (node.operands.size() == 2) {
    const ast::Row* left = as_row(*node.operands[0]);
    const ast::Row* right = as_row(*node.operands[1]);
    if (left != nullptr && right != nullptr) return bind_row_comparison(*left, node.name, *right, position);
  }
  std::vector<ExpressionPtr> operands;
  for (const ast::ExpressionPtr& operand : node.operands) operands.push_back(bind(*operand));
  return make_call(node.name, std::move(operands), position);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_logical(const ast::Logical& node, int64_t position) {
  std::vector<ExpressionPtr> operands;
  std::string_view name = node.kind == ast::Logical::Kind::And ? "AND" : node.kind == ast::Logical::Kind::Or ? "OR" : "NOT";
  for (const ast::ExpressionPtr& operand : node.operands) operands.push_back(bind_condition(*operand, name));
  if (node.kind == ast::Logical::Kind::Not) return make_call("not", std::move(operands), position);
  return Expression::logical(node.kind == ast::Logical::Kind::And ? ExpressionKind::And : ExpressionKind::Or, std::move(operands),
                             position);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_test(const ast::Test& node, int64_t position) {
  using Kind = ast::Test::Kind;
  std::string_view name;
  switch (node.kind) {
    case Kind::IsNull: name = "is null"; break;
    case Kind::IsNotNull: name = "is not null"; break;
    case Kind::IsTrue: name = "is true"; break;
    case Kind::IsNotTrue: name = "is not true"; break;
    case Kind::IsFalse: name = "is false"; break;
    case Kind::IsNotFalse: name = "is not false"; break;
    case Kind::IsUnknown: name = "is unknown"; break;
    case Kind::IsNotUnknown: name = "is not unknown"; break;
  }
  if (const ast::Row* row = as_row(*node.operand)) return bind_row_test(*row, name, position);
  return make_call(name, {bind(*node.operand)}, position);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_between(const ast::Between& node, int64_t position) {
  const ast::Row* row = as_row(*node.operand);
  ExpressionPtr operand = row == nullptr ? bind(*node.operand) : nullptr;
  auto compare = [&](std::string_view name, const ast::Expression& other) {
    const ast::Row* bound = as_row(other);
    if (row != nullptr && bound != nullptr) return bind_row_comparison(*row, std::string(name), *bound, position);
    if (row != nullptr) refuse_at("a row can only be between rows", other.position);
    return make_call(name, {operand, bind(other)}, position);
  };
  auto between = [&](const ast::Expression& from, const ast::Expression& to) {
    ExpressionPtr low = compare(">=", from);
    return Expression::logical(ExpressionKind::And, {std::move(low), compare("<=", to)}, position);
  };
  ExpressionPtr bound = between(*node.low, *node.high);
  if (node.symmetric) bound = Expression::logical(ExpressionKind::Or, {bound, between(*node.high, *node.low)}, position);
  return node.negated ? make_call("not", {bound}, position) : bound;
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_in_list(const ast::InList& node, int64_t position) {
  std::vector<ExpressionPtr> parts;
  if (const ast::Row* row = as_row(*node.operand)) {
    for (const ast::ExpressionPtr& item : node.list) {
      const ast::Row* other = as_row(*item);
      if (other == nullptr) refuse_at("a row can only be in a list of rows", item->position);
      parts.push_back(bind_row_comparison(*row, "=", *other, position));
    }
  } else {
    ExpressionPtr operand = bind(*node.operand);
    std::vector<ExpressionPtr> list;
    for (const ast::ExpressionPtr& item : node.list) list.push_back(bind(*item));
    ColumnSet used = columns_of(*operand);
    LogicalPtr* input = place_.sides != nullptr && place_.sides->uses_both(used) ? nullptr : place_.input_for(used);
    bool may_join = input != nullptr && !place_.is_group && !place_.regroup;
    if (list.size() > kLongestInList && may_join && is_constant_list(list)) {
      ExpressionPtr found = bind_long_in_list(std::move(operand), list, position, *input);
      return node.negated ? make_call("not", {found}, position) : found;
    }
    parts = compare_with_items(operand, list, *place_.scope, position);
  }
  ExpressionPtr any = Expression::logical(ExpressionKind::Or, std::move(parts), position);
  return node.negated ? make_call("not", {any}, position) : any;
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_cast(const ast::Cast& node, int64_t position) {
  LogicalType type = resolve_type(node.type);
  // Every number has a nearest DOUBLE, even one that is too long for a DECIMAL.
  const auto* literal = std::get_if<ast::Literal>(&node.operand->node);
  if (type.is_floating() && literal != nullptr && literal->kind == ast::Literal::Kind::Number)
    return parsed_constant([&] { return parse_value(type, literal->text); }, position);
  ExpressionPtr operand = bind(*node.operand);
  if (type.kind() == TypeKind::Interval) return cast_to_interval(std::move(operand), node.type, position);
  bool has_precision = is_date_like(type) || is_time_of_day(type);
  int64_t digits = type.has_nanoseconds() ? 9 : 6;
  if (has_precision && !node.type.modifiers.empty() && node.type.modifiers[0] != digits)
    refuse_at(fmt::format("{}({}) is not supported: seconds have {} digits", type.to_string(), node.type.modifiers[0], digits), position);
  if (!operand->is_untyped() && !can_cast(operand->type(), type))
    refuse_at(fmt::format("{} cannot be cast to {}", operand->type().to_string(), type.to_string()), position);
  ExpressionPtr cast = coerce(std::move(operand), type);
  // VARCHAR(n) and CHAR(n) truncate longer text.
  if (type.kind() == TypeKind::Varchar && !node.type.modifiers.empty()) {
    if (node.type.modifiers[0] < 1) refuse_at("the length of a VARCHAR or CHAR must be at least 1", position);
    ExpressionPtr length = Expression::constant(ScalarValue::of_integer(TypeKind::BigInt, node.type.modifiers[0]), position);
    return make_call("left", {std::move(cast), std::move(length)}, position);
  }
  return cast;
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_case(const ast::Case& node, int64_t position) {
  ExpressionPtr operand = node.operand ? bind(*node.operand) : nullptr;
  std::vector<ExpressionPtr> conditions;
  std::vector<ExpressionPtr> results;
  for (const ast::Case::When& when : node.whens) {
    if (operand) {
      conditions.push_back(make_call("=", {operand, bind(*when.condition)}, when.condition->position));
    } else {
      conditions.push_back(bind_condition(*when.condition, "WHEN"));
    }
    results.push_back(bind(*when.result));
  }
  results.push_back(node.otherwise ? bind(*node.otherwise)
                                   : Expression::untyped(ScalarValue::null(TypeKind::Varchar), position));
  LogicalType type = common_type_of(results, "CASE", position);
  std::vector<ExpressionPtr> children;
  for (size_t i = 0; i < conditions.size(); ++i) {
    children.push_back(std::move(conditions[i]));
    children.push_back(coerce(std::move(results[i]), type));
  }
  children.push_back(coerce(std::move(results.back()), type));
  return Expression::conditional(ExpressionKind::Case, std::move(children), type, position);
}

ExpressionPtr QueryBinder::ExpressionBinding::bind_call(const ast::Call& node, int64_t position) {
  if (place_.aggregates != nullptr) {
    auto known = place_.aggregates->find(&node);
    if (known != place_.aggregates->end()) return binder_.columns_.reference(known->second, position);
  }
  if (node.over != nullptr || find_window_function(node.name) != nullptr) return bind_window_call(node, position);
  if (find_aggregate(node.name) != nullptr) {
    if (const NameScope* owner = binder_.owners_->find_outer_owner(node, *place_.scope))
      return binder_.owners_->bind_outer_aggregate(node, position, *place_.scope, *owner);
    refuse_at(fmt::format("the aggregate {} cannot be used {}", node.name, place_.no_aggregate), position);
  }
  if (is_grouping_call(node)) return bind_grouping_call(node, position);
  if (node.name == "try_cast" && node.arguments.size() == 1 && std::holds_alternative<ast::Cast>(node.arguments[0]->node))
    return bind_try_cast(std::get<ast::Cast>(node.arguments[0]->node), position);
  const bool is_written_as_aggregate = node.star || node.distinct || node.filter || !node.order_by.empty();
  // A misspelt aggregate, more likely: the error suggests a name.
  if (is_written_as_aggregate && !is_special_form(node.name) && find_functions(node.name).empty()) make_call(node.name, {}, position);
  if (is_written_as_aggregate)
    refuse_at(fmt::format("{} is not an aggregate: it takes no *, DISTINCT, FILTER or ORDER BY", node.name), position);
  std::vector<ExpressionPtr> arguments;
  for (const ast::ExpressionPtr& argument : node.arguments) arguments.push_back(bind(*argument));
  if (ExpressionPtr chosen = bind_choice(node, arguments, position)) return chosen;
  if (node.name == "coalesce" || node.name == "greatest" || node.name == "least" || node.name == "nullif") {
    size_t least = node.name == "nullif" ? 2 : 1;
    if (arguments.size() < least || (least == 2 && arguments.size() > 2))
      refuse_at(fmt::format("{} takes {}", node.name, least == 2 ? "two arguments" : "at least one argument"), position);
    if (node.name == "nullif") {
      ExpressionPtr equal = make_call("=", {arguments[0], arguments[1]}, position);
      LogicalType type = nullif_type(arguments[0], arguments[1]);
      ExpressionPtr null = Expression::constant(ScalarValue::null(type), position);
      return Expression::conditional(ExpressionKind::Case, {equal, null, coerce(arguments[0], type)}, type, position);
    }
    LogicalType type = common_type_of(arguments, node.name, position);
    for (ExpressionPtr& argument : arguments) argument = coerce(std::move(argument), type);
    if (node.name == "coalesce") return Expression::conditional(ExpressionKind::Coalesce, std::move(arguments), type, position);
    if (arguments.size() == 1) return arguments[0];
    // Not make_call, which narrows constants next to decimals: the result has the common type.
    return Expression::call(*find_functions(node.name)[0], std::move(arguments), type, position);
  }
  return make_call(node.name, std::move(arguments), position);
}

// Functions that are other forms of CASE and COALESCE, and typeof; null for others.
ExpressionPtr QueryBinder::ExpressionBinding::bind_choice(const ast::Call& node, const std::vector<ExpressionPtr>& arguments,
                                                          int64_t position) {
  auto take = [&](size_t count) {
    if (arguments.size() != count) refuse_at(fmt::format("{} takes {} arguments", node.name, count), position);
  };
  if (node.name == "typeof" || node.name == "pg_typeof") {
    take(1);
    const std::string type = arguments[0]->is_untyped() && arguments[0]->is_null_constant() ? "\"NULL\"" : arguments[0]->type().to_string();
    return Expression::constant(ScalarValue::of_text(TypeKind::Varchar, type), position);
  }
  if (node.name == "ifnull" || node.name == "nvl") {
    take(2);
    const LogicalType type = common_type_of(arguments, node.name, position);
    return Expression::conditional(ExpressionKind::Coalesce, {coerce(arguments[0], type), coerce(arguments[1], type)}, type, position);
  }
  const bool tests_null = node.name == "nvl2";
  if (node.name != "if" && node.name != "iif" && !tests_null) return nullptr;
  take(3);
  ExpressionPtr condition = tests_null ? make_call("is not null", {arguments[0]}, position) : bind_condition(*node.arguments[0], node.name);
  const LogicalType type = common_type_of({arguments[1], arguments[2]}, node.name, position);
  return Expression::conditional(ExpressionKind::Case, {std::move(condition), coerce(arguments[1], type), coerce(arguments[2], type)}, type,
                                 position);
}

// NULL where the value cannot be cast.
ExpressionPtr QueryBinder::ExpressionBinding::bind_try_cast(const ast::Cast& node, int64_t position) {
  const LogicalType type = resolve_type(node.type);
  if (!node.type.modifiers.empty() && type.kind() != TypeKind::Decimal) refuse_at("TRY_CAST takes a type without a length", position);
  ExpressionPtr operand = bind(*node.operand);
  if (operand->is_untyped()) operand = coerce(std::move(operand), TypeKind::Varchar);
  if (!can_cast(operand->type(), type))
    refuse_at(fmt::format("{} cannot be cast to {}", operand->type().to_string(), type.to_string()), position);
  return Expression::call(*find_functions("try_cast")[0], {std::move(operand)}, type, position);
}

// Window calls are bound before the expressions that contain them.
ExpressionPtr QueryBinder::ExpressionBinding::bind_window_call(const ast::Call& node, int64_t position) {
  if (node.over == nullptr) refuse_at(fmt::format("the window function {} needs OVER", node.name), position);
  std::string_view where = place_.no_window.empty() ? place_.no_aggregate : place_.no_window;
  if (place_.windows == nullptr) refuse_at(fmt::format("the window function {} cannot be used {}", node.name, where), position);
  return binder_.columns_.reference(place_.windows->at(&node), position);
}

ScalarValue bind_constant(const ast::Expression& expression, const CancelToken& token) {
  class NoTables final : public TableResolver {
   public:
    TablePtr find_table(const std::string&) override { return nullptr; }
    const ViewDefinition* find_view(const std::string&) override { return nullptr; }
    TablePtr open_files(const std::vector<std::string>&, const ReadOptions&) override { return nullptr; }
    std::vector<std::string> table_names() override { return {}; }
  } no_tables;
  QueryBinder binder(no_tables);
  NameScope scope;
  ExpressionPlace place{.scope = &scope, .no_subquery = "in a constant", .no_aggregate = "in a constant"};
  return evaluate_constant(binder.bind_expression(expression, place), token);
}

}  // namespace pistachio
