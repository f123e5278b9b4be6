// Predicate pushdown: moves every condition down as far as possible, through projections, to the sides of joins, below grouping and windows,
// into scans. Conditions between the sides of an inner join become join conditions, outer joins whose NULL-padded rows would be dropped above
// become inner ones, and mark joins that only select rows become semi and anti joins.
#include <algorithm>
#include <map>

#include "expr/column_set.h"
#include "expr/function.h"
#include "expr/function_table.h"
#include "expr/stability.h"
#include "expr/type_rules.h"
#include "optimizer/rules.h"
#include "optimizer/scan_filter.h"

namespace pistachio {

namespace {

using Conditions = std::vector<ExpressionPtr>;

void append(Conditions& target, Conditions more) {
  for (ExpressionPtr& condition : more) {
    for (ExpressionPtr& part : conjuncts_of(condition)) {
      if (!part->is_true_constant()) target.push_back(std::move(part));
    }
  }
}

// Removes and returns the conditions for which `test` is true.
template <typename Test>
Conditions take_if(Conditions& conditions, const Test& test) {
  Conditions taken;
  auto stays =
      std::stable_partition(conditions.begin(), conditions.end(), [&](const ExpressionPtr& condition) { return !test(*condition); });
  taken.assign(stays, conditions.end());
  conditions.erase(stays, conditions.end());
  return taken;
}

template <typename Test>
bool any_child(const Expression& expression, const Test& test) {
  return std::any_of(expression.children().begin(), expression.children().end(), [&](const ExpressionPtr& child) { return test(*child); });
}

// Whether the expression is NULL if all these columns are.
bool becomes_null(const Expression& expression, const ColumnSet& columns) {
  auto child_does = [&](const Expression& child) { return becomes_null(child, columns); };
  switch (expression.kind()) {
    case ExpressionKind::Column: return columns.contains(expression.column_id());
    case ExpressionKind::Cast: return any_child(expression, child_does);
    case ExpressionKind::Call: return expression.function().null_rule == NullRule::Strict && any_child(expression, child_does);
    default: return false;
  }
}

// Whether the condition cannot be true if all these columns are NULL. It may be false, so this does not hold for its negation.
bool rejects_null(const Expression& condition, const ColumnSet& columns) {
  switch (condition.kind()) {
    case ExpressionKind::And: return any_child(condition, [&](const Expression& child) { return rejects_null(child, columns); });
    case ExpressionKind::Or: return !any_child(condition, [&](const Expression& child) { return !rejects_null(child, columns); });
    case ExpressionKind::Call:
      if (condition.function().name == "is not null") return becomes_null(*condition.children()[0], columns);
      return becomes_null(condition, columns);
    default: return becomes_null(condition, columns);
  }
}

// What the columns of a projection stand for. The others are passed on.
using Meanings = std::map<ColumnId, ExpressionPtr>;

ExpressionPtr meaning_of(ColumnId column, const Meanings& meanings) {
  auto found = meanings.find(column);
  return found == meanings.end() ? nullptr : found->second;
}

// Limit on how much a condition may grow when columns are replaced by projected expressions.
constexpr int64_t kMaxGrowth = 64;

// Number of subexpressions, counted up to `most`: expressions share parts, so that walking them as a tree can take exponential time.
int64_t parts_below(const Expression& expression, int64_t most) {
  int64_t parts = 0;
  for (const ExpressionPtr& child : expression.children()) {
    if (parts > most) break;
    parts += 1 + parts_below(*child, most - parts);
  }
  return parts;
}

// How many subexpressions the condition gains, counted likewise.
int64_t growth(const Expression& condition, const Meanings& meanings, int64_t most) {
  if (condition.kind() == ExpressionKind::Column) {
    ExpressionPtr meaning = meaning_of(condition.column_id(), meanings);
    return meaning ? parts_below(*meaning, most) : 0;
  }
  int64_t parts = 0;
  for (const ExpressionPtr& child : condition.children()) {
    if (parts > most) break;
    parts += growth(*child, meanings, most - parts);
  }
  return parts;
}

class FilterPusher {
 public:
  FilterPusher(LogicalPlan& plan, const CancelToken& token) : plan_(plan), token_(token) {}

