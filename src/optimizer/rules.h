// The rules, one function each, in the order they are applied (optimizer.cpp says why). Each checks the token at every node of the plan.
#pragma once

#include "base/stop_if_cancelled.h"
#include "logical/logical_node.h"

namespace pistachio {

void inline_shared_plans(LogicalPlan& plan, const CancelToken& token);
void lower_grouping_sets(LogicalPlan& plan, const CancelToken& token);
void lower_ordered_aggregates(LogicalPlan& plan, const CancelToken& token);
void fold_constants(LogicalPlan& plan, const CancelToken& token);
void unnest_subqueries(LogicalPlan& plan, const CancelToken& token);
void relax_correlated_joins(LogicalPlan& plan, const CancelToken& token);
void sink_scalar_subqueries(LogicalPlan& plan, const CancelToken& token);
void lower_set_operations(LogicalPlan& plan, const CancelToken& token);
void derive_group_columns(LogicalPlan& plan, const CancelToken& token);
void push_down_filters(LogicalPlan& plan, const CancelToken& token);
void imply_conditions(LogicalPlan& plan, const CancelToken& token);
void filter_common_tables(LogicalPlan& plan, const CancelToken& token);
void choose_partitions(LogicalPlan& plan, const CancelToken& token);
void answer_from_footers(LogicalPlan& plan, const CancelToken& token);
void share_shifted_sums(LogicalPlan& plan, const CancelToken& token);
void order_joins(LogicalPlan& plan, const CancelToken& token);
void use_semi_joins(LogicalPlan& plan, const CancelToken& token);
void match_by_extremes(LogicalPlan& plan, const CancelToken& token);
void push_down_semi_joins(LogicalPlan& plan, const CancelToken& token);
void choose_build_sides(LogicalPlan& plan, const CancelToken& token);
void push_down_limits(LogicalPlan& plan, const CancelToken& token);
void narrow_decimals(LogicalPlan& plan, const CancelToken& token);
void prune_columns(LogicalPlan& plan, const CancelToken& token);

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
void for_each_node(LogicalPtr& node, const CancelToken& token, const Visit& visit) {
  stop_if_cancelled(token);
  for (LogicalPtr& child : node->children) for_each_node(child, token, visit);
  visit(node);
}

}  // namespace pistachio
