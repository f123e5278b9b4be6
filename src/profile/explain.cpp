#include "profile/explain.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/overloaded.h"
#include "physical/host_work.h"
#include "profile/profile_text.h"

namespace pistachio {

namespace {

using Json = nlohmann::ordered_json;

struct Described {
  std::string name;
  std::vector<std::pair<std::string, std::string>> details;
};

std::string_view join_name(JoinKind kind) {
  switch (kind) {
    case JoinKind::Inner: return "inner";
    case JoinKind::Left: return "left";
    case JoinKind::Right: return "right";
    case JoinKind::Full: return "full";
    case JoinKind::Semi: return "semi";
    case JoinKind::Anti: return "anti";
    case JoinKind::RightSemi: return "right semi";
    case JoinKind::RightAnti: return "right anti";
    case JoinKind::Mark: return "mark";
    case JoinKind::Single: return "single";
  }
  return "";
}

class Explainer {
 public:
  Explainer(const PhysicalPlan& plan, const ExplainOptions& options)
      : plan_(plan), profile_(options.profile), runs_on_gpu_(options.runs_on_gpu), numbers_(step_numbers(plan)) {}

  std::string name(const PhysicalNode& node) { return describe_work(node).name; }

  void text(const PhysicalNode& node, int depth, std::vector<std::string>& lines) {
    Described described = describe(node);
    std::string indent(static_cast<size_t>(depth) * 2, ' ');
    std::string line = fmt::format("{}{}  (rows ~{:.0f}", indent, described.name, std::round(node.estimated_rows));
    std::optional<StepProfile> step = profile_of(node);
    if (step) line += step->total_text();
    lines.push_back(line + ")");
    for (const auto& [name, value] : described.details) lines.push_back(fmt::format("{}    {}: {}", indent, name, value));
    if (step) {
      for (const std::string& more : step->rank_lines()) lines.push_back(fmt::format("{}    {}", indent, more));
    }
    for (const PhysicalPtr& child : node.children) text(*child, depth + 1, lines);
  }

  Json json(const PhysicalNode& node) {
    Described described = describe(node);
    Json made = {{"operator", described.name}, {"estimated_rows", std::round(node.estimated_rows)}};
    for (const auto& [name, value] : described.details) made[name] = value;
    if (std::optional<StepProfile> step = profile_of(node)) step->add_to(made);
    made["inputs"] = Json::array();
    for (const PhysicalPtr& child : node.children) made["inputs"].push_back(json(*child));
    return made;
  }

 private:
  std::optional<StepProfile> profile_of(const PhysicalNode& node) const {
    if (profile_ == nullptr) return std::nullopt;
    using Kind = StepProfile::Kind;
    Kind kind = node.as<PhysicalExchange>() != nullptr ? Kind::Exchange : node.as<PhysicalJoin>() != nullptr ? Kind::Join : Kind::Other;
    return StepProfile(profile_->step(numbers_.at(&node)), kind);
  }

  std::string name_of(ColumnId id) const { return fmt::format("{}#{}", plan_.columns.name(id), id.value); }

