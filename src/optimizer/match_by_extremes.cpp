// Answers whether a row has a match with another value from the extremes of each key: EXISTS (... WHERE y.k = x.k AND y.v <> x.v) holds if
// the least or the greatest v of the key differs from x.v. Each row is then compared with one group instead of all rows of its key. Pays
// off if keys repeat so often that there are many more pairs than rows.
#include <algorithm>
#include <utility>

#include "expr/column_set.h"
#include "expr/function.h"
#include "expr/function_table.h"
#include "optimizer/cardinality.h"
#include "optimizer/column_equality.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

// Grouping a row costs about as much as this number of pairs.
constexpr double kPairsPerRow = 2;

struct Unequal {
  ColumnId left;
  ColumnId right;
};

class Extremes {
 public:
  explicit Extremes(LogicalPlan& plan) : plan_(plan) {}

  void visit(LogicalNode& node) {
    auto* join = node.as<LogicalJoin>();
    if (join == nullptr || (join->kind != JoinKind::Semi && join->kind != JoinKind::Anti) || !take_apart(node, *join)) return;
    if (pairs(node, *join) <= kPairsPerRow * CardinalityEstimator(plan_).rows(node.right())) return;
    LogicalAggregate aggregate{.groups = keys_, .calls = {}};
    std::vector<ExpressionPtr> differs;
    for (const char* extreme : {"min", "max"}) {
      const ColumnId id = add_call(aggregate, extreme);
      differs.push_back(make_call("<>", {plan_.columns.reference(unequal_->left), plan_.columns.reference(id)}));
    }
    join->conditions = std::move(equalities_);
    join->conditions.push_back(Expression::logical(ExpressionKind::Or, std::move(differs)));
    node.children[1] = make_node(std::move(aggregate), std::move(node.children[1]));
  }

 private:
  // False unless the conditions are equalities of columns of both sides and one <> of such columns.
  bool take_apart(const LogicalNode& node, const LogicalJoin& join) {
    keys_.clear();
    equalities_.clear();
    unequal_.reset();
    if (join.conditions.size() < 2) return false;
    const ColumnSet left = output_set(node.left());
    const ColumnSet right = output_set(node.right());
    for (const ExpressionPtr& condition : join.conditions) {
      if (condition->kind() != ExpressionKind::Call || condition->children().size() != 2) return false;
      const std::vector<ExpressionPtr>& sides = condition->children();
      if (sides[0]->kind() != ExpressionKind::Column || sides[1]->kind() != ExpressionKind::Column) return false;
      Unequal columns{sides[0]->column_id(), sides[1]->column_id()};
      if (!left.contains(columns.left)) std::swap(columns.left, columns.right);
      if (!left.contains(columns.left) || !right.contains(columns.right)) return false;
      if (as_column_equality(*condition)) {
        equalities_.push_back(condition);
        if (std::find(keys_.begin(), keys_.end(), columns.right) == keys_.end()) keys_.push_back(columns.right);
      } else if (condition->function().name == "<>" && !unequal_) {
        unequal_ = columns;
      } else {
        return false;
      }
    }
    return unequal_ && !keys_.empty();
  }

  // Pairs with equal keys.
  double pairs(LogicalNode& node, LogicalJoin& join) const {
    const JoinKind kind = std::exchange(join.kind, JoinKind::Inner);
    std::vector<ExpressionPtr> conditions = std::exchange(join.conditions, equalities_);
    const double rows = CardinalityEstimator(plan_).rows(node);
    join.kind = kind;
    join.conditions = std::move(conditions);
    return rows;
  }

  ColumnId add_call(LogicalAggregate& aggregate, const char* name) {
    AggregateCall call;
    call.function = find_aggregate(name);
    call.argument = plan_.columns.reference(unequal_->right);
    call.type = call.function->resolve(call.argument->type())->second;
    call.id = plan_.columns.add(name, call.type);
    aggregate.calls.push_back(call);
    return call.id;
  }

  LogicalPlan& plan_;
  std::vector<ColumnId> keys_;  // of the right side
  std::vector<ExpressionPtr> equalities_;
  std::optional<Unequal> unequal_;
};

}  // namespace

void match_by_extremes(LogicalPlan& plan, const CancelToken& token) {
  Extremes rule(plan);
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, [&](LogicalPtr& node) { rule.visit(*node); }); });
}

}  // namespace pistachio
