#include "physical/join_strategy.h"

#include <algorithm>

#include "expr/column_set.h"
#include "expr/function.h"

namespace pistachio {

namespace {

// The two operands of a comparison, each computed from one side of the join.
struct Sides {
  ExpressionPtr left;
  ExpressionPtr right;
  bool is_mirrored = false;  // written as right op left
};

std::optional<Sides> sides_of(const Expression& condition, const ColumnSet& left, const ColumnSet& right) {
  if (condition.kind() != ExpressionKind::Call || condition.children().size() != 2) return std::nullopt;
  const ExpressionPtr& first = condition.children()[0];
  const ExpressionPtr& second = condition.children()[1];
  if (is_computed_from(*first, left) && is_computed_from(*second, right)) return Sides{first, second, false};
  if (is_computed_from(*first, right) && is_computed_from(*second, left)) return Sides{second, first, true};
  return std::nullopt;
}

std::optional<JoinKey> as_key(const Expression& condition, const ColumnSet& left, const ColumnSet& right) {
  std::optional<Sides> sides = sides_of(condition, left, right);
  if (!sides) return std::nullopt;
  std::string_view name = condition.function().name;
  bool null_safe = name == "is not distinct from";
  if (name != "=" && !null_safe) return std::nullopt;
  return JoinKey{sides->left, sides->right, null_safe};
}

// n keys need up to 4^n hash tables, though rarely more than 2^n.
constexpr size_t kMaxComparedKeys = 4;

std::optional<JoinKey> as_compared_key(const Expression& comparison, const ColumnSet& left, const ColumnSet& right) {
  if (comparison.kind() != ExpressionKind::Call || comparison.function().name != "=") return std::nullopt;
  ExpressionPtr first = comparison.children()[0];
  ExpressionPtr second = comparison.children()[1];
  // Constants use no columns and fit either side.
  if (!uses_only(*first, left) || !uses_only(*second, right)) std::swap(first, second);
  if (!uses_only(*first, left) || !uses_only(*second, right)) return std::nullopt;
  if (first->type() != second->type()) return std::nullopt;
  return JoinKey{first, second, false};
}

// All comparisons as keys, or none of them.
std::vector<JoinKey> compared_keys(const PhysicalJoin& join, bool has_conditions, const ColumnSet& left, const ColumnSet& right) {
  if (join.comparisons.size() > kMaxComparedKeys) return {};
  std::vector<JoinKey> keys;
  for (const ExpressionPtr& comparison : join.comparisons) {
    std::optional<JoinKey> key = as_compared_key(*comparison, left, right);
    // A key is also computed for rows that fail the conditions.
    if (!key || (has_conditions && comparison->can_raise())) return {};
    keys.push_back(std::move(*key));
  }
  return keys;
}

// Types that are ordered by one 64-bit word.
bool has_order_word(LogicalType type) {
  return !type.is_text() && !type.is_wide() && type.kind() != TypeKind::Interval;
}

std::optional<JoinBound> as_bound(const Expression& condition, const ColumnSet& left, const ColumnSet& right) {
  std::optional<Sides> sides = sides_of(condition, left, right);
  if (!sides || sides->left->type() != sides->right->type() || !has_order_word(sides->left->type())) return std::nullopt;
  std::string_view name = condition.function().name;
  bool is_less = name == "<" || name == "<=";
  bool is_greater = name == ">" || name == ">=";
  if (!is_less && !is_greater) return std::nullopt;
  return JoinBound{sides->left, sides->right, is_greater != sides->is_mirrored, name.size() == 2};
}

// An upper and a lower bound restrict candidates to a range of the ordered side; on the same value, they match exactly that range.
std::vector<size_t> choose_bounds(const std::vector<std::optional<JoinBound>>& bounds) {
  std::vector<size_t> best;
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (!bounds[i]) continue;
    if (best.empty()) best = {i};
    for (size_t j = 0; j < bounds.size(); ++j) {
      if (!bounds[j] || !bounds[i]->is_upper || bounds[j]->is_upper) continue;
      if (same_expression(*bounds[i]->right, *bounds[j]->right)) return {i, j};
      if (best.size() < 2) best = {i, j};
    }
  }
  return best;
}

}  // namespace

void choose_join_strategy(const std::vector<ExpressionPtr>& conditions, const ColumnSet& left, const ColumnSet& right, PhysicalJoin& join) {
  for (const ExpressionPtr& condition : conditions) {
    if (std::optional<JoinKey> key = as_key(*condition, left, right)) {
      join.keys.push_back(std::move(*key));
    } else {
      join.conditions.push_back(condition);
    }
  }
  join.compared_keys = compared_keys(join, !conditions.empty(), left, right);
  if (!join.compared_keys.empty()) join.comparisons.clear();
  if (!join.keys.empty() || !join.compared_keys.empty()) return;
  std::vector<std::optional<JoinBound>> bounds;
  for (const ExpressionPtr& condition : join.conditions) bounds.push_back(as_bound(*condition, left, right));
  std::vector<size_t> chosen = choose_bounds(bounds);
  for (size_t place : chosen) join.bounds.push_back(*bounds[place]);
  // One bound, or two on the sort value, need no further check; a second bound on another value only narrows the range.
  bool second_is_open = chosen.size() == 2 && !same_expression(*join.bounds[0].right, *join.bounds[1].right);
  std::vector<ExpressionPtr> rest;
  for (size_t i = 0; i < join.conditions.size(); ++i) {
    bool is_decided = std::find(chosen.begin(), chosen.end(), i) != chosen.end() && !(second_is_open && i == chosen[1]);
    if (!is_decided) rest.push_back(join.conditions[i]);
  }
  join.conditions = std::move(rest);
}

}  // namespace pistachio
