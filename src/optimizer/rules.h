// The rules, one function each, in the order they are applied (optimizer.cpp says why).
#pragma once

#include "base/stop_if_cancelled.h"
#include "logical/logical_node.h"

namespace pistachio {

void inline_shared_plans(LogicalPlan& plan);
void fold_constants(LogicalPlan& plan);
void unnest_subqueries(LogicalPlan& plan);
void lower_set_operations(LogicalPlan& plan);
void push_down_filters(LogicalPlan& plan, const CancelToken& token);
void imply_conditions(LogicalPlan& plan);
void order_joins(LogicalPlan& plan, const CancelToken& token);
void push_down_semi_joins(LogicalPlan& plan);
void choose_build_sides(LogicalPlan& plan);
void push_down_limits(LogicalPlan& plan);
void prune_columns(LogicalPlan& plan);

// Calls `visit` for the root of the plan and of each shared plan.
template <typename Visit>
void for_each_root(LogicalPlan& plan, const Visit& visit) {
  for (LogicalPtr& shared : plan.shared) {
    if (shared) visit(shared);
  }
  visit(plan.root);
}

// Post-order.
template <typename Visit>
void for_each_node(LogicalPtr& node, const Visit& visit) {
  for (LogicalPtr& child : node->children) for_each_node(child, visit);
  visit(node);
}

}  // namespace pistachio
