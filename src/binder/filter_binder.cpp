// WHERE, HAVING and ON of inner joins. A subquery in a condition becomes a join, and a correlated one is computed for the values on the
// left side of that join. To keep that side small, conditions without a subquery are applied below all such joins, and each condition
// with a subquery right above its own join, below the joins of later conditions.
#include <algorithm>

#include "binder/query_binder.h"
#include "expr/column_set.h"
#include "expr/function.h"
#include "expr/stability.h"

namespace pistachio {

namespace {

// The operands of nested ANDs, as they were written.
void collect_conjuncts(const ast::Expression& condition, std::vector<const ast::Expression*>& conjuncts) {
  const auto* logical = std::get_if<ast::Logical>(&condition.node);
  if (logical == nullptr || logical->kind != ast::Logical::Kind::And) {
    conjuncts.push_back(&condition);
    return;
  }
  for (const ast::ExpressionPtr& operand : logical->operands) collect_conjuncts(*operand, conjuncts);
}

void filter(LogicalPtr& plan, std::vector<ExpressionPtr> conditions) {
  if (!conditions.empty()) plan = make_node(LogicalFilter{std::move(conditions)}, std::move(plan));
}

}  // namespace

void QueryBinder::bind_filter(const ast::Expression& condition, const ExpressionPlace& place, std::string_view clause) {
  LogicalPtr& plan = *place.input;
  const LogicalNode* unjoined = plan.get();
  PlanColumns given(plan);
  std::optional<ColumnSet> own_columns;
  auto uses_own = [&](const Expression& part) {
    // Without an outer query and without subqueries every name is one of these columns. Avoids computing all columns of a chain of joins.
    if (plan.get() == unjoined && place.scope->parent() == nullptr && !place.regroup) return true;
    if (!own_columns) own_columns = output_set(*unjoined);
    return uses_only(part, *own_columns);
  };
  std::vector<const ast::Expression*> conjuncts;
  collect_conjuncts(condition, conjuncts);
  std::vector<ExpressionPtr> below;
  // Conditions that refer to an outer query go on top, where unnesting finds them first; unstable ones must see all rows.
  std::vector<ExpressionPtr> above;
  for (const ast::Expression* conjunct : conjuncts) {
    ExpressionPtr bound = bind_condition(*conjunct, place, conjuncts.size() > 1 ? "AND" : clause);
    if (place.regroup) bound = place.regroup(std::move(bound));
    std::vector<ExpressionPtr> here;
    for (const ExpressionPtr& part : conjuncts_of(bound)) {
      bool moves = is_stable(*part);
      if (moves && uses_own(*part)) {
        below.push_back(part);
      } else if (moves && uses_only(*part, given.columns())) {
        here.push_back(part);
      } else {
        above.push_back(part);
      }
    }
    filter(plan, std::move(here));
  }
  filter(plan, std::move(above));
  // Joins and filters were added on top of the plan: the original is at the end of their left sides.
  LogicalPtr* inner = &plan;
  while (inner->get() != unjoined) inner = &(*inner)->children[0];
  filter(*inner, std::move(below));
}

}  // namespace pistachio
