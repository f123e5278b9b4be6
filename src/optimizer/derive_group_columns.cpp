// Computes group columns that are expressions of other group columns from the groups instead of grouping by them: GROUP BY a, a - 1 has the
// groups of GROUP BY a. Constants among the group columns likewise.
#include <algorithm>
#include <map>

#include "expr/column_set.h"
#include "expr/stability.h"
#include "expr/type_rules.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

// Whether equal values are indistinguishable. Zeros of different sign are not, nor are intervals of a month and of 30 days.
bool has_one_form(LogicalType type) {
  switch (type.kind()) {
    case TypeKind::Boolean:
    case TypeKind::Date:
    case TypeKind::Timestamp:
    case TypeKind::Varchar: return true;
    default: return is_exact_number(type);
  }
}

class GroupColumns {
 public:
  explicit GroupColumns(LogicalPlan& plan) : plan_(plan) {}

  void visit(LogicalPtr& node) {
    auto* aggregate = node->as<LogicalAggregate>();
    if (aggregate == nullptr || aggregate->groups.size() < 2 || !aggregate->sets.empty()) return;
    const auto* project = node->children[0]->as<LogicalProject>();
    if (project == nullptr) return;
    split(*aggregate, *project);
    if (derived_.empty()) return;
    LogicalProject results;
    for (ColumnId group : kept_) results.columns.push_back({group, plan_.columns.reference(group)});
    for (const AggregateCall& call : aggregate->calls) results.columns.push_back({call.id, plan_.columns.reference(call.id)});
    std::move(derived_.begin(), derived_.end(), std::back_inserter(results.columns));
    aggregate->groups = kept_;
    LogicalPtr input = std::move(node);
    node = make_node(std::move(results), std::move(input));
  }

 private:
  // Groups are either plain columns of the projection's input or computed by it.
  void split(const LogicalAggregate& aggregate, const LogicalProject& project) {
    kept_.clear();
    derived_.clear();
    std::map<ColumnId, ExpressionPtr> computed;
    for (const NamedExpression& column : project.columns) computed.emplace(column.id, column.expression);
    std::map<ColumnId, ColumnId> groups;  // of columns of the input
    for (ColumnId group : aggregate.groups) {
      const auto found = computed.find(group);
      if (!has_one_form(plan_.columns.type(group))) continue;
      if (found == computed.end())
        groups.emplace(group, group);
      else if (found->second->kind() == ExpressionKind::Column)
        groups.emplace(found->second->column_id(), group);
    }
    for (ColumnId group : aggregate.groups) {
      const auto found = computed.find(group);
      if (found == computed.end() || found->second->kind() == ExpressionKind::Column || !is_derived(*found->second, groups)) {
        kept_.push_back(group);
        continue;
      }
      derived_.push_back(
          {group, replace_columns(found->second, [&](ColumnId column) { return plan_.columns.reference(groups.at(column)); })});
    }
    // No input rows, no groups; without group columns there would be one.
    if (!kept_.empty()) return;
    kept_.push_back(derived_.front().id);
    derived_.erase(derived_.begin());
  }

  static bool is_derived(const Expression& expression, const std::map<ColumnId, ColumnId>& groups) {
    const ColumnSet used = columns_of(expression);
    return is_stable(expression) && std::all_of(used.begin(), used.end(), [&](ColumnId column) { return groups.contains(column); });
  }

  LogicalPlan& plan_;
  std::vector<ColumnId> kept_;
  std::vector<NamedExpression> derived_;
};

}  // namespace

void derive_group_columns(LogicalPlan& plan, const CancelToken& token) {
  GroupColumns rule(plan);
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, [&](LogicalPtr& node) { rule.visit(node); }); });
}

}  // namespace pistachio
