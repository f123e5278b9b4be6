// Turns inner joins into semi joins where repeated rows do not matter and one side has no used columns: below the right side of a semi
// join, below DISTINCT, minima and maxima. Each row then has to find one match instead of all of them, which pays off if it has several. A
// common table is reduced if repeated rows matter to none of its readers.
#include <algorithm>
#include <map>

#include "expr/column_set.h"
#include "expr/stability.h"
#include "optimizer/cardinality.h"
#include "optimizer/column_equality.h"
#include "optimizer/rules.h"
#include "optimizer/shared_reads.h"

namespace pistachio {

namespace {

// What the rows of a node are used for. Unset: repeated rows matter. Else the columns in use.
using Use = std::optional<ColumnSet>;

bool ignores_repeated_rows(const AggregateCall& call) {
  const AggregateKind kind = call.function->kind;
  return call.distinct || kind == AggregateKind::Min || kind == AggregateKind::Max;
}

bool are_stable(const LogicalNode& node) {
  bool stable = true;
  for_each_expression(node, [&](const ExpressionPtr& expression) { stable = stable && is_stable(*expression); });
  return stable;
}

void add_used(const LogicalNode& node, ColumnSet& columns) {
  for_each_expression(node, [&](const ExpressionPtr& expression) { collect_columns(*expression, columns); });
}

class SemiJoins {
 public:
  SemiJoins(const LogicalPlan& plan, const CancelToken& token) : plan_(plan), token_(token) {}

  void visit(LogicalNode& node, const Use& use) {
    stop_if_cancelled(token_);
    if (auto* join = node.as<LogicalJoin>()) return visit_join(node, *join, use);
    if (const auto* operation = node.as<LogicalSetOperation>()) return visit_set_operation(node, *operation, use);
    if (auto* read = node.as<LogicalSharedRead>()) return note_read(*read, use);
    auto* project = node.as<LogicalProject>();
    // They may use columns of a side that is dropped.
    if (project != nullptr && use)
      std::erase_if(project->columns, [&](const NamedExpression& column) { return !use->contains(column.id); });
    const Use below = use_of_input(node, use);
    for (LogicalPtr& child : node.children) visit(*child, below);
  }

  // What all readers visited so far use the common table for.
  Use use_of_shared(size_t shared) const {
    const auto found = uses_.find(shared);
    return found == uses_.end() ? std::nullopt : found->second;
  }

 private:
  static Use use_of_input(const LogicalNode& node, const Use& use) {
    if (const auto* aggregate = node.as<LogicalAggregate>()) {
      if (!aggregate->sets.empty() || !are_stable(node) ||
          !std::all_of(aggregate->calls.begin(), aggregate->calls.end(), ignores_repeated_rows))
        return std::nullopt;
      ColumnSet used(aggregate->groups.begin(), aggregate->groups.end());
      add_used(node, used);
      return used;
    }
    const auto* sort = node.as<LogicalSort>();
    const bool passes_on = node.as<LogicalProject>() != nullptr || node.as<LogicalFilter>() != nullptr || (sort != nullptr && !sort->limit);
    if (!use || !passes_on || !are_stable(node)) return std::nullopt;
    ColumnSet used = *use;
    add_used(node, used);
    return used;
  }

  void visit_join(LogicalNode& node, LogicalJoin& join, const Use& use) {
    const bool stable = are_stable(node);
    const bool is_inner = join.kind == JoinKind::Inner;
    const bool only_tests_right = join.kind == JoinKind::Semi || join.kind == JoinKind::Anti || join.kind == JoinKind::Mark;
    if (is_inner && use && stable) drop_unused_side(node, join, *use);
    Use inside;
    if (use && stable && (is_inner || only_tests_right || join.kind == JoinKind::Left)) {
      inside = *use;
      add_used(node, *inside);
    }
    visit(node.left(), inside);
    if (only_tests_right && !inside && stable) {
      inside = ColumnSet();
      add_used(node, *inside);
    }
    visit(node.right(), inside);
  }

  void drop_unused_side(LogicalNode& node, LogicalJoin& join, const ColumnSet& used) const {
    // Without an equality of columns every pair of rows would be looked at anyway.
    const bool has_key = std::any_of(join.conditions.begin(), join.conditions.end(),
                                     [](const ExpressionPtr& condition) { return as_column_equality(*condition).has_value(); });
    if (!has_key) return;
    auto is_used = [&](const LogicalNode& side) { return !intersection(used, output_set(side)).empty(); };
    const bool keeps_right = is_used(node.right());
    if (keeps_right && is_used(node.left())) return;
    const CardinalityEstimator estimator(plan_);
    if (estimator.rows(node) <= estimator.rows(keeps_right ? node.right() : node.left())) return;
    if (keeps_right) std::swap(node.children[0], node.children[1]);
    join.kind = JoinKind::Semi;
  }

  void visit_set_operation(LogicalNode& node, const LogicalSetOperation& operation, const Use& use) {
    const bool is_set = operation.kind == LogicalSetOperation::Kind::Union && !operation.working_table && (use || !operation.all);
    auto used_of = [&](const std::vector<ColumnId>& columns) {
      return is_set ? Use(ColumnSet(columns.begin(), columns.end())) : std::nullopt;
    };
    visit(node.left(), used_of(operation.left_columns));
    visit(node.right(), used_of(operation.right_columns));
  }

  void note_read(LogicalSharedRead& read, const Use& use) {
    if (read.is_working_table) return;
    Use used;
    if (use) {
      keep_read_columns(read, *use);
      used = ColumnSet(read.sources.begin(), read.sources.end());
    }
    const auto [place, is_first] = uses_.emplace(read.shared, used);
    if (is_first) return;
    if (!used)
      place->second.reset();
    else if (place->second)
      place->second->insert(*used);
  }

  const LogicalPlan& plan_;
  const CancelToken& token_;
  std::map<size_t, Use> uses_;
};

}  // namespace

void use_semi_joins(LogicalPlan& plan, const CancelToken& token) {
  SemiJoins rule(plan, token);
  rule.visit(*plan.root, std::nullopt);
  const std::vector<size_t> order = shared_plans_in_use(plan);
  for (size_t i = order.size(); i-- > 0;) rule.visit(*plan.shared[order[i]], rule.use_of_shared(order[i]));
}

}  // namespace pistachio
