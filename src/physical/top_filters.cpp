#include "physical/top_filters.h"

#include <algorithm>

#include "base/stop_if_cancelled.h"
#include "expr/stability.h"

namespace pistachio {

namespace {

// A larger number of rows is more work to keep track of than the filter saves.
constexpr int64_t kMaxFilteredRows = 10'000;

struct SortedColumn {
  PhysicalScan* scan = nullptr;
  size_t place = 0;
  PhysicalPtr* filter = nullptr;  // the node above the scan, if it is a filter
  bool keeps_rows = true;         // all rows that pass that filter reach the sort
};

// The scan that the column comes from. Looks only through nodes where dropping input rows drops the output rows with their value in the
// column, and no others. Not through exchanges: each rank has a threshold of its own.
SortedColumn find_sorted_column(PhysicalPtr& node, ColumnId column) {
  const auto found = std::find(node->layout.begin(), node->layout.end(), column);
  if (found == node->layout.end()) return {};
  const size_t place = static_cast<size_t>(found - node->layout.begin());
  if (auto* scan = std::get_if<PhysicalScan>(&node->node)) return {.scan = scan, .place = place, .keeps_rows = scan->join_filters.empty()};
  if (node->as<PhysicalFilter>() != nullptr) {
    const bool is_above_scan = node->children[0]->as<PhysicalScan>() != nullptr;
    SortedColumn sorted = find_sorted_column(node->children[0], column);
    if (is_above_scan) {
      sorted.filter = &node;
    } else {
      sorted.keeps_rows = false;
    }
    return sorted;
  }
  if (const auto* project = node->as<PhysicalProject>()) {
    const Expression& source = *project->columns[place];
    return source.kind() == ExpressionKind::Column ? find_sorted_column(node->children[0], source.column_id()) : SortedColumn{};
  }
  if (const auto* join = node->as<PhysicalJoin>()) {
    const bool keeps_left = join->kind == JoinKind::Inner || join->kind == JoinKind::Left || join->kind == JoinKind::Semi ||
                            join->kind == JoinKind::Anti || join->kind == JoinKind::Mark;
    const std::vector<ColumnId>& left = node->children[0]->layout;
    if (!keeps_left || std::find(left.begin(), left.end(), column) == left.end()) return {};
    SortedColumn sorted = find_sorted_column(node->children[0], column);
    sorted.keeps_rows = false;
    return sorted;
  }
  return {};
}

bool is_in_files(const PhysicalScan& scan, size_t place) {
  return scan.table->has_footers() && scan.table->files().columns[scan.sources[place]].partition < 0;
}

// Whether storage can ask for the condition when it has decoded only the columns in it.
bool is_row_test(const Expression& condition, const PhysicalNode& node, const PhysicalScan& scan) {
  const ColumnSet used = columns_of(condition);
  return !used.empty() && is_stable(condition) && std::all_of(used.begin(), used.end(), [&](ColumnId column) {
    const auto found = std::find(node.layout.begin(), node.layout.end(), column);
    return found != node.layout.end() && is_in_files(scan, static_cast<size_t>(found - node.layout.begin()));
  });
}

// Conditions right above the scan are evaluated inside it: only rows that pass them compete for the first places.
bool move_conditions(PhysicalPtr& filter, PhysicalScan& scan) {
  std::vector<ExpressionPtr>& conditions = std::get_if<PhysicalFilter>(&filter->node)->conditions;
  const bool are_tests = std::all_of(conditions.begin(), conditions.end(), [&](const ExpressionPtr& condition) {
    return is_row_test(*condition, *filter->children[0], scan);
  });
  if (!are_tests) return false;
  scan.row_tests = std::move(conditions);
  PhysicalPtr below = std::move(filter->children[0]);
  below->estimated_rows = filter->estimated_rows;
  filter = std::move(below);
  return true;
}

void place_filter(PhysicalPlan& plan, PhysicalNode& node, PhysicalSort& sort) {
  const SortKey& key = sort.keys.front();
  if (!has_threshold(sort) || key.expression->kind() != ExpressionKind::Column) return;
  const SortedColumn sorted = find_sorted_column(node.children[0], key.expression->column_id());
  if (sorted.scan == nullptr || !is_in_files(*sorted.scan, sorted.place)) return;
  const bool announces = (sorted.filter == nullptr || move_conditions(*sorted.filter, *sorted.scan)) && sorted.keeps_rows;
  sort.filter = plan.top_filters++;
  sorted.scan->top_filter = ScanTopFilter{*sort.filter, sorted.place, key.descending, key.nulls_first, announces};
}

void visit_sorts(PhysicalPlan& plan, PhysicalNode& node, const CancelToken& token) {
  stop_if_cancelled(token);
  if (auto* sort = std::get_if<PhysicalSort>(&node.node)) place_filter(plan, node, *sort);
  for (const PhysicalPtr& child : node.children) visit_sorts(plan, *child, token);
}

}  // namespace

bool has_threshold(const PhysicalSort& sort) {
  // Storage does not compare intervals with constants.
  const bool is_comparable = sort.keys.front().expression->type().kind() != TypeKind::Interval;
  return is_comparable && sort.limit && *sort.limit > 0 && *sort.limit <= kMaxFilteredRows;
}

void place_top_filters(PhysicalPlan& plan, const CancelToken& token) {
  for (const PhysicalPtr& shared : plan.shared) {
    if (shared) visit_sorts(plan, *shared, token);
  }
  visit_sorts(plan, *plan.root, token);
}

}  // namespace pistachio
