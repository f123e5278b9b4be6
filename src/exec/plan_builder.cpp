#include "exec/plan_builder.h"

#include <map>

#include "columns/scalar_access.h"
#include "exec/filter_project.h"
#include "exec/group_limit.h"
#include "exec/hash_aggregate.h"
#include "exec/join_operator.h"
#include "exec/limit.h"
#include "exec/scan_operator.h"
#include "exec/shared_rows.h"
#include "exec/sort.h"
#include "exec/union_repeat.h"

namespace pistachio {

namespace {

class PlanBuilder {
 public:
  explicit PlanBuilder(const PhysicalPlan& plan) : plan_(plan) {}

  OperatorPtr build(const PhysicalNode& node) {
    OperatorPtr made = std::visit([&](const auto& own) { return build_node(node, own); }, node.node);
    steps.push_back({&node, made.get()});
    return made;
  }

  std::vector<ExecutablePlan::Step> steps;

 private:
  OperatorPtr input(const PhysicalNode& node) { return build(*node.children[0]); }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalScan& scan) {
    return std::make_unique<ScanOperator>(node.layout, scan.table, scan.sources, scan.filters);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalValues& values) {
    std::vector<Column> columns;
    for (size_t i = 0; i < node.layout.size(); ++i) {
      std::vector<ScalarValue> cells;
      for (const std::vector<ScalarValue>& row : values.rows) cells.push_back(row[i]);
      columns.push_back(column_of_values(plan_.columns.type(node.layout[i]), cells));
    }
    return std::make_unique<ValuesOperator>(node.layout, Chunk(std::move(columns), static_cast<int64_t>(values.rows.size())));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalFilter& filter) {
    return std::make_unique<FilterOperator>(input(node), filter.conditions);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalProject& project) {
    return std::make_unique<ProjectOperator>(input(node), node.layout, project.columns);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalJoin& join) {
    OperatorPtr left = build(*node.children[0]);
    OperatorPtr right = build(*node.children[1]);
    std::vector<LogicalType> left_types = plan_.types_of(left->layout());
    std::vector<LogicalType> right_types = plan_.types_of(right->layout());
    return std::make_unique<JoinOperator>(std::move(left), std::move(right), join, node.layout, std::move(left_types),
                                          std::move(right_types));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalAggregate& aggregate) {
    return std::make_unique<HashAggregateOperator>(input(node), aggregate.groups, plan_.types_of(aggregate.groups), aggregate.calls);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalSort& sort) {
    return std::make_unique<SortOperator>(input(node), sort.keys, sort.limit, plan_.types_of(node.layout));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalLimit& limit) {
    return std::make_unique<LimitOperator>(input(node), limit.limit, limit.offset);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalGroupLimit& limit) {
    return std::make_unique<GroupLimitOperator>(input(node), limit, plan_.types_of(node.layout));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalUnion&) {
    std::vector<OperatorPtr> inputs;
    for (const PhysicalPtr& child : node.children) inputs.push_back(build(*child));
    return std::make_unique<UnionOperator>(node.layout, std::move(inputs));
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalRepeat& repeat) {
    return std::make_unique<RepeatOperator>(input(node), repeat.times);
  }

  OperatorPtr build_node(const PhysicalNode& node, const PhysicalSharedRead& read) {
    std::shared_ptr<SharedRows>& rows = shared_[read.shared];
    if (!rows) rows = std::make_shared<SharedRows>(build(*plan_.shared[read.shared]));
    return std::make_unique<SharedReadOperator>(node.layout, rows, read.places);
  }

  const PhysicalPlan& plan_;
  std::map<size_t, std::shared_ptr<SharedRows>> shared_;
};

}  // namespace

ExecutablePlan build_executable(const PhysicalPlan& plan) {
  PlanBuilder builder(plan);
  ExecutablePlan made;
  made.root = builder.build(*plan.root);
  made.steps = std::move(builder.steps);
  return made;
}

}  // namespace pistachio