  // Applies the conditions to the node's rows.
  LogicalPtr push(LogicalPtr node, Conditions conditions) {
    stop_if_cancelled(token_);
    // Unstable conditions stay here: they must be evaluated once per row of this node, not of an input.
    Conditions unstable = take_if(conditions, [](const Expression& condition) { return !is_stable(condition); });
    if (!unstable.empty()) return above(push(std::move(node), std::move(conditions)), std::move(unstable));
    if (auto* filter = node->as<LogicalFilter>()) {
      Conditions all;
      append(all, std::move(filter->conditions));
      append(all, std::move(conditions));
      return push(std::move(node->children[0]), std::move(all));
    }
    if (node->as<LogicalProject>() != nullptr) return push_project(std::move(node), std::move(conditions));
    if (node->as<LogicalJoin>() != nullptr) return push_join(std::move(node), std::move(conditions));
    if (node->as<LogicalAggregate>() != nullptr) return push_aggregate(std::move(node), std::move(conditions));
    if (node->as<LogicalSetOperation>() != nullptr) return push_union(std::move(node), std::move(conditions));
    if (node->as<LogicalScan>() != nullptr) return push_scan(std::move(node), std::move(conditions));
    const auto* sort = node->as<LogicalSort>();
    if (sort != nullptr && !sort->limit) {
      node->children[0] = push(std::move(node->children[0]), std::move(conditions));
      return node;
    }
    if (const auto* limit = node->as<LogicalLimit>(); limit != nullptr && !limit->groups.empty()) {
      // A condition on group columns keeps or drops whole groups.
      ColumnSet groups(limit->groups.begin(), limit->groups.end());
      Conditions below = take_if(conditions, [&](const Expression& condition) { return uses_only(condition, groups); });
      node->children[0] = push(std::move(node->children[0]), std::move(below));
      return above(std::move(node), std::move(conditions));
    }
    if (const auto* window = node->as<LogicalWindow>()) {
      // Likewise for partitions. Any other condition would change what the other rows of the partition see.
      ColumnSet partition(window->partition.begin(), window->partition.end());
      Conditions below = take_if(conditions, [&](const Expression& condition) { return uses_only(condition, partition); });
      node->children[0] = push(std::move(node->children[0]), std::move(below));
      return above(std::move(node), std::move(conditions));
    }
    for (LogicalPtr& child : node->children) child = push(std::move(child), {});
    return above(std::move(node), std::move(conditions));
  }

 private:
  static LogicalPtr above(LogicalPtr node, Conditions conditions) {
    if (conditions.empty()) return node;
    return make_node(LogicalFilter{std::move(conditions)}, std::move(node));
  }

  LogicalPtr push_project(LogicalPtr node, Conditions conditions) {
    auto& project = *node->as<LogicalProject>();
    Meanings meanings;
    for (const NamedExpression& column : project.columns) meanings.emplace(column.id, column.expression);
    // A condition that may raise errors stays: below, it would see rows that others drop first. So does one that would grow too
    // much, since it could grow without bound through many projections.
    Conditions stay = take_if(conditions, [&](const Expression& condition) {
      ColumnSet used = columns_of(condition);
      bool is_tied = std::any_of(used.begin(), used.end(), [&](ColumnId id) {
        ExpressionPtr meaning = meaning_of(id, meanings);
        return meaning && (meaning->can_raise() || !is_stable(*meaning));
      });
      return is_tied || growth(condition, meanings, kMaxGrowth) > kMaxGrowth;
    });
    for (ExpressionPtr& condition : conditions)
      condition = replace_columns(condition, [&](ColumnId id) { return meaning_of(id, meanings); });
    node->children[0] = push(std::move(node->children[0]), std::move(conditions));
    return above(std::move(node), std::move(stay));
  }

  void simplify_join(LogicalNode& node, const Conditions& conditions) {
    if (conditions.empty()) return;
    auto& join = *node.as<LogicalJoin>();
    auto rejects = [&](const ColumnSet& side) {
      return std::any_of(conditions.begin(), conditions.end(),
                         [&](const ExpressionPtr& condition) { return rejects_null(*condition, side); });
    };
    if (join.kind == JoinKind::Left && rejects(output_set(node.right()))) join.kind = JoinKind::Inner;
    if (join.kind == JoinKind::Right && rejects(output_set(node.left()))) join.kind = JoinKind::Inner;
    if (join.kind == JoinKind::Full) {
      bool keeps_left = rejects(output_set(node.left()));
      bool keeps_right = rejects(output_set(node.right()));
      if (keeps_left && keeps_right) {
        join.kind = JoinKind::Inner;
      } else if (keeps_left) {
        join.kind = JoinKind::Left;
      } else if (keeps_right) {
        join.kind = JoinKind::Right;
      }
    }
  }

