#include "exec/plan_builder.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "columns/scalar_access.h"
#include "exec/group_limit.h"
#include "exec/hash_aggregate.h"
#include "exec/hash_join.h"
#include "exec/left_build_join.h"
#include "exec/recursion.h"
#include "exec/shared_rows.h"
#include "exec/simple_operators.h"
#include "exec/sort.h"
#include "expr/function.h"
#include "optimizer/scan_filter.h"

namespace pistachio {

namespace {

bool uses_only(const Expression& expression, const ColumnSet& columns) {
  ColumnSet used = columns_of(expression);
  return !used.empty() && std::includes(columns.begin(), columns.end(), used.begin(), used.end());
}

// Left = right, each on its own side: a key of a hash join.
std::optional<JoinKey> as_key(const ExpressionPtr& condition, const ColumnSet& left, const ColumnSet& right) {
  if (condition->kind() != ExpressionKind::Call) return std::nullopt;
  std::string_view name = condition->function().name;
  bool null_safe = name == "is not distinct from";
  if (name != "=" && !null_safe) return std::nullopt;
  const ExpressionPtr& first = condition->children()[0];
  const ExpressionPtr& second = condition->children()[1];
  // Intervals of different form can be equal (1 month, 30 days): their hashes are not.
  if (first->type().kind() == TypeKind::Interval) return std::nullopt;
  if (uses_only(*first, left) && uses_only(*second, right)) return JoinKey{first, second, null_safe};
  if (uses_only(*first, right) && uses_only(*second, left)) return JoinKey{second, first, null_safe};
  return std::nullopt;
}

class PlanBuilder {
 public:
  explicit PlanBuilder(const LogicalPlan& plan) : plan_(plan) {}

  OperatorPtr build(const LogicalNode& node) {
    OperatorPtr made = std::visit([&](const auto& own) { return build_node(node, own); }, node.node);
    steps.push_back({&node, made.get()});
    return made;
  }

  std::vector<ExecutablePlan::Step> steps;

 private:
  std::vector<LogicalType> types_of(const std::vector<ColumnId>& columns) const {
    std::vector<LogicalType> types;
    for (ColumnId column : columns) types.push_back(plan_.columns.type(column));
    return types;
  }

  OperatorPtr build_node(const LogicalNode& node, const LogicalScan& scan) {
    std::vector<size_t> sources;
    for (const ScanColumn& column : scan.columns) sources.push_back(column.source);
    std::vector<RangeFilter> filters;
    for (const ExpressionPtr& filter : scan.filters) filters.push_back(to_range_filter(*filter, scan).value());
    return std::make_unique<ScanOperator>(output_columns(node), scan.table, std::move(sources), std::move(filters));
  }

  OperatorPtr build_node(const LogicalNode&, const LogicalValues& values) {
    std::vector<Column> columns;
    for (size_t i = 0; i < values.columns.size(); ++i) {
      std::vector<ScalarValue> cells;
      for (const std::vector<ScalarValue>& row : values.rows) cells.push_back(row[i]);
      columns.push_back(column_of_values(plan_.columns.type(values.columns[i]), cells));
    }
    return std::make_unique<ValuesOperator>(values.columns, Chunk(std::move(columns), static_cast<int64_t>(values.rows.size())));
  }

  OperatorPtr build_node(const LogicalNode& node, const LogicalFilter& filter) {
    return std::make_unique<FilterOperator>(build(*node.children[0]), filter.conditions);
  }

  OperatorPtr build_node(const LogicalNode& node, const LogicalProject& project) {
    return std::make_unique<ProjectOperator>(build(*node.children[0]), project.columns);
  }

  OperatorPtr build_node(const LogicalNode& node, const LogicalJoin& join) {
    ENSURE(!join.dependent);
    OperatorPtr left = build(node.left());
    OperatorPtr right = build(node.right());
    HashJoinPlan made{.kind = join.kind, .comparisons = join.comparisons, .mark = join.mark, .output = join.output};
    ColumnSet left_columns(left->layout().begin(), left->layout().end());
    ColumnSet right_columns(right->layout().begin(), right->layout().end());
    for (const ExpressionPtr& condition : join.conditions) {
      if (std::optional<JoinKey> key = as_key(condition, left_columns, right_columns)) {
        made.keys.push_back(std::move(*key));
      } else {
        made.conditions.push_back(condition);
      }
    }
    std::vector<LogicalType> left_types = types_of(left->layout());
    if (join.builds_left && !made.keys.empty())
      return std::make_unique<LeftBuildJoinOperator>(std::move(left), std::move(right), std::move(made), std::move(left_types));
    std::vector<LogicalType> right_types = types_of(right->layout());
    return std::make_unique<HashJoinOperator>(std::move(left), std::move(right), std::move(made), std::move(left_types),
                                              std::move(right_types));
  }

  OperatorPtr build_node(const LogicalNode& node, const LogicalAggregate& aggregate) {
    return std::make_unique<HashAggregateOperator>(build(*node.children[0]), aggregate.groups, types_of(aggregate.groups), aggregate.calls);
  }

