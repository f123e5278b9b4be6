#include "optimizer/cardinality.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "expr/function.h"
#include "optimizer/column_classes.h"
#include "optimizer/column_statistics.h"

namespace pistachio {

namespace {

// Defaults without statistics.
constexpr double kEqualShare = 0.05;
constexpr double kPatternShare = 0.1;
constexpr double kOtherShare = 0.25;

bool contains(const std::vector<ColumnId>& columns, ColumnId column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

// For the source itself, ignoring filters in it or above it.
DistinctValues source_values(const ColumnSource& source, const CardinalityEstimator& estimator) {
  if (const auto* scan = source.node->as<LogicalScan>()) {
    if (const ScanColumn* stored = find_scan_column(*scan, source.column)) return stored_values(*scan, *stored);
  }
  return {estimator.distinct_values(source.column, *source.node), true};
}

double source_rows(const ColumnSource& source, const CardinalityEstimator& estimator) {
  if (const auto* scan = source.node->as<LogicalScan>()) return static_cast<double>(std::max<int64_t>(1, scan->table->rows()));
  return estimator.rows(*source.node);
}

}  // namespace

double joint_share(std::vector<const ConditionEstimate*> conditions) {
  // The most selective first, so that the redundant ones are the least selective.
  std::stable_sort(conditions.begin(), conditions.end(),
                   [](const ConditionEstimate* left, const ConditionEstimate* right) { return left->share < right->share; });
  struct Key {
    double combinations = 1;
    double most = 0;
    double largest = 0;
  };
  std::map<std::pair<const LogicalNode*, const LogicalNode*>, Key> keys;
  ColumnClasses classes;
  double share = 1;
  for (const ConditionEstimate* condition : conditions) {
    if (!condition->is_equality) {
      share *= condition->share;
      continue;
    }
    if (!classes.unite(condition->left, condition->right)) continue;
    Key& key = keys[std::minmax(condition->left_source, condition->right_source)];
    key.combinations /= condition->share;
    key.most = condition->most_combinations;
    key.largest = std::max(key.largest, 1 / condition->share);
  }
  for (const auto& [sources, key] : keys) share /= std::max(key.largest, std::min(key.combinations, key.most));
  return share;
}

std::optional<ColumnSource> CardinalityEstimator::source_of(ColumnId column, const LogicalNode& node) const {
  auto own_if = [&](bool is_own) { return is_own ? std::optional(ColumnSource{&node, column}) : std::nullopt; };
  auto is_wanted = [&](const auto& own) { return own.id == column; };
  if (const auto* join = node.as<LogicalJoin>()) return source_below_join(column, node, *join);
  if (const auto* scan = node.as<LogicalScan>()) return own_if(std::any_of(scan->columns.begin(), scan->columns.end(), is_wanted));
  if (const auto* values = node.as<LogicalValues>()) return own_if(contains(values->columns, column));
  if (const auto* project = node.as<LogicalProject>()) {
    auto own = std::find_if(project->columns.begin(), project->columns.end(), is_wanted);
    if (own == project->columns.end()) return project->keeps_input ? source_of(column, *node.children[0]) : std::nullopt;
    if (own->expression->kind() != ExpressionKind::Column) return own_if(true);
    return source_of(own->expression->column_id(), *node.children[0]);
  }
  if (node.as<LogicalFilter>() != nullptr || node.as<LogicalSort>() != nullptr || node.as<LogicalLimit>() != nullptr)
    return source_of(column, *node.children[0]);
  if (const auto* window = node.as<LogicalWindow>()) {
    const bool is_result = std::any_of(window->calls.begin(), window->calls.end(), is_wanted);
    return is_result ? own_if(true) : source_of(column, *node.children[0]);
  }
  bool is_given = contains(output_columns(node), column);
  if (node.as<LogicalRepeat>() != nullptr && is_given) return source_of(column, *node.children[0]);
  return own_if(is_given);
}

std::optional<ColumnSource> CardinalityEstimator::source_below_join(ColumnId column, const LogicalNode& node,
                                                                    const LogicalJoin& join) const {
  if (!join.output.empty() && !contains(join.output, column)) return std::nullopt;
  if (join.kind == JoinKind::Mark && join.mark == column) return ColumnSource{&node, column};
  auto known = known_sources_.find({&node, column});
  if (known != known_sources_.end()) return known->second;
  // The left side is the deep one in a long chain.
  std::optional<ColumnSource> found;
  if (gives_right_columns(join.kind)) found = source_of(column, node.right());
  if (!found && gives_left_columns(join.kind)) found = source_of(column, node.left());
  if (found) known_sources_.emplace(NodeColumn{&node, column}, *found);
  return found;
}

const LogicalNode* CardinalityEstimator::child_with(ColumnId column, const LogicalNode& node) const {
  if (node.children.empty() || node.as<LogicalSetOperation>() != nullptr) return nullptr;
  const auto* join = node.as<LogicalJoin>();
  if (join == nullptr) return node.children[0].get();
  if (join->kind == JoinKind::Mark && join->mark == column) return nullptr;
  // Avoids searching the left side, the deep one in a long chain.
  bool is_right = gives_right_columns(join->kind) && (!gives_left_columns(join->kind) || source_of(column, node.right()));
  return is_right ? &node.right() : &node.left();
}

const LogicalNode* CardinalityEstimator::input_with(ColumnId column, const Nodes& inputs) const {
  // The first one is the deep one in a long chain.
  auto found =
      std::find_if(inputs.rbegin(), inputs.rend(), [&](const LogicalNode* input) { return source_of(column, *input).has_value(); });
  return found == inputs.rend() ? nullptr : *found;
}

double CardinalityEstimator::distinct_values(ColumnId column, const LogicalNode& node) const {
  if (node.as<LogicalJoin>() == nullptr) return estimate_distinct_values(column, node);
  auto known = known_values_.find({&node, column});
  if (known != known_values_.end()) return known->second;
  double values = estimate_distinct_values(column, node);
  known_values_.emplace(NodeColumn{&node, column}, values);
  return values;
}

double CardinalityEstimator::estimate_distinct_values(ColumnId column, const LogicalNode& node) const {
  if (const auto* scan = node.as<LogicalScan>()) {
    const ScanColumn* stored = find_scan_column(*scan, column);
    if (stored == nullptr) return rows(node);
    return std::clamp(stored_values(*scan, *stored).count * filter_share(*scan, column), 1.0, rows(node));
  }
  if (const auto* project = node.as<LogicalProject>()) {
    for (const NamedExpression& own : project->columns) {
      if (own.id != column) continue;
      bool is_passed_on = own.expression->kind() == ExpressionKind::Column;
      return is_passed_on ? distinct_values(own.expression->column_id(), *node.children[0]) : rows(node);
    }
    return project->keeps_input ? distinct_values(column, *node.children[0]) : rows(node);
  }
  if (const auto* aggregate = node.as<LogicalAggregate>()) {
    if (std::find(aggregate->groups.begin(), aggregate->groups.end(), column) == aggregate->groups.end()) return rows(node);
  }
  if (const auto* window = node.as<LogicalWindow>()) {
    if (std::any_of(window->calls.begin(), window->calls.end(), [&](const WindowCall& call) { return call.id == column; })) return rows(node);
  }
  const LogicalNode* child = child_with(column, node);
  if (child == nullptr) return rows(node);
  double values = distinct_values(column, *child);
  if (const auto* filter = node.as<LogicalFilter>()) {
    for (const ExpressionPtr& condition : filter->conditions) {
      if (columns_of(*condition) == ColumnSet{column}) values *= selectivity(*condition, {child});
    }
  }
  return std::clamp(values, 1.0, rows(node));
}

// Assumes that the values of the side with fewer distinct ones are contained in the other side. If the larger count is only an upper
// bound, that side is taken to be a foreign key, with no more values than the other side has in its table.
ConditionEstimate CardinalityEstimator::column_equality(ColumnId left, ColumnId right, const Nodes& inputs) const {
  ConditionEstimate made;
  const LogicalNode* left_input = input_with(left, inputs);
  const LogicalNode* right_input = input_with(right, inputs);
  if (left_input == nullptr || right_input == nullptr) return {.share = kEqualShare};
  ColumnSource left_source = source_of(left, *left_input).value();
  ColumnSource right_source = source_of(right, *right_input).value();
  DistinctValues left_values = source_values(left_source, *this);
  DistinctValues right_values = source_values(right_source, *this);
  double most = std::max(left_values.count, right_values.count);
  if (left_values.count > right_values.count && left_values.is_bound) most = right_values.count;
  if (right_values.count > left_values.count && right_values.is_bound) most = left_values.count;
  double values = std::max(distinct_values(left, *left_input), distinct_values(right, *right_input));
  made.share = 1 / std::max(1.0, std::min(values, most));
  made.is_equality = true;
  made.left = left;
  made.right = right;
  made.left_source = left_source.node;
  made.right_source = right_source.node;
  made.most_combinations = std::min(source_rows(left_source, *this), source_rows(right_source, *this));
  return made;
}

ConditionEstimate CardinalityEstimator::estimate(const Expression& condition, const Nodes& inputs) const {
  bool is_call = condition.kind() == ExpressionKind::Call && condition.children().size() == 2;
  if (is_call && (condition.function().name == "=" || condition.function().name == "is not distinct from")) {
    const Expression& left = *condition.children()[0];
    const Expression& right = *condition.children()[1];
    bool are_columns = left.kind() == ExpressionKind::Column && right.kind() == ExpressionKind::Column;
    if (are_columns && left.column_id() != right.column_id()) {
      ConditionEstimate made = column_equality(left.column_id(), right.column_id(), inputs);
      made.is_null_safe = condition.function().name != "=";
      return made;
    }
  }
  return {.share = selectivity(condition, inputs)};
}

double CardinalityEstimator::equality_share(const Expression& condition, const Nodes& inputs) const {
  const Expression& left = *condition.children()[0];
  const Expression& right = *condition.children()[1];
  if (same_expression(left, right)) return 1;
  if (columns_of(left).empty() || columns_of(right).empty()) {
    const Expression& side = columns_of(left).empty() ? right : left;
    const LogicalNode* input = side.kind() == ExpressionKind::Column ? input_with(side.column_id(), inputs) : nullptr;
    return input == nullptr ? kEqualShare : 1 / distinct_values(side.column_id(), *input);
  }
  double most = 0;
  for (const Expression* side : {&left, &right}) {
    for (const LogicalNode* input : inputs) {
      double values = 1;
      ColumnSet columns = columns_of(*side);
      bool is_here = std::all_of(columns.begin(), columns.end(), [&](ColumnId column) { return source_of(column, *input).has_value(); });
      if (!is_here) continue;
      for (ColumnId column : columns) values *= distinct_values(column, *input);
      most = std::max(most, std::min(values, rows(*input)));
    }
  }
  return most > 0 ? 1 / most : kEqualShare;
}

double CardinalityEstimator::selectivity(const Expression& condition, const Nodes& inputs) const {
  switch (condition.kind()) {
    case ExpressionKind::And: {
      double share = 1;
      for (const ExpressionPtr& child : condition.children()) share *= estimate(*child, inputs).share;
      return share;
    }
    case ExpressionKind::Or: {
      double none = 1;
      for (const ExpressionPtr& child : condition.children()) none *= 1 - estimate(*child, inputs).share;
      return 1 - none;
    }
    case ExpressionKind::Call: break;
    default: return kOtherShare;
  }
  std::string_view name = condition.function().name;
  if (name == "not") return 1 - selectivity(*condition.children()[0], inputs);
  if (name == "=" || name == "is not distinct from") return equality_share(condition, inputs);
  if (name == "<" || name == "<=" || name == ">" || name == ">=") return kRangeShare;
  if (name == "<>") return 1 - kEqualShare;
  if (name == "like" || name == "ilike") return kPatternShare;
  if (name == "not like" || name == "not ilike") return 1 - kPatternShare;
  if (name == "is null") return kEqualShare;
  if (name == "is not null") return 1 - kEqualShare;
  return kOtherShare;
}

double CardinalityEstimator::share_of_all(const std::vector<ExpressionPtr>& conditions, const Nodes& inputs) const {
  std::vector<ConditionEstimate> estimates;
  for (const ExpressionPtr& condition : conditions) estimates.push_back(estimate(*condition, inputs));
  std::vector<const ConditionEstimate*> all;
  for (const ConditionEstimate& one : estimates) all.push_back(&one);
  return joint_share(std::move(all));
}

double CardinalityEstimator::join_rows(const LogicalNode& node, const LogicalJoin& join) const {
  double left = rows(node.left());
  double right = rows(node.right());
  double matches = left * right * share_of_all(join.conditions, {&node.left(), &node.right()});
  switch (join.kind) {
    case JoinKind::Inner: return matches;
    case JoinKind::Left: return std::max(left, matches);
    case JoinKind::Right: return std::max(right, matches);
    case JoinKind::Full: return std::max({left, right, matches});
    case JoinKind::Semi: return std::min(left, std::max(1.0, std::min(matches, left * 0.5)));
    case JoinKind::RightSemi: return std::min(right, std::max(1.0, std::min(matches, right * 0.5)));
    case JoinKind::Anti: return std::max(1.0, left * 0.5);
    case JoinKind::RightAnti: return std::max(1.0, right * 0.5);
    case JoinKind::Single:
    case JoinKind::Mark: return left;
  }
  return matches;
}

double CardinalityEstimator::rows(const LogicalNode& node) const {
  auto known = known_rows_.find(&node);
  if (known != known_rows_.end()) return known->second;
  double estimate = std::max(1.0, estimate_rows(node));
  known_rows_.emplace(&node, estimate);
  return estimate;
}

double CardinalityEstimator::estimate_rows(const LogicalNode& node) const {
  if (const auto* scan = node.as<LogicalScan>()) return static_cast<double>(scan->table->rows()) * filter_share(*scan);
  if (const auto* values = node.as<LogicalValues>()) return static_cast<double>(values->rows.size());
  if (const auto* join = node.as<LogicalJoin>()) return join_rows(node, *join);
  if (const auto* read = node.as<LogicalSharedRead>()) return plan_.shared[read->shared] ? rows(*plan_.shared[read->shared]) : 1000;
  if (node.as<LogicalSetOperation>() != nullptr) return rows(node.left()) + rows(node.right());
  const LogicalNode& child = *node.children[0];
  double input = rows(child);
  auto groups_of = [&](const std::vector<ColumnId>& groups) {
    double combinations = 1;
    for (ColumnId group : groups) combinations *= distinct_values(group, child);
    return combinations;
  };
  if (const auto* filter = node.as<LogicalFilter>()) return input * share_of_all(filter->conditions, {&child});
  if (const auto* aggregate = node.as<LogicalAggregate>()) return std::min(input, groups_of(aggregate->groups));
  if (const auto* sort = node.as<LogicalSort>()) return sort->limit ? std::min(input, static_cast<double>(*sort->limit)) : input;
  if (const auto* limit = node.as<LogicalLimit>())
    return limit->limit ? std::min(input, groups_of(limit->groups) * static_cast<double>(*limit->limit)) : input;
  return input;
}

}  // namespace pistachio