  // Like simplify_join, for outer joins below a join whose conditions drop their NULL-padded rows.
  void simplify_below(LogicalNode& node, const Conditions& conditions) {
    if (node.as<LogicalFilter>() != nullptr) return simplify_below(*node.children[0], conditions);
    const auto* join = node.as<LogicalJoin>();
    if (join == nullptr) return;
    simplify_join(node, conditions);
    bool is_inner = join->kind == JoinKind::Inner;
    if (is_inner || join->kind == JoinKind::Left) simplify_below(node.left(), conditions);
    if (is_inner || join->kind == JoinKind::Right) simplify_below(node.right(), conditions);
  }

  static bool drops_unmatched_left(JoinKind kind) {
    return kind == JoinKind::Inner || kind == JoinKind::Right || kind == JoinKind::Semi || kind == JoinKind::RightSemi;
  }
  static bool drops_unmatched_right(JoinKind kind) {
    return kind != JoinKind::Right && kind != JoinKind::Full && kind != JoinKind::RightAnti;
  }

  // A mark that must be true selects rows with a match; one that must be false and cannot be NULL, rows without.
  LogicalPtr mark_to_selection(LogicalPtr node, Conditions& conditions) {
    auto& join = *node->as<LogicalJoin>();
    ColumnId mark = join.mark;
    bool is_semi = false;
    bool is_anti = false;
    for (const ExpressionPtr& condition : conditions) {
      is_semi = is_semi || (condition->kind() == ExpressionKind::Column && condition->column_id() == mark);
      bool negated = condition->kind() == ExpressionKind::Call && condition->function().name == "not";
      is_anti = is_anti || (negated && join.comparisons.empty() && condition->children()[0]->kind() == ExpressionKind::Column &&
                            condition->children()[0]->column_id() == mark);
    }
    if (!is_semi && !is_anti) return node;
    join.kind = is_semi ? JoinKind::Semi : JoinKind::Anti;
    append(join.conditions, std::move(join.comparisons));
    join.comparisons.clear();
    LogicalProject project;
    for (ColumnId column : output_columns(node->left())) project.columns.push_back({column, plan_.columns.reference(column)});
    ExpressionPtr value = Expression::constant(ScalarValue::of_integer(TypeKind::Boolean, is_semi ? 1 : 0));
    project.columns.push_back({mark, value});
    for (ExpressionPtr& condition : conditions)
      condition = replace_columns(condition, [&](ColumnId id) { return id == mark ? value : nullptr; });
    take_if(conditions, [&](const Expression& condition) {
      bool holds = condition.is_true_constant();
      bool negated =
          condition.kind() == ExpressionKind::Call && condition.function().name == "not" && !is_semi && condition.children()[0] == value;
      return holds || negated;
    });
    return make_node(std::move(project), std::move(node));
  }

  struct JoinConditions {
    Conditions left;
    Conditions right;
    Conditions above;
  };

  // Where conditions above a join and in it are evaluated; what remains in the join stays there. Columns not from the right side are from
  // the left one, whose columns would be slow to collect at each join of a long chain.
  static JoinConditions split_conditions(LogicalJoin& join, const ColumnSet& right, Conditions conditions) {
    ColumnSet not_left = right;
    if (join.kind == JoinKind::Mark) not_left.insert(join.mark);
    auto on_left = [&](const Expression& condition) { return !uses_any_of(condition, not_left); };
    auto on_right = [&](const Expression& condition) { return uses_only(condition, right); };
    JoinConditions split;
    switch (join.kind) {
      case JoinKind::Inner: {
        append(conditions, std::move(join.conditions));
        join.conditions.clear();
        split.left = take_if(conditions, on_left);
        split.right = take_if(conditions, on_right);
        join.conditions = std::move(conditions);
        break;
      }
      case JoinKind::Left:
      case JoinKind::Single:
      case JoinKind::Mark:
        split.left = take_if(conditions, on_left);
        split.right = take_if(join.conditions, on_right);
        split.above = std::move(conditions);
        break;
      case JoinKind::Semi:
        split.left = std::move(conditions);
        append(split.left, take_if(join.conditions, on_left));
        split.right = take_if(join.conditions, on_right);
        break;
      case JoinKind::RightSemi:
        split.right = std::move(conditions);
        append(split.right, take_if(join.conditions, on_right));
        split.left = take_if(join.conditions, on_left);
        break;
      case JoinKind::Anti:
        split.left = std::move(conditions);
        split.right = take_if(join.conditions, on_right);
        break;
      case JoinKind::RightAnti:
        split.right = std::move(conditions);
        split.left = take_if(join.conditions, on_left);
        break;
      case JoinKind::Right:
        split.right = take_if(conditions, on_right);
        split.left = take_if(join.conditions, on_left);
        split.above = std::move(conditions);
        break;
      case JoinKind::Full: split.above = std::move(conditions); break;
    }
    return split;
  }

