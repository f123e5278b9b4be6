#include "optimizer/optimizer.h"

#include <algorithm>

#include "base/check.h"
#include "optimizer/rules.h"

namespace pistachio {

const std::vector<OptimizerRule>& optimizer_rules() {
  static const std::vector<OptimizerRule> rules = {
      {"inline_common_tables", "a CTE that is read once needs no copy, and filters can be pushed into it", inline_shared_plans, false},
      {"lower_grouping_sets", "grouping sets become plain groupings of one shared input, which later rules know", lower_grouping_sets,
       true},
      {"lower_ordered_aggregates", "medians, first values and the like become windows and plain aggregates, which ranks and spilling know",
       lower_ordered_aggregates, true},
      {"fold_constants", "constants are computed once; later rules see literals", fold_constants, false},
      {"unnest_subqueries", "dependent joins would run a subquery for each row; after this all joins are plain", unnest_subqueries, true},
      {"relax_correlated_joins", "joins of subqueries without a second match or NULL keys can be reordered and filtered like others",
       relax_correlated_joins, false},
      {"sink_scalar_subqueries", "a condition on one input and the value of a subquery drops that input's rows before they are joined",
       sink_scalar_subqueries, false},
      {"lower_set_operations", "INTERSECT and EXCEPT become grouping, which all ranks and devices can do", lower_set_operations, true},
      {"derive_group_columns", "fewer and narrower keys identify a group; what follows from them is computed once per group",
       derive_group_columns, false},
      {"push_down_filters", "rows that are dropped early cost nothing later; scans skip row groups and pages", push_down_filters, false},
      {"imply_conditions", "what holds for a column holds for those equal to it: more scans are filtered, more joins connected",
       imply_conditions, false},
      {"filter_common_tables", "rows of a CTE that no reader needs are not computed", filter_common_tables, false},
      {"push_down_implied_conditions", "the new conditions reach the scans before joins are ordered by their rows", push_down_filters,
       false},
      {"choose_partitions", "only files that can have rows of the result are opened; what follows knows their statistics",
       choose_partitions, true},
      {"answer_from_footers", "minima, maxima and counts of whole tables are in their footers", answer_from_footers, false, true},
      {"share_shifted_sums", "sum(c + k) is sum(c) + k * count(c), and one sum serves all constants", share_shifted_sums, false, true},
      {"order_joins", "the join order determines the size of intermediate results", order_joins, false},
      {"push_down_filters_again", "conditions that the new order of joins lets through", push_down_filters, false},
      {"use_semi_joins", "where repeated rows do not matter, a row has to find one match of a side without used columns", use_semi_joins,
       false},
      {"match_by_extremes", "whether a key has another value shows in its least and greatest one", match_by_extremes, false},
      {"push_down_semi_joins", "rows without a match need not be joined with others first", push_down_semi_joins, false},
      {"choose_build_sides", "the smaller side of a join goes into the hash table", choose_build_sides, false},
      {"push_down_limits", "ORDER BY with LIMIT keeps the first rows only", push_down_limits, false},
      {"narrow_decimals", "sums of decimals whose values fit into 64 bits avoid 128-bit products", narrow_decimals, false, true},
      {"prune_columns", "unused columns are not read, gathered or kept", prune_columns, false},
  };
  return rules;
}

void optimize(LogicalPlan& plan, const Settings& settings, const CancelToken& token) {
  verify_plan(plan, false);
  bool unnested = false;
  for (const OptimizerRule& rule : optimizer_rules()) {
    const std::vector<std::string>& off = settings.disabled_rules;
    bool disabled = std::any_of(off.begin(), off.end(), [&](const std::string& name) { return name == rule.name || name == "all"; });
    if (disabled && !rule.required) continue;
    if (rule.needs_all_footers && settings.local_files) continue;
    stop_if_cancelled(token);
    rule.apply(plan, token);
    unnested = unnested || rule.apply == unnest_subqueries;
    try {
      verify_plan(plan, unnested);
    } catch (const InternalError& error) {
      throw InternalError(fmt::format("rule {}: {}", rule.name, error.message()));
    }
  }
}

namespace {

// Number of output columns of a node, provided that none appears twice.
size_t count_columns(const LogicalNode& node, const std::vector<ColumnSet>& inputs) {
  bool passes_on = node.as<LogicalFilter>() != nullptr || node.as<LogicalSort>() != nullptr || node.as<LogicalLimit>() != nullptr;
  if (passes_on) return inputs[0].size();
  if (const auto* project = node.as<LogicalProject>(); project != nullptr && project->keeps_input)
    return inputs[0].size() + project->columns.size();
  if (const auto* window = node.as<LogicalWindow>())
    return (window->kept ? window->kept->size() : inputs[0].size()) + window->calls.size();
  const auto* join = node.as<LogicalJoin>();
  if (join == nullptr || !join->output.empty()) return output_columns(node).size();
  return (gives_left_columns(join->kind) ? inputs[0].size() : 0) + (gives_right_columns(join->kind) ? inputs[1].size() : 0) +
         (join->kind == JoinKind::Mark ? 1 : 0);
}

ColumnSet verify_node(const LogicalNode& node, const ColumnSet& outer, bool is_unnested) {
  const auto* join = node.as<LogicalJoin>();
  if (join != nullptr && is_unnested) ENSURE(!join->dependent, "a dependent join is left");
  std::vector<ColumnSet> inputs;
  for (size_t i = 0; i < node.children.size(); ++i) {
    bool sees_left = join != nullptr && join->dependent && i == 1;
    ColumnSet visible = outer;
    if (sees_left) visible.insert(inputs[0]);
    inputs.push_back(verify_node(*node.children[i], visible, is_unnested));
  }
  ColumnSet own;
  if (const auto* scan = node.as<LogicalScan>()) {
    for (const ScanColumn& column : scan->columns) {
      own.insert(column.id);
      ENSURE(column.source < scan->table->columns().size());
    }
    for (const ScanColumn& column : scan->hidden) own.insert(column.id);
  }
  // Looks into each set instead of uniting them at each join of a long chain.
  auto is_available = [&](ColumnId column) {
    auto has_it = [&](const ColumnSet& input) { return input.contains(column); };
    return own.contains(column) || outer.contains(column) || std::any_of(inputs.begin(), inputs.end(), has_it);
  };
  for_each_expression(node, [&](const ExpressionPtr& expression) {
    for (ColumnId column : columns_of(*expression))
      ENSURE(is_available(column), "column #{} is used but not made below", column.value);
  });
  if (const auto* aggregate = node.as<LogicalAggregate>()) {
    for (ColumnId group : aggregate->groups) ENSURE(is_available(group), "group column #{} is not made below", group.value);
  }
  if (const auto* limit = node.as<LogicalLimit>()) {
    for (ColumnId group : limit->groups) ENSURE(is_available(group), "group column #{} is not made below", group.value);
  }
  if (const auto* window = node.as<LogicalWindow>()) {
    for (ColumnId column : window->partition) ENSURE(is_available(column), "partition column #{} is not made below", column.value);
    for (ColumnId column : window->kept.value_or(std::vector<ColumnId>())) ENSURE(is_available(column), "column #{} is not made below", column.value);
    for (const WindowCall& call : window->calls) ENSURE(call.order_keys <= window->order.size(), "a window call has too many order keys");
  }
  if (const auto* operation = node.as<LogicalSetOperation>()) {
    ENSURE_EQ(operation->columns.size(), operation->left_columns.size());
    ENSURE_EQ(operation->columns.size(), operation->right_columns.size());
  }
  const size_t count = count_columns(node, inputs);
  ColumnSet given = output_set(node, std::move(inputs));
  ENSURE(given.size() == count, "a column appears twice");
  return given;
}

}  // namespace

void verify_plan(const LogicalPlan& plan, bool is_unnested) {
  for (const LogicalPtr& shared : plan.shared) {
    if (shared) verify_node(*shared, {}, is_unnested);
  }
  ColumnSet given = verify_node(*plan.root, {}, is_unnested);
  for (const OutputColumn& column : plan.output) ENSURE(given.contains(column.id), "output column {} is missing", column.name);
}

}  // namespace pistachio
