// Bound expressions: names and types resolved, casts explicit, every node with its position in the statement. Immutable and shared;
// `same_expression` compares structurally, which finds common subexpressions.
// Columns are referred to by ids that are unique in a query, so that plans can move expressions without renumbering.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/logical_type.h"
#include "data/scalar_value.h"
#include "expr/column_id.h"

namespace pistachio {

struct Function;

class Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

enum class ExpressionKind {
  Constant,
  Column,
  Call,  // of a Function; all arguments are evaluated
  Cast,  // of its one child to `type`
  And,   // two or more children, evaluated from left to right, skipping rows that are decided
  Or,
  Case,      // condition, result, condition, result, ..., otherwise
  Coalesce,  // the first that is not NULL
};

class Expression {
 public:
  static ExpressionPtr constant(ScalarValue value, int64_t position = -1);
  // A literal whose type depends on its context: 'text' and NULL.
  static ExpressionPtr untyped(ScalarValue value, int64_t position);
  static ExpressionPtr column(ColumnId id, LogicalType type, int64_t position = -1);
  static ExpressionPtr call(const Function& function, std::vector<ExpressionPtr> arguments, LogicalType type, int64_t position = -1);
  // The child itself if it already has the type.
  static ExpressionPtr cast(ExpressionPtr child, LogicalType type, int64_t position = -1);
  // A single child is returned as is.
  static ExpressionPtr logical(ExpressionKind kind, std::vector<ExpressionPtr> children, int64_t position = -1);
  static ExpressionPtr conditional(ExpressionKind kind, std::vector<ExpressionPtr> children, LogicalType type, int64_t position = -1);

  ExpressionKind kind() const { return kind_; }
  LogicalType type() const { return type_; }
  int64_t position() const { return position_; }
  const std::vector<ExpressionPtr>& children() const { return children_; }
  bool is_constant() const { return kind_ == ExpressionKind::Constant; }
  bool is_untyped() const { return untyped_; }
  bool is_null_constant() const { return is_constant() && value_.is_null; }
  bool is_true_constant() const { return is_constant() && !value_.is_null && type_.kind() == TypeKind::Boolean && value_.integer != 0; }

  const ScalarValue& value() const { return value_; }      // Constant
  ColumnId column_id() const { return column_; }           // Column
  const Function& function() const { return *function_; }  // Call

  // Whether some values of its columns can make it throw (overflow, division by zero, a failing cast).
  bool can_raise() const { return can_raise_; }
  // Apart from its subexpressions.
  bool raises_itself() const;
  // Equal for same_expression.
  size_t hash() const { return hash_; }
  // Same node, other children.
  ExpressionPtr with_children(std::vector<ExpressionPtr> children) const;

 private:
  Expression(ExpressionKind kind, LogicalType type, int64_t position) : kind_(kind), type_(type), position_(position), value_{type} {}
  void settle();

  ExpressionKind kind_;
  LogicalType type_;
  int64_t position_;
  std::vector<ExpressionPtr> children_;
  ScalarValue value_;
  bool untyped_ = false;
  ColumnId column_;
  const Function* function_ = nullptr;
  bool can_raise_ = false;
  size_t hash_ = 0;
};

bool same_expression(const Expression& left, const Expression& right);

// Structural equality, for containers of expressions.
struct SameExpression {
  bool operator()(const Expression* left, const Expression* right) const { return same_expression(*left, *right); }
};
struct HashExpression {
  size_t operator()(const Expression* expression) const { return expression->hash(); }
};

void collect_columns(const Expression& expression, ColumnSet& columns);
ColumnSet columns_of(const Expression& expression);

// Replaces columns by the result of `replacement` (null: unchanged). Unchanged subtrees are shared.
ExpressionPtr replace_columns(const ExpressionPtr& expression, const std::function<ExpressionPtr(ColumnId)>& replacement);
// Rewrites bottom-up: `rewrite` gets each node after its children were rewritten and returns it or a replacement.
ExpressionPtr rewrite_expression(const ExpressionPtr& expression, const std::function<ExpressionPtr(ExpressionPtr)>& rewrite);

// The operands of nested ANDs; `expression` itself if it is not an AND.
std::vector<ExpressionPtr> conjuncts_of(const ExpressionPtr& expression);
// Null for no conjuncts.
ExpressionPtr conjunction_of(std::vector<ExpressionPtr> conjuncts);

// SQL-like text; `name_of` names the columns.
std::string expression_text(const Expression& expression, const std::function<std::string(ColumnId)>& name_of);

}  // namespace pistachio