  LogicalPtr push_join(LogicalPtr node, Conditions conditions) {
    simplify_join(*node, conditions);
    if (node->as<LogicalJoin>()->kind == JoinKind::Mark) {
      LogicalPtr changed = mark_to_selection(std::move(node), conditions);
      if (changed->as<LogicalProject>() != nullptr) return push_project(std::move(changed), std::move(conditions));
      node = std::move(changed);
    }
    auto& join = *node->as<LogicalJoin>();
    JoinConditions split = split_conditions(join, output_set(node->right()), std::move(conditions));
    if (drops_unmatched_left(join.kind)) simplify_below(*node->children[0], join.conditions);
    if (drops_unmatched_right(join.kind)) simplify_below(*node->children[1], join.conditions);
    node->children[0] = push(std::move(node->children[0]), std::move(split.left));
    node->children[1] = push(std::move(node->children[1]), std::move(split.right));
    return above(std::move(node), std::move(split.above));
  }

  LogicalPtr push_aggregate(LogicalPtr node, Conditions conditions) {
    auto& aggregate = *node->as<LogicalAggregate>();
    ColumnSet groups(aggregate.groups.begin(), aggregate.groups.end());
    Conditions below;
    if (!groups.empty()) below = take_if(conditions, [&](const Expression& condition) { return uses_only(condition, groups); });
    node->children[0] = push(std::move(node->children[0]), std::move(below));
    return above(std::move(node), std::move(conditions));
  }

  LogicalPtr push_union(LogicalPtr node, Conditions conditions) {
    auto& operation = *node->as<LogicalSetOperation>();
    if (operation.working_table) {
      // A row that does not qualify may lead to one that does in a later round.
      for (LogicalPtr& child : node->children) child = push(std::move(child), {});
      return above(std::move(node), std::move(conditions));
    }
    auto renamed = [&](const std::vector<ColumnId>& columns) {
      Conditions own;
      for (const ExpressionPtr& condition : conditions) {
        own.push_back(replace_columns(condition, [&](ColumnId id) -> ExpressionPtr {
          for (size_t i = 0; i < operation.columns.size(); ++i) {
            if (operation.columns[i] == id) return plan_.columns.reference(columns[i]);
          }
          return nullptr;
        }));
      }
      return own;
    };
    Conditions left = renamed(operation.left_columns);
    Conditions right = renamed(operation.right_columns);
    node->children[0] = push(std::move(node->children[0]), std::move(left));
    node->children[1] = push(std::move(node->children[1]), std::move(right));
    return node;
  }

  LogicalPtr push_scan(LogicalPtr node, Conditions conditions) {
    auto& scan = *node->as<LogicalScan>();
    if (!scan.table->has_footers()) return above(std::move(node), std::move(conditions));
    Conditions stored = take_if(conditions, [&](const Expression& condition) { return to_range_filter(condition, scan).has_value(); });
    scan.filters.insert(scan.filters.end(), stored.begin(), stored.end());
    return above(std::move(node), std::move(conditions));
  }

  LogicalPlan& plan_;
  const CancelToken& token_;
};

}  // namespace

void push_down_filters(LogicalPlan& plan, const CancelToken& token) {
  FilterPusher pusher(plan, token);
  for_each_root(plan, [&](LogicalPtr& root) { root = pusher.push(std::move(root), {}); });
}

}  // namespace pistachio
