#include "physical/physical_planner.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/stop_if_cancelled.h"
#include "optimizer/cardinality.h"
#include "optimizer/scan_filter.h"
#include "physical/join_strategy.h"
#include "physical/physical_plan_checker.h"

namespace pistachio {

namespace {

size_t place_of(ColumnId column, const std::vector<ColumnId>& layout) {
  auto found = std::find(layout.begin(), layout.end(), column);
  ENSURE(found != layout.end(), "column #{} is not in the layout", column.value);
  return static_cast<size_t>(found - layout.begin());
}

class PhysicalPlanner {
 public:
  PhysicalPlanner(const LogicalPlan& plan, PhysicalPlan& made, const CancelToken& token)
      : plan_(plan), made_(made), estimator_(plan), token_(token) {
    for (const LogicalPtr& shared : plan.shared) {
      if (shared) note_working_layouts(*shared);
    }
    note_working_layouts(*plan.root);
  }

  PhysicalPtr plan(const LogicalNode& node) {
    stop_if_cancelled(token_);
    auto planned = std::make_unique<PhysicalNode>();
    planned->estimated_rows = estimator_.rows(node);
    for (const LogicalPtr& child : node.children) planned->children.push_back(plan(*child));
    std::visit([&](const auto& own) { fill(*planned, own); }, node.node);
    planned->distribution = given_distribution(*planned, made_);
    return planned;
  }

  // Projects the input to these columns; the input itself if it already has exactly these.
  PhysicalPtr in_order(PhysicalPtr input, const std::vector<ColumnId>& columns) const {
    if (input->layout == columns) return input;
    auto made = std::make_unique<PhysicalNode>();
    PhysicalProject project;
    for (ColumnId column : columns) project.columns.push_back(plan_.columns.reference(column));
    made->node = std::move(project);
    made->layout = columns;
    made->estimated_rows = input->estimated_rows;
    made->children.push_back(std::move(input));
    made->distribution = given_distribution(*made, made_);
    return made;
  }

  // CTEs may read each other in any order, without cycles.
  void plan_shared(size_t number) {
    if (made_.shared[number] == nullptr && plan_.shared[number] != nullptr) made_.shared[number] = plan(*plan_.shared[number]);
  }

 private:
  // A CTE may read the rows of a recursion that is planned after it.
  void note_working_layouts(const LogicalNode& node) {
    const auto* operation = node.as<LogicalSetOperation>();
    if (operation != nullptr && operation->working_table) working_layouts_.emplace(*operation->working_table, operation->columns);
    for (const LogicalPtr& child : node.children) note_working_layouts(*child);
  }

  void fill(PhysicalNode& planned, const LogicalScan& scan) const {
    PhysicalScan made{.table = scan.table, .conditions = scan.filters};
    for (const ScanColumn& column : scan.columns) {
      planned.layout.push_back(column.id);
      made.sources.push_back(column.source);
    }
    for (const ExpressionPtr& filter : scan.filters) made.filters.push_back(to_range_filter(*filter, scan).value());
    planned.node = std::move(made);
  }

  static void fill(PhysicalNode& planned, const LogicalValues& values) {
    planned.layout = values.columns;
    planned.node = PhysicalValues{values.rows};
  }

  static void fill(PhysicalNode& planned, const LogicalFilter& filter) {
    planned.layout = planned.children[0]->layout;
    planned.node = PhysicalFilter{filter.conditions};
  }

  void fill(PhysicalNode& planned, const LogicalProject& project) const {
    PhysicalProject made;
    if (project.keeps_input) {
      planned.layout = planned.children[0]->layout;
      for (ColumnId column : planned.layout) made.columns.push_back(plan_.columns.reference(column));
    }
    for (const NamedExpression& column : project.columns) {
      planned.layout.push_back(column.id);
      made.columns.push_back(column.expression);
    }
    planned.node = std::move(made);
  }

