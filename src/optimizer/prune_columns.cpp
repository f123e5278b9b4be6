// Drops unused columns from scans, projections, aggregates and the output of joins.
#include <algorithm>
#include <map>

#include "expr/column_set.h"
#include "optimizer/rules.h"
#include "optimizer/shared_reads.h"

namespace pistachio {

namespace {

class ColumnPruner {
 public:
  ColumnPruner(const ColumnRegistry& columns, const CancelToken& token) : columns_(columns), token_(token) {}

  // Columns of shared plans that their readers use; filled while the readers are pruned, before the shared plan itself.
  std::map<size_t, ColumnSet> wanted_of_shared;

  void prune(LogicalPtr& node, const ColumnSet& wanted) {
    stop_if_cancelled(token_);
    if (auto* operation = node->as<LogicalSetOperation>()) return prune_set_operation(*node, *operation, wanted);
    if (auto* scan = node->as<LogicalScan>()) return prune_scan(*scan, wanted);
    if (auto* read = node->as<LogicalSharedRead>()) return prune_shared_read(*read, wanted);
    if (auto* values = node->as<LogicalValues>()) return prune_values(*values, wanted);
    if (auto* join = node->as<LogicalJoin>()) return prune_join(*node, *join, wanted);
    if (auto* window = node->as<LogicalWindow>(); window != nullptr && !keep_used_calls(*window, wanted)) {
      LogicalPtr input = std::move(node->children[0]);
      node = std::move(input);
      return prune(node, wanted);
    }
    const ColumnSet below = needed_below(*node, wanted);
    for (LogicalPtr& child : node->children) prune(child, below);
  }

 private:
  // What a node with one input needs of it. Drops what the node computes in vain.
  ColumnSet needed_below(LogicalNode& node, const ColumnSet& wanted) {
    ColumnSet below;
    if (auto* project = node.as<LogicalProject>()) {
      std::erase_if(project->columns, [&](const NamedExpression& column) { return !wanted.contains(column.id); });
      if (project->keeps_input) list_kept_columns(node, *project, wanted);
    } else if (auto* aggregate = node.as<LogicalAggregate>()) {
      std::erase_if(aggregate->calls, [&](const AggregateCall& call) { return !wanted.contains(call.id); });
      below.insert(aggregate->groups.begin(), aggregate->groups.end());
    } else {
      below = wanted;
    }
    if (auto* window = node.as<LogicalWindow>()) {
      for (const WindowCall& call : window->calls) below.erase({call.id});
      window->kept = output_columns(*node.children[0]);
      std::erase_if(*window->kept, [&](ColumnId column) { return !wanted.contains(column); });
      below.insert(window->partition.begin(), window->partition.end());
    } else if (const auto* limit = node.as<LogicalLimit>()) {
      below.insert(limit->groups.begin(), limit->groups.end());
    } else if (const auto* repeat = node.as<LogicalRepeat>()) {
      below.insert(repeat->times);
    }
    collect(node, below);
    return below;
  }

  void prune_join(LogicalNode& node, LogicalJoin& join, const ColumnSet& wanted) {
    ColumnSet below = wanted;
    collect(node, below);
    // Columns not from the right side are from the left one, whose columns would be slow to collect at each join of a long chain.
    ColumnSet right = output_set(node.right());
    ColumnSet of_right = intersection(below, right);
    if (gives_right_columns(join.kind)) below.erase(right);
    prune(node.children[0], below);
    prune(node.children[1], of_right);
    join.output.clear();
    std::vector<ColumnId> all = output_columns(node);
    for (ColumnId column : all) {
      if (wanted.contains(column)) join.output.push_back(column);
    }
    // An empty list means all columns, so a join without used columns keeps one.
    if (join.output.empty() && !all.empty()) join.output.push_back(all[0]);
  }

  // Storage reads filter columns on its own.
  static void prune_scan(LogicalScan& scan, const ColumnSet& wanted) {
    ColumnSet filtered;
    for (const ExpressionPtr& filter : scan.filters) collect_columns(*filter, filtered);
    scan.hidden.clear();
    for (const ScanColumn& column : scan.columns) {
      if (!wanted.contains(column.id) && filtered.contains(column.id)) scan.hidden.push_back(column);
    }
    std::erase_if(scan.columns, [&](const ScanColumn& column) { return !wanted.contains(column.id); });
  }

  void prune_shared_read(LogicalSharedRead& read, const ColumnSet& wanted) {
    keep_read_columns(read, wanted);
    if (read.is_working_table && read.sources.empty()) return;
    wanted_of_shared[read.shared].insert(read.sources.begin(), read.sources.end());
  }

  // Drops unused calls and the order keys that only they had. False if no call is left.
  static bool keep_used_calls(LogicalWindow& window, const ColumnSet& wanted) {
    std::erase_if(window.calls, [&](const WindowCall& call) { return !wanted.contains(call.id); });
    size_t keys = 0;
    for (const WindowCall& call : window.calls) keys = std::max(keys, call.order_keys);
    window.order.resize(keys);
    return !window.calls.empty();
  }

  static void collect(const LogicalNode& node, ColumnSet& columns) {
    for_each_expression(node, [&](const ExpressionPtr& expression) { collect_columns(*expression, columns); });
  }

  // Lists the wanted columns of the input instead of keeping all.
  void list_kept_columns(const LogicalNode& node, LogicalProject& project, const ColumnSet& wanted) const {
    project.keeps_input = false;
    ColumnSet kept = wanted;
    for (const NamedExpression& column : project.columns) kept.erase({column.id});
    if (kept.empty()) return;
    for (ColumnId column : intersection(kept, output_set(*node.children[0])))
      project.columns.push_back({column, columns_.reference(column)});
  }

  void prune_set_operation(LogicalNode& node, LogicalSetOperation& operation, const ColumnSet& wanted) {
    ColumnSet left;
    ColumnSet right;
    std::vector<ColumnId> columns;
    std::vector<ColumnId> left_columns;
    std::vector<ColumnId> right_columns;
    for (size_t i = 0; i < operation.columns.size(); ++i) {
      // The next round may use columns that are unused outside, and UNION compares all columns.
      if (!wanted.contains(operation.columns[i]) && !operation.working_table) continue;
      columns.push_back(operation.columns[i]);
      left_columns.push_back(operation.left_columns[i]);
      right_columns.push_back(operation.right_columns[i]);
    }
    left.insert(left_columns.begin(), left_columns.end());
    right.insert(right_columns.begin(), right_columns.end());
    operation.columns = std::move(columns);
    operation.left_columns = std::move(left_columns);
    operation.right_columns = std::move(right_columns);
    prune(node.children[0], left);
    prune(node.children[1], right);
  }

  static void prune_values(LogicalValues& values, const ColumnSet& wanted) {
    for (size_t i = values.columns.size(); i-- > 0;) {
      if (wanted.contains(values.columns[i])) continue;
      values.columns.erase(values.columns.begin() + static_cast<std::ptrdiff_t>(i));
      for (std::vector<ScalarValue>& row : values.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  const ColumnRegistry& columns_;
  const CancelToken& token_;
};

}  // namespace

void prune_columns(LogicalPlan& plan, const CancelToken& token) {
  ColumnPruner pruner(plan.columns, token);
  ColumnSet output;
  for (const OutputColumn& column : plan.output) output.insert(column.id);
  pruner.prune(plan.root, output);
  const std::vector<size_t> order = shared_plans_in_use(plan);
  for (size_t i = order.size(); i-- > 0;) pruner.prune(plan.shared[order[i]], pruner.wanted_of_shared[order[i]]);
}

}  // namespace pistachio
