// A logical plan as text, one node per line, for the expectations of binder and optimizer tests. Columns are shown by name; all but the
// first of several with the same name get a number.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/overloaded.h"
#include "expr/expression.h"
#include "logical/logical_node.h"

namespace pistachio {

class LogicalPlanText {
 public:
  explicit LogicalPlanText(const LogicalPlan& plan) : plan_(plan) {
    std::map<std::string, int> uses;
    for (size_t i = 0; i < plan.columns.size(); ++i) {
      const std::string& name = plan.columns.name(ColumnId{static_cast<int32_t>(i)});
      int use = ++uses[name];
      names_.push_back(use == 1 ? name : fmt::format("{}.{}", name, use));
    }
  }

  std::string text() const {
    std::string made;
    for (size_t i = 0; i < plan_.shared.size(); ++i) {
      if (plan_.shared[i]) made += fmt::format("common table {}:\n{}", i, text(*plan_.shared[i], 1));
    }
    return made + text(*plan_.root, 0);
  }

  std::string text(const LogicalNode& node, int depth) const {
    std::string made = fmt::format("{:{}}{}\n", "", depth * 2, line(node));
    for (const LogicalPtr& child : node.children) made += text(*child, depth + 1);
    return made;
  }

 private:
  const std::string& name(ColumnId id) const { return names_.at(static_cast<size_t>(id.value)); }
  std::string show(const Expression& expression) const {
    return expression_text(expression, [&](ColumnId id) { return name(id); });
  }

  template <typename Items, typename Show>
  static std::string joined(const Items& items, std::string_view separator, const Show& show) {
    std::vector<std::string> parts;
    for (const auto& item : items) parts.push_back(show(item));
    return fmt::format("{}", fmt::join(parts, separator));
  }
  std::string show(const std::vector<ColumnId>& columns) const {
    return joined(columns, ", ", [&](ColumnId id) { return name(id); });
  }
  std::string show(const std::vector<ExpressionPtr>& conditions) const {
    return joined(conditions, " AND ", [&](const ExpressionPtr& condition) { return show(*condition); });
  }
  std::string show(const std::vector<SortKey>& keys) const {
    return joined(keys, ", ", [&](const SortKey& key) {
      std::string_view nulls = key.nulls_first == key.descending ? "" : key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
      return fmt::format("{}{}{}", show(*key.expression), key.descending ? " DESC" : "", nulls);
    });
  }
  std::string show(const AggregateCall& call) const {
    std::string filter = call.filter ? fmt::format(" FILTER {}", show(*call.filter)) : "";
    std::string argument = call.argument ? show(*call.argument) : "*";
    return fmt::format("{}({}{}){} AS {}", call.function->name, call.distinct ? "DISTINCT " : "", argument, filter, name(call.id));
  }
  std::string show(const NamedExpression& column) const {
    bool passes = column.expression->kind() == ExpressionKind::Column && column.expression->column_id() == column.id;
    return passes ? name(column.id) : fmt::format("{} AS {}", show(*column.expression), name(column.id));
  }

  static std::string_view kind_name(JoinKind kind) {
    static constexpr std::string_view kNames[] = {"inner", "left",       "right",      "full", "semi",
                                                  "anti",  "right semi", "right anti", "mark", "single"};
    return kNames[static_cast<size_t>(kind)];
  }

  std::string line(const LogicalJoin& join) const {
    std::string made = fmt::format("{}{} join", join.dependent ? "dependent " : "", kind_name(join.kind));
    if (!join.conditions.empty()) made += fmt::format(" on {}", show(join.conditions));
    if (!join.comparisons.empty()) made += fmt::format(" comparing {}", show(join.comparisons));
    if (join.kind == JoinKind::Mark) made += fmt::format(" AS {}", name(join.mark));
    if (!join.output.empty()) made += fmt::format(" -> {}", show(join.output));
    return made;
  }

  std::string line(const LogicalLimit& limit) const {
    std::string made = limit.limit ? fmt::format("limit {}", *limit.limit) : "limit";
    if (limit.offset > 0) made += fmt::format(" offset {}", limit.offset);
    if (!limit.groups.empty()) made += fmt::format(" of each {}", show(limit.groups));
    if (!limit.keys.empty()) made += fmt::format(" by {}", show(limit.keys));
    return made;
  }

  std::string line(const LogicalWindow& window) const {
    std::string made = "window";
    if (!window.partition.empty()) made += fmt::format(" by {}", show(window.partition));
    if (!window.order.empty()) made += fmt::format(" order {}", show(window.order));
    made += ": " + joined(window.calls, ", ", [&](const WindowCall& call) {
      std::string keys = call.order_keys < window.order.size() ? fmt::format(" of {} keys", call.order_keys) : "";
      return fmt::format("{}{} AS {}", window_call_text(call, [&](ColumnId id) { return name(id); }), keys, name(call.id));
    });
    return window.kept ? fmt::format("{} beside {}", made, show(*window.kept)) : made;
  }

  std::string line(const LogicalScan& scan) const {
    std::string columns = joined(scan.columns, ", ", [&](const ScanColumn& column) { return name(column.id); });
    std::string made = fmt::format("scan {}({})", scan.table->name(), columns);
    if (!scan.filters.empty()) made += fmt::format(" where {}", show(scan.filters));
    return made;
  }

  std::string line(const LogicalSetOperation& operation) const {
    static constexpr std::string_view kNames[] = {"union", "intersect", "except"};
    return fmt::format("{}{}{} {}", operation.working_table ? "recursive " : "", kNames[static_cast<size_t>(operation.kind)],
                       operation.all ? " all" : "", show(operation.columns));
  }

  std::string line(const LogicalNode& node) const {
    return std::visit(
        Overloaded{[&](const LogicalScan& scan) { return line(scan); },
                   [&](const LogicalValues& values) {
                     return fmt::format("values({}) of {} rows", show(values.columns), values.rows.size());
                   },
                   [&](const LogicalFilter& filter) { return fmt::format("filter {}", show(filter.conditions)); },
                   [&](const LogicalProject& project) {
                     std::string columns = joined(project.columns, ", ", [&](const NamedExpression& column) { return show(column); });
                     return (project.keeps_input ? "project *, " : "project ") + columns;
                   },
                   [&](const LogicalJoin& join) { return line(join); },
                   [&](const LogicalAggregate& aggregate) {
                     std::string calls = joined(aggregate.calls, ", ", [&](const AggregateCall& call) { return show(call); });
                     std::string by = aggregate.groups.empty() ? "" : fmt::format(" by {}", show(aggregate.groups));
                     return fmt::format("aggregate{}{}{}", by, calls.empty() ? "" : ": ", calls);
                   },
                   [&](const LogicalSort& sort) {
                     std::string top = sort.limit ? fmt::format("top {}", *sort.limit) : "sort";
                     return fmt::format("{} by {}", top, show(sort.keys));
                   },
                   [&](const LogicalLimit& limit) { return line(limit); },
                   [&](const LogicalWindow& window) { return line(window); },
                   [&](const LogicalSetOperation& operation) { return line(operation); },
                   [&](const LogicalSharedRead& read) {
                     std::string_view table = read.is_working_table ? "working table" : "common table";
                     return fmt::format("read {} {}({})", table, read.shared, show(read.columns));
                   },
                   [&](const LogicalRepeat& repeat) { return fmt::format("repeat {}", name(repeat.times)); }},
        node.node);
  }

  const LogicalPlan& plan_;
  std::vector<std::string> names_;
};

inline std::string logical_text(const LogicalPlan& plan) {
  return LogicalPlanText(plan).text();
}

}  // namespace pistachio
