#include "physical/physical_plan_checker.h"

#include <algorithm>

#include "base/check.h"
#include "base/overloaded.h"
#include "base/stop_if_cancelled.h"
#include "physical/aggregate_stages.h"

namespace pistachio {

namespace {

class Checker {
 public:
  Checker(const PhysicalPlan& plan, const CancelToken& token) : plan_(plan), token_(token) {}

  void check(const PhysicalNode& node) const {
    stop_if_cancelled(token_);
    for (const PhysicalPtr& child : node.children) check(*child);
    check_inputs(node);
    check_layout(node);
    check_expressions(node);
    check_distribution(node);
  }

 private:
  static void check_inputs(const PhysicalNode& node) {
    size_t wanted = std::visit(Overloaded{[](const PhysicalScan&) { return 0; }, [](const PhysicalValues&) { return 0; },
                                          [](const PhysicalSharedRead&) { return 0; }, [](const PhysicalWorkingRead&) { return 0; },
                                          [](const PhysicalRecursion&) { return 2; }, [](const PhysicalJoin&) { return 2; },
                                          [](const PhysicalUnion&) { return 2; }, [](const auto&) { return 1; }},
                               node.node);
    ENSURE_EQ(node.children.size(), wanted);
  }

  void check_layout(const PhysicalNode& node) const {
    ColumnSet unique(node.layout.begin(), node.layout.end());
    ENSURE(unique.size() == node.layout.size(), "a column appears twice in the layout");
    std::visit(
        Overloaded{[&](const PhysicalScan& scan) {
                     ENSURE_EQ(scan.sources.size(), node.layout.size());
                     for (size_t i = 0; i < scan.sources.size(); ++i) {
                       ENSURE_LT(scan.sources[i], scan.table->columns().size());
                       check_type(node.layout[i], scan.table->columns()[scan.sources[i]].type);
                     }
                   },
                   [&](const PhysicalValues& values) {
                     for (const auto& row : values.rows) ENSURE_EQ(row.size(), node.layout.size());
                   },
                   [&](const PhysicalProject& project) {
                     ENSURE_EQ(project.columns.size(), node.layout.size());
                     for (size_t i = 0; i < project.columns.size(); ++i) check_type(node.layout[i], project.columns[i]->type());
                   },
                   [&](const PhysicalJoin& join) {
                     ENSURE(join.keys.empty() || join.bounds.empty());
                     for (const JoinKey& key : join.keys) ENSURE(key.left->type() == key.right->type(), "a join key has two types");
                     ENSURE(join.compared_keys.empty() || (join.kind == JoinKind::Mark && join.comparisons.empty() && join.bounds.empty()));
                     ColumnSet given;
                     if (gives_left_columns(join.kind)) given.insert(set_of(*node.children[0]));
                     if (gives_right_columns(join.kind)) given.insert(set_of(*node.children[1]));
                     if (join.kind == JoinKind::Mark) given.insert(join.mark);
                     check_contained(node.layout, given);
                   },
                   [&](const PhysicalAggregate& aggregate) { check_aggregate(node, aggregate); },
                   [&](const PhysicalWindow& window) { check_window(node, window); },
                   [&](const PhysicalExchange&) { ENSURE(node.layout == node.children[0]->layout, "an exchange changes the layout"); },
                   [&](const PhysicalUnion&) { check_same_columns(node); }, [&](const PhysicalRecursion&) { check_same_columns(node); },
                   [&](const PhysicalWorkingRead& read) { ENSURE_EQ(read.places.size(), node.layout.size()); },
                   [&](const PhysicalSharedRead& read) {
                     ENSURE_LT(read.shared, plan_.shared.size());
                     ENSURE(plan_.shared[read.shared] != nullptr);
                     ENSURE_EQ(read.places.size(), node.layout.size());
                     const std::vector<ColumnId>& source = plan_.shared[read.shared]->layout;
                     for (size_t i = 0; i < read.places.size(); ++i) {
                       ENSURE_LT(read.places[i], source.size());
                       check_type(node.layout[i], plan_.columns.type(source[read.places[i]]));
                     }
                   },
                   [&](const PhysicalRepeat& repeat) { check_contained({repeat.times}, set_of(*node.children[0])); }, [](const auto&) {}},
        node.node);
  }