  OperatorPtr build_node(const LogicalNode& node, const LogicalSort& sort) {
    OperatorPtr input = build(*node.children[0]);
    std::vector<LogicalType> types = types_of(input->layout());
    return std::make_unique<SortOperator>(std::move(input), sort.keys, sort.limit, std::move(types));
  }

  OperatorPtr build_node(const LogicalNode& node, const LogicalLimit& limit) {
    OperatorPtr input = build(*node.children[0]);
    if (limit.groups.empty()) return std::make_unique<LimitOperator>(std::move(input), limit.limit, limit.offset);
    std::vector<LogicalType> types = types_of(input->layout());
    GroupLimitPlan made{.groups = limit.groups, .keys = limit.keys, .limit = limit.limit, .offset = limit.offset};
    return std::make_unique<GroupLimitOperator>(std::move(input), std::move(made), std::move(types));
  }

  OperatorPtr build_node(const LogicalNode& node, const LogicalSetOperation& operation) {
    if (operation.working_table) return build_recursion(node, operation);
    ENSURE(operation.kind == LogicalSetOperation::Kind::Union && operation.all);
    std::vector<OperatorPtr> inputs;
    inputs.push_back(in_order(build(node.left()), operation.left_columns));
    inputs.push_back(in_order(build(node.right()), operation.right_columns));
    return std::make_unique<UnionOperator>(operation.columns, std::move(inputs));
  }

  OperatorPtr build_recursion(const LogicalNode& node, const LogicalSetOperation& operation) {
    size_t number = *operation.working_table;
    RecursionPlan made{.keeps_all = operation.all, .working = std::make_shared<WorkingRows>(), .types = types_of(operation.columns)};
    working_.emplace(number, WorkingTable{made.working, operation.columns});
    made.first = in_order(build(node.left()), operation.left_columns);
    made.next = in_order(build(node.right()), operation.right_columns);
    for (const auto& [shared, rows] : shared_) {
      if (reads_working_table(*plan_.shared[shared], number)) made.in_rounds.push_back(rows);
    }
    return std::make_unique<RecursionOperator>(operation.columns, std::move(made));
  }

  // Also by way of other common tables.
  bool reads_working_table(const LogicalNode& node, size_t number) const {
    const auto* read = node.as<LogicalSharedRead>();
    if (read != nullptr && read->is_working_table) return read->shared == number;
    if (read != nullptr) return reads_working_table(*plan_.shared[read->shared], number);
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const LogicalPtr& child) { return reads_working_table(*child, number); });
  }

  // The columns of an input in the order that a union wants them.
  OperatorPtr in_order(OperatorPtr input, const std::vector<ColumnId>& columns) const {
    if (input->layout() == columns) return input;
    std::vector<NamedExpression> chosen;
    for (ColumnId column : columns) chosen.push_back({column, plan_.columns.reference(column)});
    return std::make_unique<ProjectOperator>(std::move(input), std::move(chosen));
  }

  OperatorPtr build_node(const LogicalNode& node, const LogicalRepeat& repeat) {
    return std::make_unique<RepeatOperator>(build(*node.children[0]), repeat.times);
  }

  OperatorPtr build_node(const LogicalNode&, const LogicalSharedRead& read) {
    if (read.is_working_table) {
      const WorkingTable& table = working_.at(read.shared);
      return std::make_unique<WorkingReadOperator>(read.columns, table.rows, places_in(table.layout, read.sources));
    }
    auto known = shared_.find(read.shared);
    if (known == shared_.end()) {
      // Built first: it may have common tables in it.
      auto rows = std::make_shared<SharedRows>(build(*plan_.shared[read.shared]));
      known = shared_.emplace(read.shared, std::move(rows)).first;
    }
    return std::make_unique<SharedReadOperator>(read.columns, known->second, places_in(known->second->plan().layout(), read.sources));
  }

  static std::vector<size_t> places_in(const std::vector<ColumnId>& layout, const std::vector<ColumnId>& columns) {
    std::vector<size_t> places;
    for (ColumnId column : columns) {
      auto found = std::find(layout.begin(), layout.end(), column);
      ENSURE(found != layout.end());
      places.push_back(static_cast<size_t>(found - layout.begin()));
    }
    return places;
  }

  struct WorkingTable {
    std::shared_ptr<WorkingRows> rows;
    std::vector<ColumnId> layout;
  };

  const LogicalPlan& plan_;
  std::map<size_t, std::shared_ptr<SharedRows>> shared_;
  std::map<size_t, WorkingTable> working_;
};

}  // namespace

ExecutablePlan build_executable(const LogicalPlan& plan) {
  PlanBuilder builder(plan);
  std::vector<NamedExpression> output;
  for (const OutputColumn& column : plan.output) output.push_back({column.id, plan.columns.reference(column.id)});
  ExecutablePlan made;
  made.root = builder.build(*plan.root);
  std::vector<ColumnId> wanted;
  for (const OutputColumn& column : plan.output) wanted.push_back(column.id);
  if (made.root->layout() != wanted) made.root = std::make_unique<ProjectOperator>(std::move(made.root), std::move(output));
  made.steps = std::move(builder.steps);
  return made;
}

}  // namespace pistachio
