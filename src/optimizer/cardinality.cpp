#include "optimizer/cardinality.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "expr/function.h"
#include "optimizer/scan_filter.h"

namespace pistachio {

namespace {

// Where nothing is known.
constexpr double kRangeShare = 0.3;
constexpr double kEqualShare = 0.05;
constexpr double kPatternShare = 0.1;
constexpr double kOtherShare = 0.25;

struct ValueRange {
  double least = 0;
  double greatest = 0;
};

double as_number(const ScalarValue& value) {
  if (value.type.is_floating()) return value.floating;
  double number = static_cast<double>(value.integer);
  return value.type.kind() == TypeKind::Decimal ? number / std::pow(10.0, value.type.scale()) : number;
}

// From the statistics of all row groups; nothing if one has none, or for text.
std::optional<ValueRange> range_of(const Table& table, size_t column) {
  if (table.is_in_memory() || table.columns()[column].type.is_text()) return std::nullopt;
  std::optional<ValueRange> range;
  for (const TableFile& file : table.files().files) {
    int leaf = file.leaf_of_column[column];
    if (leaf < 0) return std::nullopt;
    for (const RowGroupInfo& group : file.footer().row_groups) {
      const ColumnChunkInfo& chunk = group.columns[static_cast<size_t>(leaf)];
      if (!chunk.minimum || !chunk.maximum) return std::nullopt;
      double least = as_number(*chunk.minimum);
      double greatest = as_number(*chunk.maximum);
      if (!range) range = ValueRange{least, greatest};
      range->least = std::min(range->least, least);
      range->greatest = std::max(range->greatest, greatest);
    }
  }
  return range;
}

const ScanColumn* find_column(const LogicalScan& scan, ColumnId id) {
  for (const std::vector<ScanColumn>* columns : {&scan.columns, &scan.hidden}) {
    auto found = std::find_if(columns->begin(), columns->end(), [&](const ScanColumn& column) { return column.id == id; });
    if (found != columns->end()) return &*found;
  }
  return nullptr;
}

// Different values of a stored column: no more than rows, nor than whole numbers between least and greatest.
double stored_distinct(const LogicalScan& scan, const ScanColumn& column) {
  double rows = static_cast<double>(std::max<int64_t>(1, scan.table->rows()));
  LogicalType type = scan.table->columns()[column.source].type;
  if (type.kind() == TypeKind::Boolean) return 2;
  if (type.is_text()) return std::max(10.0, std::sqrt(rows));
  std::optional<ValueRange> range = range_of(*scan.table, column.source);
  if (!range || type.is_floating()) return rows;
  double steps = (range->greatest - range->least) * (type.kind() == TypeKind::Decimal ? std::pow(10.0, type.scale()) : 1) + 1;
  return std::clamp(steps, 1.0, rows);
}

double filter_share(const ExpressionPtr& condition, const LogicalScan& scan) {
  std::optional<RangeFilter> filter = to_range_filter(*condition, scan);
  if (!filter) return kOtherShare;
  const Expression* column = condition->children()[0]->is_constant() ? condition->children()[1].get() : condition->children()[0].get();
  const Expression* constant = condition->children()[0]->is_constant() ? condition->children()[0].get() : condition->children()[1].get();
  if (column->kind() == ExpressionKind::Cast) column = column->children()[0].get();
  const ScanColumn* stored = find_column(scan, column->column_id());
  if (stored == nullptr) return kOtherShare;
  if (filter->comparison == Comparison::Equal) return 1.0 / stored_distinct(scan, *stored);
  if (filter->comparison == Comparison::NotEqual) return 1.0 - 1.0 / stored_distinct(scan, *stored);
  std::optional<ValueRange> range = range_of(*scan.table, stored->source);
  if (!range || range->greatest <= range->least) return kRangeShare;
  double value = as_number(constant->value());
  // Dates compared as timestamps: back to days.
  if (column->type().kind() == TypeKind::Date && constant->type().kind() == TypeKind::Timestamp) value /= 86'400e6;
  double below = std::clamp((value - range->least) / (range->greatest - range->least), 0.0, 1.0);
  bool wants_less = filter->comparison == Comparison::Less || filter->comparison == Comparison::LessEqual;
  return std::max(1e-6, wants_less ? below : 1.0 - below);
}

}  // namespace

double CardinalityEstimator::distinct_values(ColumnId column, const LogicalNode& node) const {
  if (const auto* scan = node.as<LogicalScan>()) {
    const ScanColumn* stored = find_column(*scan, column);
    return stored == nullptr ? rows(node) : std::min(rows(node), stored_distinct(*scan, *stored));
  }
  if (const auto* project = node.as<LogicalProject>()) {
    for (const NamedExpression& own : project->columns) {
      if (own.id == column && own.expression->kind() == ExpressionKind::Column)
        return distinct_values(own.expression->column_id(), *node.children[0]);
    }
    return rows(node);
  }
  for (const LogicalPtr& child : node.children) {
    if (output_set(*child).contains(column)) return std::min(rows(node), distinct_values(column, *child));
  }
  return rows(node);
}

double CardinalityEstimator::selectivity(const Expression& condition, const std::vector<const LogicalNode*>& inputs) const {
  switch (condition.kind()) {
    case ExpressionKind::And: {
      double share = 1;
      for (const ExpressionPtr& child : condition.children()) share *= selectivity(*child, inputs);
      return share;
    }
    case ExpressionKind::Or: {
      double none = 1;
      for (const ExpressionPtr& child : condition.children()) none *= 1 - selectivity(*child, inputs);
      return 1 - none;
    }
    case ExpressionKind::Call: break;
    default: return kOtherShare;
  }
  std::string_view name = condition.function().name;
  if (name == "not") return 1 - selectivity(*condition.children()[0], inputs);
  if (name == "=" || name == "is not distinct from") {
    double most = 0;
    for (const ExpressionPtr& side : condition.children()) {
      ColumnSet columns = columns_of(*side);
      for (const LogicalNode* input : inputs) {
        ColumnSet given = output_set(*input);
        double values = 1;
        bool is_here = !columns.empty();
        for (ColumnId column : columns) {
          is_here = is_here && given.contains(column);
          if (is_here) values *= distinct_values(column, *input);
        }
        if (is_here) most = std::max(most, std::min(values, rows(*input)));
      }
    }
    return most > 0 ? 1 / most : kEqualShare;
  }
  if (name == "<" || name == "<=" || name == ">" || name == ">=") return kRangeShare;
  if (name == "<>") return 1 - kEqualShare;
  if (name == "like" || name == "ilike") return kPatternShare;
  if (name == "not like" || name == "not ilike") return 1 - kPatternShare;
  if (name == "is null") return kEqualShare;
  if (name == "is not null") return 1 - kEqualShare;
  return kOtherShare;
}

double CardinalityEstimator::scan_rows(const LogicalScan& scan) const {
  double rows = static_cast<double>(scan.table->rows());
  for (const ExpressionPtr& filter : scan.filters) rows *= filter_share(filter, scan);
  return rows;
}

double CardinalityEstimator::join_rows(const LogicalNode& node, const LogicalJoin& join) const {
  double left = rows(node.left());
  double right = rows(node.right());
  double matches = left * right;
  for (const ExpressionPtr& condition : join.conditions) matches *= selectivity(*condition, {&node.left(), &node.right()});
  switch (join.kind) {
    case JoinKind::Inner: return matches;
    case JoinKind::Left:
    case JoinKind::Single: return std::max(left, matches);
    case JoinKind::Right: return std::max(right, matches);
    case JoinKind::Full: return std::max(left, right);
    case JoinKind::Semi: return std::min(left, std::max(1.0, std::min(matches, left * 0.5)));
    case JoinKind::Anti: return std::max(1.0, left * 0.5);
    case JoinKind::Mark: return left;
  }
  return matches;
}

double CardinalityEstimator::rows(const LogicalNode& node) const {
  double estimate = 1;
  if (const auto* scan = node.as<LogicalScan>()) {
    estimate = scan_rows(*scan);
  } else if (const auto* values = node.as<LogicalValues>()) {
    estimate = static_cast<double>(values->rows.size());
  } else if (const auto* filter = node.as<LogicalFilter>()) {
    estimate = rows(*node.children[0]);
    for (const ExpressionPtr& condition : filter->conditions) estimate *= selectivity(*condition, {node.children[0].get()});
  } else if (const auto* join = node.as<LogicalJoin>()) {
    estimate = join_rows(node, *join);
  } else if (const auto* aggregate = node.as<LogicalAggregate>()) {
    double input = rows(*node.children[0]);
    double groups = 1;
    for (ColumnId group : aggregate->groups) groups *= distinct_values(group, *node.children[0]);
    estimate = aggregate->groups.empty() ? 1 : std::min(input, groups);
  } else if (const auto* sort = node.as<LogicalSort>()) {
    estimate = rows(*node.children[0]);
    if (sort->limit) estimate = std::min(estimate, static_cast<double>(*sort->limit));
  } else if (const auto* limit = node.as<LogicalLimit>()) {
    estimate = rows(*node.children[0]);
    double groups = 1;
    for (ColumnId group : limit->groups) groups *= distinct_values(group, *node.children[0]);
    if (limit->limit) estimate = std::min(estimate, groups * static_cast<double>(*limit->limit));
  } else if (node.as<LogicalSetOperation>() != nullptr) {
    estimate = rows(node.left()) + rows(node.right());
  } else if (const auto* read = node.as<LogicalSharedRead>()) {
    estimate = plan_.shared[read->shared] ? rows(*plan_.shared[read->shared]) : 1000;
  } else {
    estimate = rows(*node.children[0]);
  }
  return std::max(1.0, estimate);
}

}  // namespace pistachio
