#include "physical/physical_node.h"

#include "base/check.h"
#include "base/overloaded.h"
#include "expr/column_set.h"

namespace pistachio {

namespace {

using Need = Requirement::Kind;

std::vector<std::vector<Requirement>> join_alternatives(const PhysicalJoin& join) {
  std::vector<std::vector<Requirement>> alternatives = {{{Need::Single, {}}, {Need::Single, {}}}};
  // Build rows may be output only once: with a replicated build side no rank could decide that alone.
  bool gives_build_rows = join.kind == JoinKind::Right || join.kind == JoinKind::Full || !gives_left_columns(join.kind);
  if (!gives_build_rows) alternatives.push_back({{Need::Once, {}}, {Need::Everywhere, {}}});
  if (!join.keys.empty()) {
    std::vector<ExpressionPtr> left;
    std::vector<ExpressionPtr> right;
    for (const JoinKey& key : join.keys) {
      left.push_back(key.left);
      right.push_back(key.right);
    }
    alternatives.push_back({{Need::Paired, std::move(left)}, {Need::Paired, std::move(right)}});
  }
  return alternatives;
}

std::vector<std::vector<Requirement>> group_alternatives(const std::vector<ColumnId>& groups, const ColumnRegistry& columns) {
  std::vector<std::vector<Requirement>> alternatives = {{{Need::Single, {}}}};
  if (groups.empty()) return alternatives;
  std::vector<ExpressionPtr> keys;
  for (ColumnId group : groups) keys.push_back(columns.reference(group));
  alternatives.push_back({{Need::Together, std::move(keys)}});
  return alternatives;
}

}  // namespace

std::string_view exchange_name(PhysicalExchange::Kind kind) {
  switch (kind) {
    case PhysicalExchange::Kind::Gather: return "gather";
    case PhysicalExchange::Kind::Broadcast: return "broadcast";
    case PhysicalExchange::Kind::Repartition: return "repartition";
    case PhysicalExchange::Kind::Scatter: return "scatter";
    case PhysicalExchange::Kind::Merge: return "merge";
    case PhysicalExchange::Kind::Range: return "range";
    case PhysicalExchange::Kind::RankByRank: return "rank by rank";
    case PhysicalExchange::Kind::SpreadBuild: return "spread";
    case PhysicalExchange::Kind::ToCombiner: return "to combiner";
  }
  return "";
}

bool goes_to_first_rank(PhysicalExchange::Kind kind) {
  return kind == PhysicalExchange::Kind::Gather || kind == PhysicalExchange::Kind::Merge || kind == PhysicalExchange::Kind::RankByRank;
}

std::vector<LogicalType> PhysicalPlan::types_of(const std::vector<ColumnId>& ids) const {
  std::vector<LogicalType> types;
  types.reserve(ids.size());
  for (ColumnId id : ids) types.push_back(columns.type(id));
  return types;
}

std::vector<std::vector<Requirement>> input_alternatives(const PhysicalNode& node, const ColumnRegistry& columns) {
  using Alternatives = std::vector<std::vector<Requirement>>;
  return std::visit(
      Overloaded{[](const PhysicalScan&) { return Alternatives{{}}; }, [](const PhysicalValues&) { return Alternatives{{}}; },
                 [](const PhysicalSharedRead&) { return Alternatives{{}}; }, [](const PhysicalWorkingRead&) { return Alternatives{{}}; },
                 // A round ends only when all its rows are known.
                 [](const PhysicalRecursion&) {
                   return Alternatives{{{Need::Single, {}}, {Need::Single, {}}}};
                 },
                 [](const PhysicalJoin& join) { return join_alternatives(join); },
                 [&](const PhysicalAggregate& aggregate) {
                   if (aggregate.stage == AggregateStage::Partial || aggregate.stage == AggregateStage::Combine)
                     return Alternatives{{{Need::Once, {}}}};
                   return group_alternatives(aggregate.groups, columns);
                 },
                 [&](const PhysicalGroupLimit& limit) { return group_alternatives(limit.groups, columns); },
                 [&](const PhysicalWindow& window) { return group_alternatives(window.partition, columns); },
                 [](const PhysicalSort& sort) {
                   return Alternatives{{{sort.on_each_rank ? Need::Once : Need::Single, {}}}};
                 },
                 [](const PhysicalLimit& limit) {
                   return Alternatives{{{limit.on_each_rank ? Need::Once : Need::Single, {}}}};
                 },
                 [](const PhysicalExchange&) {
                   return Alternatives{{{Need::Once, {}}}};
                 },
                 [&](const PhysicalUnion&) {
                   return Alternatives{std::vector<Requirement>(node.children.size(), {Need::Single, {}}),
                                       std::vector<Requirement>(node.children.size(), {Need::Once, {}})};
                 },
                 // Row by row: filter, project, repeat.
                 [](const auto&) {
                   return Alternatives{{{Need::Once, {}}}, {{Need::Everywhere, {}}}};
                 }},
      node.node);
}

namespace {

using Keys = std::vector<ExpressionPtr>;

// The same distribution with keys in terms of the new layout; scattered if a key is not available there.
Distribution renamed(const Distribution& distribution, const std::function<ExpressionPtr(const ExpressionPtr&)>& new_key) {
  if (distribution.kind != Distribution::Kind::Hashed) return distribution;
  std::vector<Keys> left;
  auto rename = [&](Keys keys) {
    for (ExpressionPtr& key : keys) {
      key = new_key(key);
      if (!key) return;
    }
    left.push_back(std::move(keys));
  };
  rename(distribution.keys);
  for (const Keys& keys : distribution.equal_keys) rename(keys);
  if (left.empty()) return {Distribution::Kind::Scattered, {}, {}};
  Distribution made{Distribution::Kind::Hashed, std::move(left.front()), {}};
  made.equal_keys.assign(left.begin() + 1, left.end());
  return made;
}

Distribution kept(const Distribution& distribution, const std::vector<ColumnId>& layout) {
  ColumnSet columns(layout.begin(), layout.end());
  return renamed(distribution, [&](const ExpressionPtr& key) { return is_computed_from(*key, columns) ? key : nullptr; });
}

Distribution projected(const Distribution& distribution, const PhysicalProject& project, const PhysicalNode& node,
                       const PhysicalPlan& plan) {
  return renamed(distribution, [&](const ExpressionPtr& key) -> ExpressionPtr {
    for (size_t i = 0; i < project.columns.size(); ++i) {
      if (same_expression(*project.columns[i], *key)) return plan.columns.reference(node.layout[i]);
    }
    return nullptr;
  });
}

Distribution exchanged(const PhysicalExchange& exchange) {
  switch (exchange.kind) {
    case PhysicalExchange::Kind::Gather:
    case PhysicalExchange::Kind::Merge:
    case PhysicalExchange::Kind::RankByRank: return {Distribution::Kind::Single, {}, {}};
    case PhysicalExchange::Kind::Broadcast: return {Distribution::Kind::Replicated, {}, {}};
    // Ignores spread keys; the join above accounts for them (spreads_keys).
    case PhysicalExchange::Kind::Repartition:
    case PhysicalExchange::Kind::SpreadBuild: return {Distribution::Kind::Hashed, exchange.keys, {}};
    case PhysicalExchange::Kind::Scatter:
    case PhysicalExchange::Kind::ToCombiner:
    case PhysicalExchange::Kind::Range: return {Distribution::Kind::Scattered, {}, {}};
  }
  fail_check(__FILE__, __LINE__, "unknown exchange");
}

// Whether rows of frequent keys are spread over all ranks.
bool spreads_keys(const PhysicalNode& node) {
  const auto* exchange = node.children[0]->as<PhysicalExchange>();
  return exchange != nullptr && exchange->spreads;
}

Distribution joined(const PhysicalJoin& join, const PhysicalNode& node) {
  const Distribution& left = node.children[0]->distribution;
  const Distribution& right = node.children[1]->distribution;
  // Rows padded with NULL on the left have no left key.
  bool has_foreign_rows = join.kind == JoinKind::Right || join.kind == JoinKind::Full;
  bool is_single = left.kind == Distribution::Kind::Single && right.kind == Distribution::Kind::Single;
  if (!gives_left_columns(join.kind)) return kept(right, node.layout);
  if ((has_foreign_rows || spreads_keys(node)) && !is_single) return {Distribution::Kind::Scattered, {}, {}};
  Distribution both = left;
  bool are_paired = left.kind == Distribution::Kind::Hashed && right.kind == Distribution::Kind::Hashed;
  if (join.kind == JoinKind::Inner && are_paired) {
    // Both sides were hashed by the join keys, which are equal in every row.
    both.equal_keys.push_back(right.keys);
    both.equal_keys.insert(both.equal_keys.end(), right.equal_keys.begin(), right.equal_keys.end());
  }
  return kept(both, node.layout);
}

}  // namespace

Distribution given_distribution(const PhysicalNode& node, const PhysicalPlan& plan) {
  return std::visit(
      Overloaded{[&](const PhysicalScan& scan) {
                   if (scan.is_everywhere) return Distribution{Distribution::Kind::Replicated, {}, {}};
                   return Distribution{scan.is_split ? Distribution::Kind::Scattered : Distribution::Kind::Single, {}, {}};
                 },
                 [](const PhysicalExchange& exchange) { return exchanged(exchange); },
                 [](const PhysicalValues&) {
                   return Distribution{Distribution::Kind::Single, {}, {}};
                 },
                 [](const PhysicalRecursion&) {
                   return Distribution{Distribution::Kind::Single, {}, {}};
                 },
                 [](const PhysicalWorkingRead&) {
                   return Distribution{Distribution::Kind::Single, {}, {}};
                 },
                 [&](const PhysicalProject& project) { return projected(node.children[0]->distribution, project, node, plan); },
                 [&](const PhysicalJoin& join) { return joined(join, node); },
                 [&](const PhysicalUnion&) {
                   bool is_single = true;
                   for (const PhysicalPtr& child : node.children)
                     is_single = is_single && child->distribution.kind == Distribution::Kind::Single;
                   return Distribution{is_single ? Distribution::Kind::Single : Distribution::Kind::Scattered, {}, {}};
                 },
                 [&](const PhysicalSharedRead& read) {
                   const PhysicalNode& source = *plan.shared[read.shared];
                   return renamed(source.distribution, [&](const ExpressionPtr& key) -> ExpressionPtr {
                     if (key->kind() != ExpressionKind::Column) return nullptr;
                     for (size_t i = 0; i < read.places.size(); ++i) {
                       if (source.layout[read.places[i]] == key->column_id()) return plan.columns.reference(node.layout[i]);
                     }
                     return nullptr;
                   });
                 },
                 // Rows stay where they are: filter, aggregate, sort, limits, windows, repeat.
                 [&](const auto&) { return kept(node.children[0]->distribution, node.layout); }},
      node.node);
}

void for_each_expression(const PhysicalNode& node, const std::function<void(const ExpressionPtr&, int child)>& visit) {
  std::visit(Overloaded{[&](const PhysicalFilter& filter) {
                          for (const ExpressionPtr& condition : filter.conditions) visit(condition, 0);
                        },
                        [&](const PhysicalProject& project) {
                          for (const ExpressionPtr& column : project.columns) visit(column, 0);
                        },
                        [&](const PhysicalJoin& join) {
                          for (const JoinKey& key : join.keys) {
                            visit(key.left, 0);
                            visit(key.right, 1);
                          }
                          for (const JoinKey& key : join.compared_keys) {
                            visit(key.left, 0);
                            visit(key.right, 1);
                          }
                          for (const JoinBound& bound : join.bounds) {
                            visit(bound.left, 0);
                            visit(bound.right, 1);
                          }
                          for (const ExpressionPtr& condition : join.conditions) visit(condition, -1);
                          for (const ExpressionPtr& comparison : join.comparisons) visit(comparison, -1);
                        },
                        [&](const PhysicalAggregate& aggregate) {
                          if (aggregate.stage == AggregateStage::Final || aggregate.stage == AggregateStage::Combine) return;
                          for (const AggregateCall& call : aggregate.calls) {
                            if (call.argument) visit(call.argument, 0);
                            if (call.filter) visit(call.filter, 0);
                          }
                        },
                        [&](const PhysicalSort& sort) {
                          for (const SortKey& key : sort.keys) visit(key.expression, 0);
                        },
                        [&](const PhysicalGroupLimit& limit) {
                          for (const SortKey& key : limit.keys) visit(key.expression, 0);
                        },
                        [&](const PhysicalWindow& window) {
                          for (const SortKey& key : window.order) visit(key.expression, 0);
                          for (const WindowCall& call : window.calls) {
                            for_each_expression(const_cast<WindowCall&>(call), [&](ExpressionPtr& expression) { visit(expression, 0); });
                          }
                        },
                        [&](const PhysicalExchange& exchange) {
                          for (const ExpressionPtr& key : exchange.keys) visit(key, 0);
                          for (const SortKey& key : exchange.order) visit(key.expression, 0);
                        },
                        [](const auto&) {}},
             node.node);
}

}  // namespace pistachio