  std::string show(const Expression& expression) const {
    return expression_text(expression, [&](ColumnId id) { return name_of(id); });
  }
  std::string show(const std::vector<ExpressionPtr>& expressions) const {
    std::vector<std::string> parts;
    for (const ExpressionPtr& expression : expressions) parts.push_back(show(*expression));
    return fmt::format("{}", fmt::join(parts, " AND "));
  }
  std::string show(const std::vector<ColumnId>& columns) const {
    std::vector<std::string> parts;
    for (ColumnId column : columns) parts.push_back(name_of(column));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  Described describe(const PhysicalNode& node) const {
    Described made = describe_work(node);
    if (!runs_on_gpu_) return made;
    const std::set<std::string> names = host_work(node);
    if (!names.empty()) made.details.emplace_back("on the host", fmt::format("{}", fmt::join(names, ", ")));
    return made;
  }

  Described describe_work(const PhysicalNode& node) const {
    return std::visit(
        Overloaded{[&](const PhysicalScan& scan) { return describe_scan(node, scan); },
                   [&](const PhysicalValues&) {
                     return Described{"values", {{"columns", show(node.layout)}}};
                   },
                   [&](const PhysicalFilter& filter) {
                     return Described{"filter", {{"conditions", show(filter.conditions)}}};
                   },
                   [&](const PhysicalProject& project) { return describe_project(node, project); },
                   [&](const PhysicalJoin& join) { return describe_join(join); },
                   [&](const PhysicalAggregate& aggregate) { return describe_aggregate(aggregate); },
                   [&](const PhysicalSort& sort) { return describe_sort(sort); },
                   [&](const PhysicalLimit& limit) {
                     std::string name = limit.limit ? fmt::format("limit {}", *limit.limit) : "limit";
                     if (limit.offset > 0) name += fmt::format(" offset {}", limit.offset);
                     if (limit.on_each_rank) name += " of each rank";
                     return Described{name, {}};
                   },
                   [&](const PhysicalGroupLimit& limit) { return describe_group_limit(limit); },
                   [&](const PhysicalWindow& window) { return describe_window(window); },
                   [&](const PhysicalUnion&) {
                     return Described{"union all", {}};
                   },
                   [&](const PhysicalSharedRead& read) {
                     return Described{fmt::format("read common table {}", read.shared), {}};
                   },
                   [&](const PhysicalRecursion& recursion) {
                     return Described{fmt::format("recursion {}{}", recursion.working_table, recursion.keeps_all ? "" : " distinct"), {}};
                   },
                   [&](const PhysicalWorkingRead& read) {
                     return Described{fmt::format("read recursion {}", read.working_table), {}};
                   },
                   [&](const PhysicalRepeat& repeat) {
                     return Described{"repeat", {{"times", name_of(repeat.times)}}};
                   },
                   [&](const PhysicalExchange& exchange) { return describe_exchange(exchange); }},
        node.node);
  }

  Described describe_scan(const PhysicalNode& node, const PhysicalScan& scan) const {
    Described made{fmt::format("scan {}", scan.table->name()), {{"columns", show(node.layout)}}};
    if (!scan.conditions.empty()) made.details.emplace_back("filters", show(scan.conditions));
    if (!scan.row_tests.empty()) made.details.emplace_back("row tests", show(scan.row_tests));
    if (scan.table->has_footers()) {
      const ParquetTable& files = scan.table->files();
      if (files.files.size() < files.listing->files.size())
        made.details.emplace_back("files", fmt::format("{} of {}", files.files.size(), files.listing->files.size()));
    }
    for (const ScanJoinFilter& filter : scan.join_filters) {
      std::vector<ColumnId> columns;
      for (size_t place : filter.columns) columns.push_back(node.layout[place]);
      made.details.emplace_back("join filter", fmt::format("{} on {}", filter.number, show(columns)));
    }
    if (scan.top_filter) {
      const std::string key = name_of(node.layout[scan.top_filter->column]);
      made.details.emplace_back("top-n filter", fmt::format("{} on {}", scan.top_filter->number, key));
    }
    return made;
  }

  Described describe_sort(const PhysicalSort& sort) const {
    std::string name = sort.limit ? fmt::format("top {}", *sort.limit) : "sort";
    if (sort.on_each_rank) name += " of each rank";
    Described made{name, {{"keys", show(sort.keys)}}};
    if (sort.filter) made.details.emplace_back("gives top-n filter", fmt::format("{}", *sort.filter));
    return made;
  }

  Described describe_group_limit(const PhysicalGroupLimit& limit) const {
    std::string name = limit.limit ? fmt::format("limit {} of each group", *limit.limit) : "limit of each group";
    if (limit.offset > 0) name += fmt::format(" offset {}", limit.offset);
    Described made{name, {{"groups", show(limit.groups)}}};
    if (!limit.keys.empty()) made.details.emplace_back("keys", show(limit.keys));
    return made;
  }

  Described describe_exchange(const PhysicalExchange& exchange) const {
    std::string name(exchange_name(exchange.kind));
    if (exchange.combining.on_arrival) name += " on arrival";
    if (exchange.spreads) name += ", frequent keys stay";
    Described made{name, {}};
    std::vector<std::string> keys;
    for (const ExpressionPtr& key : exchange.keys) keys.push_back(show(*key));
    if (!keys.empty()) made.details.emplace_back("keys", fmt::format("{}", fmt::join(keys, ", ")));
    if (exchange.filter) made.details.emplace_back("gives join filter", fmt::format("{}", exchange.filter->number));
    if (!exchange.order.empty()) made.details.emplace_back("keys", show(exchange.order));
    return made;
  }

  Described describe_project(const PhysicalNode& node, const PhysicalProject& project) const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < project.columns.size(); ++i) {
      const Expression& column = *project.columns[i];
      bool passes = column.kind() == ExpressionKind::Column && column.column_id() == node.layout[i];
      parts.push_back(passes ? name_of(node.layout[i]) : fmt::format("{} AS {}", show(column), name_of(node.layout[i])));
    }
    return Described{"project", {{"columns", fmt::format("{}", fmt::join(parts, ", "))}}};
  }

