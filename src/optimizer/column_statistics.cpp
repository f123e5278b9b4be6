#include "optimizer/column_statistics.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "data/calendar.h"
#include "expr/type_rules.h"
#include "optimizer/scan_filter.h"

namespace pistachio {

namespace {

constexpr double kMinShare = 1e-6;
// Integers with fewer rows per value may well have gaps.
constexpr double kRowsOfSparseValue = 4;

struct ValueRange {
  double least = 0;
  double greatest = 0;
};

double as_number(const ScalarValue& value) {
  if (value.type.is_floating()) return value.floating;
  double number = static_cast<double>(value.integer);
  return value.type.kind() == TypeKind::Decimal ? number / std::pow(10.0, value.type.scale()) : number;
}

// The unit of a date or time in nanoseconds; 1 for other types. A column may be compared as a type with another unit.
double unit_nanos(LogicalType type) {
  if (type.kind() == TypeKind::Date) return static_cast<double>(kDayNanos);
  bool has_micros = (is_date_like(type) || is_time_of_day(type)) && !type.has_nanoseconds();
  return has_micros ? static_cast<double>(kMicroNanos) : 1;
}

// From the statistics of all row groups; nullopt if one has none, and for text.
std::optional<ValueRange> range_of(const Table& table, size_t column) {
  if (!table.has_footers() || table.columns()[column].type.is_text()) return std::nullopt;
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

// The combined filters on one column, as far as they can be estimated.
struct ColumnShare {
  double low = 0;  // the part of the column's range that passes
  double high = 1;
  double others = 1;
  bool is_equal = false;
};

void add_filter(const Expression& condition, const LogicalScan& scan, const ScanColumn& stored, const Expression& column,
                Comparison comparison, ColumnShare& share) {
  double distinct = stored_values(scan, stored).count;
  if (comparison == Comparison::Equal) {
    share.is_equal = true;
    share.others = std::min(share.others, 1.0 / distinct);
    return;
  }
  if (comparison == Comparison::NotEqual) {
    share.others *= 1.0 - 1.0 / std::max(2.0, distinct);
    return;
  }
  std::optional<ValueRange> range = range_of(*scan.table, stored.source);
  if (!range || range->greatest <= range->least) {
    share.others *= kRangeShare;
    return;
  }
  const Expression& constant = condition.children()[0]->is_constant() ? *condition.children()[0] : *condition.children()[1];
  double value = as_number(constant.value());
  value *= unit_nanos(constant.type()) / unit_nanos(column.type());
  double below = std::clamp((value - range->least) / (range->greatest - range->least), 0.0, 1.0);
  bool wants_less = comparison == Comparison::Less || comparison == Comparison::LessEqual;
  if (wants_less) {
    share.high = std::min(share.high, below);
  } else {
    share.low = std::max(share.low, below);
  }
}

}  // namespace

const ScanColumn* find_scan_column(const LogicalScan& scan, ColumnId id) {
  for (const std::vector<ScanColumn>* columns : {&scan.columns, &scan.hidden}) {
    auto found = std::find_if(columns->begin(), columns->end(), [&](const ScanColumn& column) { return column.id == id; });
    if (found != columns->end()) return &*found;
  }
  return nullptr;
}

DistinctValues stored_values(const LogicalScan& scan, const ScanColumn& column) {
  double rows = static_cast<double>(std::max<int64_t>(1, scan.table->rows()));
  LogicalType type = scan.table->columns()[column.source].type;
  if (type.kind() == TypeKind::Boolean) return {2, false};
  if (type.is_text()) {
    std::optional<double> known = scan.table->distinct_texts(column.source);
    if (!known) return {std::min(rows, std::max(10.0, std::sqrt(rows))), true};
    return {std::clamp(*known, 1.0, rows), false};
  }
  std::optional<ValueRange> range = range_of(*scan.table, column.source);
  if (!range || type.is_floating()) return {rows, true};
  double steps = (range->greatest - range->least) * (type.kind() == TypeKind::Decimal ? std::pow(10.0, type.scale()) : 1) + 1;
  return {std::clamp(steps, 1.0, rows), steps * kRowsOfSparseValue >= rows};
}

double filter_share(const LogicalScan& scan, std::optional<ColumnId> only) {
  std::map<ColumnId, ColumnShare> shares;
  for (const ExpressionPtr& condition : scan.filters) {
    std::optional<RangeFilter> filter = to_range_filter(*condition, scan);
    if (!filter) continue;
    const Expression* column = condition->children()[0]->is_constant() ? condition->children()[1].get() : condition->children()[0].get();
    if (column->kind() == ExpressionKind::Cast) column = column->children()[0].get();
    const ScanColumn* stored = find_scan_column(scan, column->column_id());
    if (stored == nullptr || (only && stored->id != *only)) continue;
    add_filter(*condition, scan, *stored, *column, filter->comparison, shares[stored->id]);
  }
  double all = 1;
  for (const auto& [column, share] : shares) {
    double range = share.is_equal ? 1.0 : std::clamp(share.high - share.low, kMinShare, 1.0);
    all *= range * share.others;
  }
  return all;
}

}  // namespace pistachio
