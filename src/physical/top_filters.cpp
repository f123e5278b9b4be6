#include "physical/top_filters.h"

#include <algorithm>

#include "base/stop_if_cancelled.h"

namespace pistachio {

namespace {

// A larger number of rows is more work to keep track of than the filter saves.
constexpr int64_t kMostFilteredRows = 10'000;

struct SortedColumn {
  PhysicalScan* scan = nullptr;
  size_t place = 0;
};

// The scan that the column comes from. Looks only through nodes where dropping input rows drops the output rows with their value in the
// column, and no others. Not through exchanges: each rank has a threshold of its own.
SortedColumn find_sorted_column(PhysicalNode& node, ColumnId column) {
  const auto found = std::find(node.layout.begin(), node.layout.end(), column);
  if (found == node.layout.end()) return {};
  const size_t place = static_cast<size_t>(found - node.layout.begin());
  if (auto* scan = std::get_if<PhysicalScan>(&node.node)) return {scan, place};
  if (node.as<PhysicalFilter>() != nullptr) return find_sorted_column(*node.children[0], column);
  if (const auto* project = node.as<PhysicalProject>()) {
    const Expression& source = *project->columns[place];
    return source.kind() == ExpressionKind::Column ? find_sorted_column(*node.children[0], source.column_id()) : SortedColumn{};
  }
  if (const auto* join = node.as<PhysicalJoin>()) {
    const bool keeps_left = join->kind == JoinKind::Inner || join->kind == JoinKind::Left || join->kind == JoinKind::Semi ||
                            join->kind == JoinKind::Anti || join->kind == JoinKind::Mark;
    const std::vector<ColumnId>& left = node.children[0]->layout;
    if (keeps_left && std::find(left.begin(), left.end(), column) != left.end()) return find_sorted_column(*node.children[0], column);
  }
  return {};
}

bool is_in_files(const PhysicalScan& scan, size_t place) {
  return !scan.table->is_in_memory() && scan.table->files().columns[scan.sources[place]].partition < 0;
}

void place_filter(PhysicalPlan& plan, PhysicalNode& node, PhysicalSort& sort) {
  const SortKey& key = sort.keys.front();
  if (!has_threshold(sort) || key.expression->kind() != ExpressionKind::Column) return;
  const SortedColumn sorted = find_sorted_column(*node.children[0], key.expression->column_id());
  if (sorted.scan == nullptr || !is_in_files(*sorted.scan, sorted.place)) return;
  sort.filter = plan.top_filters++;
  sorted.scan->top_filter = ScanTopFilter{*sort.filter, sorted.place, key.descending, key.nulls_first};
}

void visit_sorts(PhysicalPlan& plan, PhysicalNode& node, const CancelToken& token) {
  stop_if_cancelled(token);
  if (auto* sort = std::get_if<PhysicalSort>(&node.node)) place_filter(plan, node, *sort);
  for (const PhysicalPtr& child : node.children) visit_sorts(plan, *child, token);
}

}  // namespace

bool has_threshold(const PhysicalSort& sort) {
  // Storage does not compare intervals with constants.
  return sort.limit && *sort.limit > 0 && *sort.limit <= kMostFilteredRows && sort.keys.front().expression->type().kind() != TypeKind::Interval;
}

void place_top_filters(PhysicalPlan& plan, const CancelToken& token) {
  for (const PhysicalPtr& shared : plan.shared) {
    if (shared) visit_sorts(plan, *shared, token);
  }
  visit_sorts(plan, *plan.root, token);
}

}  // namespace pistachio
