// Derives conditions from others through equal columns: a = b and b = c imply a = c, a = b and a < 5 imply b < 5. So filters reach more
// scans, and join ordering sees every edge. Works bottom-up: each node reports the conditions that hold for all its rows, and joins add
// what they imply for their inputs. For outer joins only on the optional side, where rows that cannot match may be dropped; a filter on
// the preserved side would drop rows that must stay.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "expr/column_set.h"
#include "expr/function.h"
#include "expr/function_table.h"
#include "optimizer/column_classes.h"
#include "optimizer/column_equality.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

using Conditions = std::vector<ExpressionPtr>;

// Pairs grow with the square of the class size; larger classes have enough edges.
constexpr size_t kLargestClass = 8;

// Comparisons of a column with constants, also combined by AND and OR (IN lists): they hold for every equal value.
bool is_comparison(const Expression& expression) {
  switch (expression.kind()) {
    case ExpressionKind::Constant:
    case ExpressionKind::Column: return true;
    // Equal values may have different text: 0.0 and -0.0, 1 month and 30 days.
    case ExpressionKind::Cast: return !expression.can_raise() && !expression.type().is_text() && is_comparison(*expression.children()[0]);
    case ExpressionKind::Call: {
      std::string_view name = expression.function().name;
      if (name != "=" && name != "<" && name != "<=" && name != ">" && name != ">=") return false;
      break;
    }
    case ExpressionKind::And:
    case ExpressionKind::Or: break;
    default: return false;
  }
  return std::all_of(expression.children().begin(), expression.children().end(),
                     [](const ExpressionPtr& child) { return is_comparison(*child); });
}

// The only column of the condition, if there is exactly one.
std::optional<ColumnId> compared_column(const Expression& condition) {
  bool is_whole = condition.kind() == ExpressionKind::Call || condition.kind() == ExpressionKind::Or;
  if (!is_whole || !is_comparison(condition)) return std::nullopt;
  ColumnSet columns = columns_of(condition);
  return columns.size() == 1 ? std::optional(*columns.begin()) : std::nullopt;
}

class Implier {
 public:
  Implier(const LogicalPlan& plan, const CancelToken& token) : plan_(plan), token_(token) {}

  // Adds implied conditions to the node and below it. Returns the conditions that hold for all its rows.
  Conditions visit(LogicalPtr& node) {
    stop_if_cancelled(token_);
    if (auto* filter = node->as<LogicalFilter>()) {
      Conditions known = visit(node->children[0]);
      append(known, filter->conditions);
      append(filter->conditions, implied_comparisons(known, output_set(*node)), known);
      return known;
    }
    if (auto* join = node->as<LogicalJoin>()) return join->kind == JoinKind::Inner ? visit_region(*node) : visit_join(*node, *join);
    std::vector<Conditions> known;
    for (LogicalPtr& child : node->children) known.push_back(visit(child));
    if (const auto* scan = node->as<LogicalScan>()) return scan->filters;
    if (const auto* project = node->as<LogicalProject>()) return renamed(known[0], *project);
    if (const auto* aggregate = node->as<LogicalAggregate>()) {
      ColumnSet groups(aggregate->groups.begin(), aggregate->groups.end());
      std::erase_if(known[0], [&](const ExpressionPtr& one) { return columns_of(*one).empty() || !is_subset(columns_of(*one), groups); });
      return known[0];
    }
    bool passes = node->as<LogicalSort>() != nullptr || node->as<LogicalLimit>() != nullptr || node->as<LogicalWindow>() != nullptr;
    return passes ? known[0] : Conditions{};
  }

 private:
  static void append(Conditions& target, const Conditions& more) { target.insert(target.end(), more.begin(), more.end()); }
  static void append(Conditions& target, const Conditions& more, Conditions& known) {
    append(target, more);
    append(known, more);
  }

  // Equivalence classes of columns.
  static std::vector<std::vector<ColumnId>> classes_of(const Conditions& known) {
    ColumnClasses equal;
    ColumnSet columns;
    for (const ExpressionPtr& condition : known) {
      std::optional<ColumnPair> pair = as_column_equality(*condition);
      if (!pair) continue;
      equal.unite(pair->left, pair->right);
      columns.insert({pair->left, pair->right});
    }
    std::map<ColumnId, std::vector<ColumnId>> classes;
    for (ColumnId column : columns) classes[equal.find(column)].push_back(column);
    std::vector<std::vector<ColumnId>> made;
    for (auto& [root, members] : classes) made.push_back(std::move(members));
    return made;
  }