  void check_aggregate(const PhysicalNode& node, const PhysicalAggregate& aggregate) const {
    ColumnSet given = set_of(*node.children[0]);
    check_contained(aggregate.groups, given);
    if (aggregate.stage == AggregateStage::Whole) return;
    std::vector<AggregateCall> kept = calls_with_state(aggregate.calls);
    ENSURE_EQ(aggregate.states.size(), kept.size());
    ColumnSet gives = set_of(node);
    for (size_t i = 0; i < kept.size(); ++i) {
      std::vector<LogicalType> types = state_types(kept[i]);
      ENSURE_EQ(aggregate.states[i].size(), types.size());
      for (size_t j = 0; j < types.size(); ++j) check_type(aggregate.states[i][j], types[j]);
      if (aggregate.stage != AggregateStage::Final) check_contained(aggregate.states[i], gives);
      if (aggregate.stage != AggregateStage::Partial) check_contained(aggregate.states[i], given);
    }
  }

  void check_window(const PhysicalNode& node, const PhysicalWindow& window) const {
    std::vector<ColumnId> expected;
    for (size_t place : window.kept) {
      ENSURE_LT(place, node.children[0]->layout.size());
      expected.push_back(node.children[0]->layout[place]);
    }
    check_contained(window.partition, set_of(*node.children[0]));
    for (const WindowCall& call : window.calls) {
      expected.push_back(call.id);
      check_type(call.id, call.type);
      ENSURE_LE(call.order_keys, window.order.size());
    }
    ENSURE(node.layout == expected, "a window has other columns than those of its input and its calls");
  }

  // By position, under other ids.
  void check_same_columns(const PhysicalNode& node) const {
    for (const PhysicalPtr& child : node.children) {
      ENSURE_EQ(child->layout.size(), node.layout.size());
      for (size_t i = 0; i < node.layout.size(); ++i) check_type(node.layout[i], plan_.columns.type(child->layout[i]));
    }
  }

  void check_expressions(const PhysicalNode& node) const {
    // Columns of each child, then of all children; computed once for all expressions of the node.
    std::vector<ColumnSet> available;
    ColumnSet all;
    for (const PhysicalPtr& child : node.children) {
      available.push_back(set_of(*child));
      all.insert(available.back());
    }
    for_each_expression(node, [&](const ExpressionPtr& expression, int child) {
      check_references(*expression, child < 0 ? all : available[static_cast<size_t>(child)]);
    });
  }

  void check_references(const Expression& expression, const ColumnSet& available) const {
    if (expression.kind() == ExpressionKind::Column) {
      ENSURE(available.contains(expression.column_id()), "column #{} is used but not given", expression.column_id().value);
      check_type(expression.column_id(), expression.type());
    }
    for (const ExpressionPtr& child : expression.children()) check_references(*child, available);
  }

  void check_distribution(const PhysicalNode& node) const {
    std::vector<std::vector<Requirement>> alternatives = input_alternatives(node, plan_.columns);
    bool is_met = std::any_of(alternatives.begin(), alternatives.end(), [&](const std::vector<Requirement>& needs) {
      for (size_t i = 0; i < needs.size(); ++i) {
        if (!satisfies(node.children[i]->distribution, needs[i])) return false;
      }
      return true;
    });
    ENSURE(is_met, "an input does not have the required distribution");
  }

  void check_type(ColumnId column, LogicalType type) const {
    ENSURE(plan_.columns.type(column) == type, "column #{} is {}, used as {}", column.value, plan_.columns.type(column).to_string(),
           type.to_string());
  }

  static void check_contained(const std::vector<ColumnId>& columns, const ColumnSet& given) {
    for (ColumnId column : columns) ENSURE(given.contains(column), "column #{} is not given", column.value);
  }

  static ColumnSet set_of(const PhysicalNode& node) { return {node.layout.begin(), node.layout.end()}; }

  const PhysicalPlan& plan_;
  const CancelToken& token_;
};

}  // namespace

void check_physical_plan(const PhysicalPlan& plan, const CancelToken& token) {
  Checker checker(plan, token);
  for (const PhysicalPtr& shared : plan.shared) {
    if (shared) checker.check(*shared);
  }
  checker.check(*plan.root);
  ENSURE(plan.root->distribution.kind == Distribution::Kind::Single, "the result is not in one place but {}",
         plan.root->distribution.name());
}

}  // namespace pistachio