  static void fill(PhysicalNode& planned, const LogicalJoin& join) {
    ENSURE(!join.dependent);
    PhysicalJoin made{.kind = join.kind, .comparisons = join.comparisons, .mark = join.mark};
    const std::vector<ColumnId>& left = planned.children[0]->layout;
    const std::vector<ColumnId>& right = planned.children[1]->layout;
    choose_join_strategy(join.conditions, {left.begin(), left.end()}, {right.begin(), right.end()}, made);
    ColumnSet output(join.output.begin(), join.output.end());
    auto goes_on = [&](ColumnId id) { return output.empty() || output.contains(id); };
    if (gives_left_columns(join.kind)) std::copy_if(left.begin(), left.end(), std::back_inserter(planned.layout), goes_on);
    if (gives_right_columns(join.kind)) std::copy_if(right.begin(), right.end(), std::back_inserter(planned.layout), goes_on);
    if (join.kind == JoinKind::Mark && goes_on(join.mark)) planned.layout.push_back(join.mark);
    planned.node = std::move(made);
  }

  static void fill(PhysicalNode& planned, const LogicalAggregate& aggregate) {
    planned.layout = aggregate.groups;
    for (const AggregateCall& call : aggregate.calls) planned.layout.push_back(call.id);
    planned.node = PhysicalAggregate{aggregate.groups, aggregate.calls};
  }

  static void fill(PhysicalNode& planned, const LogicalSort& sort) {
    planned.layout = planned.children[0]->layout;
    planned.node = PhysicalSort{sort.keys, sort.limit};
  }

  static void fill(PhysicalNode& planned, const LogicalLimit& limit) {
    planned.layout = planned.children[0]->layout;
    if (limit.groups.empty()) {
      planned.node = PhysicalLimit{limit.limit, limit.offset};
    } else {
      planned.node = PhysicalGroupLimit{limit.groups, limit.keys, limit.limit, limit.offset};
    }
  }

  static void fill(PhysicalNode& planned, const LogicalWindow& window) {
    PhysicalWindow made{window.partition, window.order, window.calls, {}};
    const std::vector<ColumnId>& input = planned.children[0]->layout;
    planned.layout = window.kept.value_or(input);
    for (ColumnId column : planned.layout) made.kept.push_back(place_of(column, input));
    for (const WindowCall& call : window.calls) planned.layout.push_back(call.id);
    planned.node = std::move(made);
  }

  void fill(PhysicalNode& planned, const LogicalSetOperation& operation) const {
    bool is_recursion = operation.working_table.has_value();
    ENSURE(is_recursion || (operation.kind == LogicalSetOperation::Kind::Union && operation.all),
           "INTERSECT and EXCEPT are lowered before");
    planned.children[0] = in_order(std::move(planned.children[0]), operation.left_columns);
    planned.children[1] = in_order(std::move(planned.children[1]), operation.right_columns);
    planned.layout = operation.columns;
    if (is_recursion) {
      planned.node = PhysicalRecursion{*operation.working_table, operation.all};
    } else {
      planned.node = PhysicalUnion{};
    }
  }

  static void fill(PhysicalNode& planned, const LogicalRepeat& repeat) {
    planned.layout = planned.children[0]->layout;
    std::erase(planned.layout, repeat.times);
    planned.node = PhysicalRepeat{repeat.times};
  }

  void fill(PhysicalNode& planned, const LogicalSharedRead& read) {
    planned.layout = read.columns;
    if (read.is_working_table) {
      PhysicalWorkingRead made{.working_table = read.shared, .places = {}};
      for (ColumnId source : read.sources) made.places.push_back(place_of(source, working_layouts_.at(read.shared)));
      planned.node = std::move(made);
      return;
    }
    plan_shared(read.shared);
    PhysicalSharedRead made{.shared = read.shared, .places = {}};
    for (ColumnId source : read.sources) made.places.push_back(place_of(source, made_.shared[read.shared]->layout));
    planned.node = std::move(made);
  }

  const LogicalPlan& plan_;
  PhysicalPlan& made_;
  CardinalityEstimator estimator_;
  const CancelToken& token_;
  std::map<size_t, std::vector<ColumnId>> working_layouts_;
};

}  // namespace

PhysicalPlan plan_physical(const LogicalPlan& plan, const CancelToken& token) {
  PhysicalPlan made;
  made.columns = plan.columns;
  made.shared.resize(plan.shared.size());
  PhysicalPlanner planner(plan, made, token);
  for (size_t i = 0; i < plan.shared.size(); ++i) planner.plan_shared(i);
  std::vector<ColumnId> output;
  for (const OutputColumn& column : plan.output) output.push_back(column.id);
  made.root = planner.in_order(planner.plan(*plan.root), output);
  check_physical_plan(made, token);
  return made;
}

}  // namespace pistachio
