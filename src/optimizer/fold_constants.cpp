// Folds constant expressions, drops conditions that are always true, and factors common conditions out of OR.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "expr/expression_evaluator.h"
#include "expr/function.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

// Longer text stays an expression: constants are copied and hashed by later rules, which cannot be stopped in the middle of one.
constexpr int64_t kLongestFoldedText = 16 << 20;

// Expressions without columns that were left because their text is too long. What is computed from them may be short again.
using LongTexts = std::unordered_set<ExpressionPtr>;

ExpressionPtr truth(bool value) {
  return Expression::constant(ScalarValue::of_integer(TypeKind::Boolean, value ? 1 : 0));
}

bool is_false(const Expression& expression) {
  return expression.is_constant() && !expression.value().is_null && expression.type().kind() == TypeKind::Boolean &&
         expression.value().integer == 0;
}

// AND: true operands are dropped, a false one decides. OR the other way round. NULL operands stay.
ExpressionPtr simplify_logical(const ExpressionPtr& expression) {
  bool is_and = expression->kind() == ExpressionKind::And;
  std::vector<ExpressionPtr> kept;
  std::unordered_set<const Expression*, HashExpression, SameExpression> seen;
  for (const ExpressionPtr& child : expression->children()) {
    if (is_and ? child->is_true_constant() : is_false(*child)) continue;
    if (is_and ? is_false(*child) : child->is_true_constant()) {
      // Operands before it may raise an error, which takes precedence.
      bool raises = std::any_of(kept.begin(), kept.end(), [](const ExpressionPtr& before) { return before->can_raise(); });
      if (!raises) return truth(!is_and);
    }
    if (seen.insert(child.get()).second) kept.push_back(child);
  }
  if (kept.empty()) return truth(is_and);
  if (kept.size() == expression->children().size()) return expression;
  return Expression::logical(expression->kind(), std::move(kept), expression->position());
}

bool contains(const std::vector<ExpressionPtr>& list, const Expression& wanted) {
  return std::any_of(list.begin(), list.end(), [&](const ExpressionPtr& item) { return same_expression(*item, wanted); });
}

// (a AND b) OR (a AND c) is a AND (b OR c): join conditions hide in such ORs.
ExpressionPtr factor_or(const ExpressionPtr& expression) {
  std::vector<std::vector<ExpressionPtr>> branches;
  for (const ExpressionPtr& child : expression->children()) branches.push_back(conjuncts_of(child));
  std::vector<ExpressionPtr> common;
  for (const ExpressionPtr& candidate : branches[0]) {
    bool everywhere = !candidate->can_raise() &&
                      std::all_of(branches.begin() + 1, branches.end(), [&](const auto& branch) { return contains(branch, *candidate); });
    if (everywhere) common.push_back(candidate);
  }
  if (common.empty()) return expression;
  std::vector<ExpressionPtr> rest;
  bool always = false;
  for (std::vector<ExpressionPtr>& branch : branches) {
    std::erase_if(branch, [&](const ExpressionPtr& item) { return contains(common, *item); });
    if (branch.empty()) {
      always = true;
      break;
    }
    rest.push_back(conjunction_of(std::move(branch)));
  }
  if (!always) common.push_back(Expression::logical(ExpressionKind::Or, std::move(rest), expression->position()));
  return conjunction_of(std::move(common));
}

ExpressionPtr fold(ExpressionPtr expression, LongTexts& long_texts, const CancelToken& token) {
  if (expression->kind() == ExpressionKind::Or) expression = factor_or(expression);
  if (expression->kind() == ExpressionKind::And || expression->kind() == ExpressionKind::Or) expression = simplify_logical(expression);
  if (expression->is_constant() || expression->kind() == ExpressionKind::Column) return expression;
  bool constant = std::all_of(expression->children().begin(), expression->children().end(),
                              [&](const ExpressionPtr& child) { return child->is_constant() || long_texts.contains(child); });
  if (!constant || (expression->kind() == ExpressionKind::Call && !expression->function().is_stable)) return expression;
  try {
    if (std::optional<ScalarValue> value = evaluate_short_constant(expression, kLongestFoldedText, token))
      return Expression::constant(std::move(*value), expression->position());
    long_texts.insert(expression);
    return expression;
  } catch (const UserError&) {
    return expression;  // raised only when a row reaches it
  }
}

}  // namespace

void fold_constants(LogicalPlan& plan, const CancelToken& token) {
  LongTexts long_texts;
  auto fold_one = [&](ExpressionPtr expression) {
    stop_if_cancelled(token);
    return fold(std::move(expression), long_texts, token);
  };
  auto fold_node = [&](LogicalPtr& node) {
    for_each_expression(*node, [&](ExpressionPtr& expression) { expression = rewrite_expression(expression, fold_one); });
    auto flatten = [](std::vector<ExpressionPtr>& conditions) {
      std::vector<ExpressionPtr> flat;
      for (const ExpressionPtr& condition : conditions) {
        for (ExpressionPtr& part : conjuncts_of(condition)) {
          if (!part->is_true_constant()) flat.push_back(std::move(part));
        }
      }
      conditions = std::move(flat);
    };
    if (auto* filter = node->as<LogicalFilter>()) {
      flatten(filter->conditions);
      if (filter->conditions.empty()) {
        LogicalPtr child = std::move(node->children[0]);
        node = std::move(child);
        return;
      }
    }
    if (auto* join = node->as<LogicalJoin>()) flatten(join->conditions);
  };
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, fold_node); });
}

}  // namespace pistachio