  Described describe_join(const PhysicalJoin& join) const {
    bool is_hashed = !join.keys.empty() || !join.compared_keys.empty();
    std::string_view strategy = is_hashed ? "hash" : !join.bounds.empty() ? "range" : "loop";
    Described made{fmt::format("{} {} join", join_name(join.kind), strategy), {}};
    std::vector<std::string> keys;
    for (const JoinKey& key : join.keys)
      keys.push_back(fmt::format("{} {} {}", show(*key.left), key.null_safe ? "IS NOT DISTINCT FROM" : "=", show(*key.right)));
    if (!keys.empty()) made.details.emplace_back("keys", fmt::format("{}", fmt::join(keys, " AND ")));
    if (join.filter) made.details.emplace_back("gives join filter", fmt::format("{}", join.filter->number));
    std::vector<std::string> bounds;
    for (const JoinBound& bound : join.bounds)
      bounds.push_back(
          fmt::format("{} {}{} {}", show(*bound.left), bound.is_upper ? ">" : "<", bound.is_inclusive ? "=" : "", show(*bound.right)));
    if (!bounds.empty()) made.details.emplace_back("bounds", fmt::format("{}", fmt::join(bounds, " AND ")));
    if (!join.conditions.empty()) made.details.emplace_back("conditions", show(join.conditions));
    if (!join.comparisons.empty()) made.details.emplace_back("comparisons", show(join.comparisons));
    std::vector<std::string> compared;
    for (const JoinKey& key : join.compared_keys) compared.push_back(fmt::format("{} = {}", show(*key.left), show(*key.right)));
    if (!compared.empty()) made.details.emplace_back("comparisons", fmt::format("{}", fmt::join(compared, " AND ")));
    return made;
  }

  Described describe_aggregate(const PhysicalAggregate& aggregate) const {
    std::string_view stage = aggregate.stage == AggregateStage::Partial   ? "partial "
                             : aggregate.stage == AggregateStage::Combine ? "combining "
                             : aggregate.stage == AggregateStage::Final   ? "final "
                                                                          : "";
    Described made{fmt::format("{}aggregate", stage), {}};
    if (!aggregate.groups.empty()) made.details.emplace_back("groups", show(aggregate.groups));
    std::vector<std::string> parts;
    for (const AggregateCall& call : aggregate.calls) {
      std::string text =
          fmt::format("{}({}{})", call.function->name, call.distinct ? "DISTINCT " : "", call.argument ? show(*call.argument) : "*");
      if (call.filter) text += fmt::format(" FILTER (WHERE {})", show(*call.filter));
      parts.push_back(fmt::format("{} AS {}", text, name_of(call.id)));
    }
    if (!parts.empty()) made.details.emplace_back("calls", fmt::format("{}", fmt::join(parts, ", ")));
    return made;
  }

  Described describe_window(const PhysicalWindow& window) const {
    Described made{"window", {}};
    if (!window.partition.empty()) made.details.emplace_back("partitions", show(window.partition));
    if (!window.order.empty()) made.details.emplace_back("order", show(window.order));
    std::vector<std::string> parts;
    for (const WindowCall& call : window.calls) {
      std::string text = window_call_text(call, [&](ColumnId id) { return name_of(id); });
      if (call.order_keys < window.order.size()) text += fmt::format(" by {} of the order's keys", call.order_keys);
      parts.push_back(fmt::format("{} AS {}", text, name_of(call.id)));
    }
    made.details.emplace_back("calls", fmt::format("{}", fmt::join(parts, ", ")));
    return made;
  }

  std::string show(const std::vector<SortKey>& keys) const {
    std::vector<std::string> parts;
    for (const SortKey& key : keys) {
      bool is_usual = key.nulls_first == key.descending;
      parts.push_back(fmt::format("{}{}{}", show(*key.expression), key.descending ? " DESC" : "",
                                  is_usual ? "" : (key.nulls_first ? " NULLS FIRST" : " NULLS LAST")));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  const PhysicalPlan& plan_;
  const QueryProfile* profile_;
  const bool runs_on_gpu_;
  std::map<const PhysicalNode*, uint32_t> numbers_;
};

}  // namespace

std::vector<std::string> step_names(const PhysicalPlan& plan) {
  Explainer explainer(plan, {});
  const std::map<const PhysicalNode*, uint32_t> numbers = step_numbers(plan);
  std::vector<std::string> names(numbers.size());
  for (const auto& [node, number] : numbers) names[number] = explainer.name(*node);
  return names;
}

std::vector<std::string> explain_text(const PhysicalPlan& plan, const ExplainOptions& options) {
  Explainer explainer(plan, options);
  std::vector<std::string> lines;
  for (size_t i = 0; i < plan.shared.size(); ++i) {
    if (!plan.shared[i]) continue;
    lines.push_back(fmt::format("common table {}:", i));
    explainer.text(*plan.shared[i], 1, lines);
  }
  explainer.text(*plan.root, 0, lines);
  if (options.profile != nullptr) {
    add_query_text(*options.profile, lines);
    add_timeline_text(*options.profile, lines);
  }
  return lines;
}

std::string explain_json(const PhysicalPlan& plan, const ExplainOptions& options) {
  Explainer explainer(plan, options);
  Json made;
  made["plan"] = explainer.json(*plan.root);
  made["common_tables"] = Json::array();
  for (const PhysicalPtr& shared : plan.shared) {
    if (shared) made["common_tables"].push_back(explainer.json(*shared));
  }
  if (options.profile != nullptr) add_query_json(*options.profile, made);
  return made.dump(2);
}

}  // namespace pistachio
