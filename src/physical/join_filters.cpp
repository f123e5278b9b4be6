#include "physical/join_filters.h"

#include <algorithm>
#include <map>

#include "base/stop_if_cancelled.h"

namespace pistachio {

namespace {

// A filter pays off if at most this fraction of the rows is expected to match. Close to one, since estimates of HAVING and of semi joins are
// mostly too high, a scan that passes nearly all rows switches its filter off, and the build side is read first anyway.
constexpr double kSelectiveShare = 0.8;
// With more keys, too few rows are dropped for the cost of exchanging the filter between ranks.
constexpr double kMaxKeys = 2'000'000;

// Where a column comes from: a scan and its position there.
struct Origin {
  PhysicalScan* scan = nullptr;
  size_t place = 0;
  double rows = 0;
};

std::optional<size_t> place_in(const std::vector<ColumnId>& layout, ColumnId column) {
  auto found = std::find(layout.begin(), layout.end(), column);
  if (found == layout.end()) return std::nullopt;
  return static_cast<size_t>(found - layout.begin());
}

// Looks only through nodes where dropping an input row drops exactly the output rows with its value in the column.
Origin origin_of(PhysicalNode& node, ColumnId column) {
  std::optional<size_t> place = place_in(node.layout, column);
  if (auto* scan = std::get_if<PhysicalScan>(&node.node))
    return place ? Origin{scan, *place, node.estimated_rows} : Origin{};
  if (const auto* project = node.as<PhysicalProject>()) {
    if (!place || project->columns[*place]->kind() != ExpressionKind::Column) return {};
    return origin_of(*node.children[0], project->columns[*place]->column_id());
  }
  if (node.as<PhysicalFilter>() != nullptr || node.as<PhysicalExchange>() != nullptr) return origin_of(*node.children[0], column);
  if (const auto* sort = node.as<PhysicalSort>()) return sort->limit ? Origin{} : origin_of(*node.children[0], column);
  if (const auto* aggregate = node.as<PhysicalAggregate>()) {
    // Dropping all rows with a value drops whole groups.
    return place_in(aggregate->groups, column) ? origin_of(*node.children[0], column) : Origin{};
  }
  if (const auto* window = node.as<PhysicalWindow>()) {
    // Likewise for partitions.
    return place_in(window->partition, column) ? origin_of(*node.children[0], column) : Origin{};
  }
  if (const auto* join = node.as<PhysicalJoin>()) {
    bool keeps_left = join->kind == JoinKind::Inner || join->kind == JoinKind::Left || join->kind == JoinKind::Semi ||
                      join->kind == JoinKind::Anti || join->kind == JoinKind::Mark || join->kind == JoinKind::Single;
    if (keeps_left && place_in(node.children[0]->layout, column)) return origin_of(*node.children[0], column);
    if (join->kind == JoinKind::Inner && place_in(node.children[1]->layout, column)) return origin_of(*node.children[1], column);
  }
  return {};
}

class FilterPlacement {
 public:
  FilterPlacement(PhysicalPlan& plan, double least_rows, const CancelToken& token) : plan_(plan), least_rows_(least_rows), token_(token) {}

  void visit(PhysicalNode& node) {
    stop_if_cancelled(token_);
    if (auto* join = std::get_if<PhysicalJoin>(&node.node)) place(node, *join);
    for (const PhysicalPtr& child : node.children) visit(*child);
  }

  // A scan tests its filters one after the other, later ones only on rows that passed: first those that drop most rows per column read.
  void order_filters() {
    for (auto& [scan, placed] : placed_) {
      std::stable_sort(placed.begin(), placed.end(), [](const Placed& left, const Placed& right) { return left.benefit > right.benefit; });
      for (Placed& one : placed) scan->join_filters.push_back(std::move(one.filter));
    }
  }

 private:
  struct Placed {
    ScanJoinFilter filter;
    double benefit = 0;  // expected fraction of rows dropped, per key column
  };

  void place(PhysicalNode& node, PhysicalJoin& join) {
    // Unmatched left rows are not in the output and do not affect it.
    bool drops_left_rows = join.kind == JoinKind::Inner || join.kind == JoinKind::Semi || join.kind == JoinKind::Right ||
                           join.kind == JoinKind::RightSemi || join.kind == JoinKind::RightAnti;
    const PhysicalNode& build = *node.children[1];
    if (!drops_left_rows || join.keys.empty() || build.estimated_rows > kMaxKeys || !is_selective(node, join)) return;
    std::map<PhysicalScan*, std::vector<std::pair<size_t, Origin>>> origins;
    for (size_t i = 0; i < join.keys.size(); ++i) {
      const JoinKey& key = join.keys[i];
      if (key.null_safe || key.left->kind() != ExpressionKind::Column) continue;
      Origin origin = origin_of(*node.children[0], key.left->column_id());
      if (origin.scan != nullptr && origin.rows >= least_rows_) origins[origin.scan].emplace_back(i, origin);
    }
    // The scan with the most keys, then the most rows.
    auto best = std::max_element(origins.begin(), origins.end(), [](const auto& left, const auto& right) {
      return std::pair(left.second.size(), left.second[0].second.rows) < std::pair(right.second.size(), right.second[0].second.rows);
    });
    if (best == origins.end()) return;
    auto* spread = std::get_if<PhysicalExchange>(&node.children[1]->node);
    bool is_spread = spread != nullptr && spread->kind == PhysicalExchange::Kind::SpreadBuild;
    std::optional<BuildSideFilter>& made = is_spread ? spread->filter : join.filter;
    made = BuildSideFilter{.number = plan_.filters++, .keys = {}, .expected_keys = static_cast<int64_t>(build.estimated_rows)};
    ScanJoinFilter filter{.number = made->number, .columns = {}};
    for (const auto& [key, origin] : best->second) {
      made->keys.push_back(key);
      filter.columns.push_back(origin.place);
    }
    const double dropped = std::clamp(1 - matching_share(node, join), 0.0, 1.0);
    placed_[best->first].push_back({std::move(filter), dropped / static_cast<double>(best->second.size())});
  }

  // For joins that output right rows, the fraction of left rows that match is unknown: 0.
  static double matching_share(const PhysicalNode& node, const PhysicalJoin& join) {
    if (!gives_left_columns(join.kind)) return 0;
    return node.estimated_rows / std::max(1.0, node.children[0]->estimated_rows);
  }

  bool is_selective(const PhysicalNode& node, const PhysicalJoin& join) const {
    return least_rows_ == 0 || matching_share(node, join) <= kSelectiveShare;
  }

  PhysicalPlan& plan_;
  std::map<PhysicalScan*, std::vector<Placed>> placed_;
  double least_rows_;
  const CancelToken& token_;
};

bool has_recursion(const PhysicalNode& node) {
  return node.as<PhysicalRecursion>() != nullptr ||
         std::any_of(node.children.begin(), node.children.end(), [](const PhysicalPtr& child) { return has_recursion(*child); });
}

}  // namespace

void place_join_filters(PhysicalPlan& plan, double least_rows, const CancelToken& token) {
  auto recurs = [](const PhysicalPtr& part) { return part && has_recursion(*part); };
  // A recursion has a different build side in each round.
  if (recurs(plan.root) || std::any_of(plan.shared.begin(), plan.shared.end(), recurs)) return;
  FilterPlacement placement(plan, least_rows, token);
  for (const PhysicalPtr& shared : plan.shared) {
    if (shared) placement.visit(*shared);
  }
  placement.visit(*plan.root);
  placement.order_filters();
}

}  // namespace pistachio