  // New comparisons for columns of `wanted`, implied by comparisons of equal columns.
  Conditions implied_comparisons(const Conditions& known, const ColumnSet& wanted) const {
    std::vector<std::vector<ColumnId>> classes = classes_of(known);
    std::unordered_map<int32_t, size_t> class_of;
    for (size_t i = 0; i < classes.size(); ++i) {
      for (ColumnId column : classes[i]) class_of.emplace(column.value, i);
    }
    std::unordered_set<const Expression*, HashExpression, SameExpression> seen;
    std::vector<Conditions> made_of_class(classes.size());
    for (const ExpressionPtr& condition : classes.empty() ? Conditions() : known) {
      std::optional<ColumnId> column = compared_column(*condition);
      auto own_class = column ? class_of.find(column->value) : class_of.end();
      if (own_class == class_of.end()) continue;
      if (seen.empty()) {
        for (const ExpressionPtr& one : known) seen.insert(one.get());
      }
      for (ColumnId other : classes[own_class->second]) {
        if (other == *column || !wanted.contains(other)) continue;
        ExpressionPtr same = replace_columns(condition, [&](ColumnId) { return plan_.columns.reference(other); });
        if (seen.insert(same.get()).second) made_of_class[own_class->second].push_back(std::move(same));
      }
    }
    Conditions made;
    for (const Conditions& of_class : made_of_class) append(made, of_class);
    return made;
  }

  // Adds missing equalities between inputs, for columns that are equal through others.
  Conditions implied_equalities(const Conditions& known, const std::vector<ColumnSet>& inputs) const {
    std::unordered_map<int32_t, size_t> input_of;
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (ColumnId column : inputs[i]) input_of.emplace(column.value, i);
    }
    std::set<std::pair<ColumnId, ColumnId>> equated;
    for (const ExpressionPtr& condition : known) {
      if (std::optional<ColumnPair> pair = as_column_equality(*condition)) equated.insert(std::minmax(pair->left, pair->right));
    }
    auto is_same_input = [&](ColumnId left, ColumnId right) {
      auto first = input_of.find(left.value);
      auto second = input_of.find(right.value);
      return first == second || (first != input_of.end() && second != input_of.end() && first->second == second->second);
    };
    Conditions made;
    for (const std::vector<ColumnId>& members : classes_of(known)) {
      if (members.size() > kLargestClass) continue;
      for (size_t i = 0; i < members.size(); ++i) {
        for (size_t j = i + 1; j < members.size(); ++j) {
          if (is_same_input(members[i], members[j]) || equated.contains(std::minmax(members[i], members[j]))) continue;
          made.push_back(make_call("=", {plan_.columns.reference(members[i]), plan_.columns.reference(members[j])}));
        }
      }
    }
    return made;
  }

  // The inputs of adjacent inner joins, and their conditions.
  void take_region(LogicalNode& node, std::vector<ColumnSet>& inputs, Conditions& known) {
    append(known, node.as<LogicalJoin>()->conditions);
    for (LogicalPtr& child : node.children) {
      const auto* join = child->as<LogicalJoin>();
      if (join != nullptr && join->kind == JoinKind::Inner) {
        take_region(*child, inputs, known);
      } else {
        append(known, visit(child));
        inputs.push_back(output_set(*child));
      }
    }
  }

  Conditions visit_region(LogicalNode& node) {
    std::vector<ColumnSet> inputs;
    Conditions known;
    take_region(node, inputs, known);
    Conditions& target = node.as<LogicalJoin>()->conditions;
    append(target, implied_comparisons(known, output_set(node)), known);
    append(target, implied_equalities(known, inputs), known);
    return known;
  }

  Conditions visit_join(LogicalNode& node, LogicalJoin& join) {
    Conditions left = visit(node.children[0]);
    Conditions right = visit(node.children[1]);
    if (join.kind == JoinKind::Full) return {};
    bool keeps_left = join.kind != JoinKind::Right;
    Conditions known = left;
    append(known, right);
    append(known, join.conditions);
    ColumnSet optional = output_set(keeps_left ? node.right() : node.left());
    append(join.conditions, implied_comparisons(known, optional), known);
    if (join.kind != JoinKind::Semi) return keeps_left ? left : right;
    // All its rows have a match.
    Conditions more = implied_comparisons(known, output_set(node.left()));
    append(join.conditions, more, left);
    return left;
  }

  // Maps the conditions of a projection's input to its output.
  Conditions renamed(const Conditions& known, const LogicalProject& project) const {
    if (project.keeps_input) return known;
    std::map<ColumnId, ColumnId> names;
    for (const NamedExpression& column : project.columns) {
      if (column.expression->kind() == ExpressionKind::Column) names.emplace(column.expression->column_id(), column.id);
    }
    Conditions made;
    for (const ExpressionPtr& condition : known) {
      ColumnSet columns = columns_of(*condition);
      bool passes = std::all_of(columns.begin(), columns.end(), [&](ColumnId column) { return names.contains(column); });
      if (!passes) continue;
      made.push_back(replace_columns(condition, [&](ColumnId column) { return plan_.columns.reference(names.at(column)); }));
    }
    return made;
  }

  const LogicalPlan& plan_;
  const CancelToken& token_;
};

}  // namespace

void imply_conditions(LogicalPlan& plan, const CancelToken& token) {
  Implier implier(plan, token);
  for_each_root(plan, [&](LogicalPtr& root) { implier.visit(root); });
}

}  // namespace pistachio
