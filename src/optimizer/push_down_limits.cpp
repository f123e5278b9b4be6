#include <limits>

#include "optimizer/rules.h"

namespace pistachio {

namespace {

// Passes the limit to a sort below, through projections, which preserve order.
void push_limit_to_sort(LogicalNode& node, int64_t rows) {
  if (auto* sort = node.as<LogicalSort>()) {
    if (!sort->limit || *sort->limit > rows) sort->limit = rows;
    return;
  }
  if (node.as<LogicalProject>() != nullptr) push_limit_to_sort(*node.children[0], rows);
}

// Each input of a UNION ALL needs at most the rows of the whole limit.
void limit_union(LogicalPtr& node, int64_t rows) {
  if (node->as<LogicalProject>() != nullptr) return limit_union(node->children[0], rows);
  auto* operation = node->as<LogicalSetOperation>();
  if (operation == nullptr || operation->working_table || operation->kind != LogicalSetOperation::Kind::Union || !operation->all) return;
  for (LogicalPtr& child : node->children) {
    limit_union(child, rows);
    child = make_node(LogicalLimit{rows, 0}, std::move(child));
  }
}

}  // namespace

void push_down_limits(LogicalPlan& plan, const CancelToken& token) {
  auto visit = [](LogicalPtr& node) {
    auto* limit = node->as<LogicalLimit>();
    if (limit == nullptr || !limit->groups.empty() || !limit->limit || *limit->limit > std::numeric_limits<int64_t>::max() - limit->offset)
      return;
    int64_t rows = *limit->limit + limit->offset;
    // A full sort is cheaper than repeatedly pruning to nearly all rows.
    if (rows <= 1'000'000) push_limit_to_sort(*node->children[0], rows);
    limit_union(node->children[0], rows);
  };
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, visit); });
}

}  // namespace pistachio
