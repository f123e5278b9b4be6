#include "expr/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "expr/cast.h"
#include "expr/function.h"

namespace pistachio {

namespace {

size_t mix(size_t seed, size_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15ULL + (seed >> 29);
}

bool same_value(const ScalarValue& left, const ScalarValue& right) {
  if (left.is_null || right.is_null) return left.is_null == right.is_null;
  return left.integer == right.integer && left.text == right.text &&
         (left.floating == right.floating || (left.floating != left.floating && right.floating != right.floating));
}

std::string constant_text(const Expression& expression) {
  const ScalarValue& value = expression.value();
  if (value.is_null) return "NULL";
  std::string text = value.to_string();
  switch (expression.type().kind()) {
    case TypeKind::Varchar: return fmt::format("'{}'", text);
    case TypeKind::Date: return fmt::format("DATE '{}'", text);
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return fmt::format("TIMESTAMP '{}'", text);
    case TypeKind::TimeNs:
    case TypeKind::TimestampNs:
    case TypeKind::TimestampTzNs: return fmt::format("{} '{}'", expression.type().to_string(), text);
    case TypeKind::Interval: return fmt::format("INTERVAL '{}'", text);
    default: return text;
  }
}

}  // namespace

bool Expression::raises_itself() const {
  if (kind_ == ExpressionKind::Call) return function_->can_raise;
  return kind_ == ExpressionKind::Cast && cast_can_raise(children_[0]->type(), type_);
}

// Computed from the children's values, without walking the tree.
void Expression::settle() {
  can_raise_ = std::any_of(children_.begin(), children_.end(), [](const ExpressionPtr& child) { return child->can_raise(); });
  can_raise_ = can_raise_ || raises_itself();
  hash_ = mix(static_cast<size_t>(kind_), static_cast<size_t>(type_.kind()));
  if (kind_ == ExpressionKind::Constant && !value_.is_null) {
    hash_ = mix(hash_, static_cast<size_t>(value_.integer));
    hash_ = mix(hash_, std::hash<std::string>()(value_.text));
    hash_ = mix(hash_, value_.floating != value_.floating ? 0 : std::hash<double>()(value_.floating));
  }
  if (kind_ == ExpressionKind::Column) hash_ = mix(hash_, static_cast<size_t>(column_.value));
  if (kind_ == ExpressionKind::Call) hash_ = mix(hash_, std::hash<const void*>()(function_));
  for (const ExpressionPtr& child : children_) hash_ = mix(hash_, child->hash_);
}

ExpressionPtr Expression::constant(ScalarValue value, int64_t position) {
  auto made = std::shared_ptr<Expression>(new Expression(ExpressionKind::Constant, value.type, position));
  made->value_ = std::move(value);
  made->settle();
  return made;
}

ExpressionPtr Expression::untyped(ScalarValue value, int64_t position) {
  auto made = std::shared_ptr<Expression>(new Expression(ExpressionKind::Constant, value.type, position));
  made->value_ = std::move(value);
  made->untyped_ = true;
  made->settle();
  return made;
}

ExpressionPtr Expression::column(ColumnId id, LogicalType type, int64_t position) {
  auto made = std::shared_ptr<Expression>(new Expression(ExpressionKind::Column, type, position));
  made->column_ = id;
  made->settle();
  return made;
}

ExpressionPtr Expression::call(const Function& function, std::vector<ExpressionPtr> arguments, LogicalType type, int64_t position) {
  auto made = std::shared_ptr<Expression>(new Expression(ExpressionKind::Call, type, position));
  made->function_ = &function;
  made->children_ = std::move(arguments);
  made->settle();
  return made;
}

ExpressionPtr Expression::cast(ExpressionPtr child, LogicalType type, int64_t position) {
  if (child->type() == type && !child->is_untyped()) return child;
  auto made = std::shared_ptr<Expression>(new Expression(ExpressionKind::Cast, type, position));
  made->children_ = {std::move(child)};
  made->settle();
  return made;
}

ExpressionPtr Expression::logical(ExpressionKind kind, std::vector<ExpressionPtr> children, int64_t position) {
  ENSURE(!children.empty());
  if (children.size() == 1) return children[0];
  return conditional(kind, std::move(children), TypeKind::Boolean, position);
}

ExpressionPtr Expression::conditional(ExpressionKind kind, std::vector<ExpressionPtr> children, LogicalType type, int64_t position) {
  auto made = std::shared_ptr<Expression>(new Expression(kind, type, position));
  made->children_ = std::move(children);
  made->settle();
  return made;
}

ExpressionPtr Expression::with_children(std::vector<ExpressionPtr> children) const {
  auto made = std::shared_ptr<Expression>(new Expression(*this));
  made->children_ = std::move(children);
  made->settle();
  return made;
}

bool same_expression(const Expression& left, const Expression& right) {
  if (&left == &right) return true;
  if (left.hash() != right.hash()) return false;
  if (left.kind() != right.kind() || left.type() != right.type() || left.children().size() != right.children().size()) return false;
  switch (left.kind()) {
    case ExpressionKind::Constant: return left.is_untyped() == right.is_untyped() && same_value(left.value(), right.value());
    case ExpressionKind::Column: return left.column_id() == right.column_id();
    case ExpressionKind::Call:
      if (&left.function() != &right.function() || !left.function().is_stable) return false;
      break;
    default: break;
  }
  return std::equal(left.children().begin(), left.children().end(), right.children().begin(),
                    [](const ExpressionPtr& a, const ExpressionPtr& b) { return same_expression(*a, *b); });
}

void collect_columns(const Expression& expression, ColumnSet& columns) {
  if (expression.kind() == ExpressionKind::Column) columns.insert(expression.column_id());
  for (const ExpressionPtr& child : expression.children()) collect_columns(*child, columns);
}

ColumnSet columns_of(const Expression& expression) {
  ColumnSet columns;
  collect_columns(expression, columns);
  return columns;
}

ExpressionPtr rewrite_expression(const ExpressionPtr& expression, const std::function<ExpressionPtr(ExpressionPtr)>& rewrite) {
  std::vector<ExpressionPtr> children;
  bool changed = false;
  for (const ExpressionPtr& child : expression->children()) {
    children.push_back(rewrite_expression(child, rewrite));
    changed = changed || children.back() != child;
  }
  return rewrite(changed ? expression->with_children(std::move(children)) : expression);
}

ExpressionPtr replace_columns(const ExpressionPtr& expression, const std::function<ExpressionPtr(ColumnId)>& replacement) {
  return rewrite_expression(expression, [&](ExpressionPtr node) {
    if (node->kind() != ExpressionKind::Column) return node;
    ExpressionPtr other = replacement(node->column_id());
    return other ? other : node;
  });
}

std::vector<ExpressionPtr> conjuncts_of(const ExpressionPtr& expression) {
  if (expression == nullptr) return {};
  if (expression->kind() != ExpressionKind::And) return {expression};
  std::vector<ExpressionPtr> conjuncts;
  for (const ExpressionPtr& child : expression->children()) {
    for (ExpressionPtr& own : conjuncts_of(child)) conjuncts.push_back(std::move(own));
  }
  return conjuncts;
}

ExpressionPtr conjunction_of(std::vector<ExpressionPtr> conjuncts) {
  if (conjuncts.empty()) return nullptr;
  return Expression::logical(ExpressionKind::And, std::move(conjuncts));
}

std::string expression_text(const Expression& expression, const std::function<std::string(ColumnId)>& name_of) {
  std::vector<std::string> parts;
  for (const ExpressionPtr& child : expression.children()) parts.push_back(expression_text(*child, name_of));
  switch (expression.kind()) {
    case ExpressionKind::Constant: return constant_text(expression);
    case ExpressionKind::Column: return name_of(expression.column_id());
    case ExpressionKind::Cast: return fmt::format("CAST({} AS {})", parts[0], expression.type().to_string());
    case ExpressionKind::And: return fmt::format("({})", fmt::join(parts, " AND "));
    case ExpressionKind::Or: return fmt::format("({})", fmt::join(parts, " OR "));
    case ExpressionKind::Coalesce: return fmt::format("coalesce({})", fmt::join(parts, ", "));
    case ExpressionKind::Case: {
      std::string text = "CASE";
      for (size_t i = 0; i + 1 < parts.size(); i += 2) text += fmt::format(" WHEN {} THEN {}", parts[i], parts[i + 1]);
      return text + fmt::format(" ELSE {} END", parts.back());
    }
    case ExpressionKind::Call: {
      std::string_view name = expression.function().name;
      bool is_word = !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) != 0);
      if (!is_word && parts.size() == 2) return fmt::format("({} {} {})", parts[0], name, parts[1]);
      if (!is_word && parts.size() == 1) return fmt::format("({}{})", name, parts[0]);
      return fmt::format("{}({})", name, fmt::join(parts, ", "));
    }
  }
  fail_check(__FILE__, __LINE__, "unknown expression kind");
}

}  // namespace pistachio
