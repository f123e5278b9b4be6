// Bound expressions: names and types resolved, casts explicit, every node with its position in the statement. Immutable and shared; two
// expressions that compute the same compare equal (`same_expression`), which is how common subexpressions are found.
// Columns are named by ids that are unique in a query, so that plans can move expressions about without renumbering anything.
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
  And,   // two or more children, evaluated from left to right, rows that are settled left out
  Or,
  Case,      // condition, result, condition, result, ..., otherwise
  Coalesce,  // the first that is not NULL
};

class Expression {
 public:
  static ExpressionPtr constant(ScalarValue value, int64_t position = -1);
  // A literal whose type the surroundings decide: 'text' and NULL.
  static ExpressionPtr untyped(ScalarValue value, int64_t position);
  static ExpressionPtr column(ColumnId id, LogicalType type, int64_t position = -1);
  static ExpressionPtr call(const Function& function, std::vector<ExpressionPtr> arguments, LogicalType type, int64_t position = -1);
  // The child itself if it has the type already.
  static ExpressionPtr cast(ExpressionPtr child, LogicalType type, int64_t position = -1);
  // One child stands for itself.
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

  // Whether some value of its columns may make it throw (overflow, division by zero, a cast that fails).
  bool can_raise() const { return can_raise_; }
  // The same for expressions that compute the same.
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

// For containers of expressions in which those that compute the same are one.
struct SameExpression {
  bool operator()(const Expression* left, const Expression* right) const { return same_expression(*left, *right); }
};
struct HashExpression {
  size_t operator()(const Expression* expression) const { return expression->hash(); }
};

void collect_columns(const Expression& expression, ColumnSet& columns);
ColumnSet columns_of(const Expression& expression);

// Replaces columns by what `replacement` gives (null: stays). Untouched subtrees are shared.
ExpressionPtr replace_columns(const ExpressionPtr& expression, const std::function<ExpressionPtr(ColumnId)>& replacement);
// Rewrites bottom-up: `rewrite` gets each node with its children already rewritten and returns it or another one.
ExpressionPtr rewrite_expression(const ExpressionPtr& expression, const std::function<ExpressionPtr(ExpressionPtr)>& rewrite);

// The operands of nested ANDs; `expression` itself if it is none.
std::vector<ExpressionPtr> conjuncts_of(const ExpressionPtr& expression);
// Null for no conjuncts.
ExpressionPtr conjunction_of(std::vector<ExpressionPtr> conjuncts);

// As SQL would show it; columns by the name that `name_of` gives.
std::string expression_text(const Expression& expression, const std::function<std::string(ColumnId)>& name_of);

}  // namespace pistachio
