#include "optimizer/scan_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/function.h"
#include "expr/type_rules.h"

namespace pistachio {

namespace {

struct Named {
  std::string_view name;
  Comparison comparison;
  Comparison mirrored;
};

constexpr Named kComparisons[] = {{"=", Comparison::Equal, Comparison::Equal},  {"<>", Comparison::NotEqual, Comparison::NotEqual},
                                  {"<", Comparison::Less, Comparison::Greater}, {"<=", Comparison::LessEqual, Comparison::GreaterEqual},
                                  {">", Comparison::Greater, Comparison::Less}, {">=", Comparison::GreaterEqual, Comparison::LessEqual}};

// A lossless, order-preserving cast: comparing before it is equivalent to comparing after it.
bool is_exact_cast(LogicalType from, LogicalType to) {
  if (is_date_like(from) || is_time_of_day(from)) return casts_implicitly(from, to);
  return is_exact_number(from) && is_exact_number(to) && casts_implicitly(from, to);
}

}  // namespace

std::optional<RangeFilter> to_range_filter(const Expression& condition, const LogicalScan& scan) {
  if (condition.kind() != ExpressionKind::Call || condition.children().size() != 2) return std::nullopt;
  const Named* named = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                                    [&](const Named& known) { return known.name == condition.function().name; });
  if (named == std::end(kComparisons)) return std::nullopt;
  for (size_t side : {0, 1}) {
    const Expression* column = condition.children()[side].get();
    const Expression& constant = *condition.children()[1 - side];
    if (!constant.is_constant() || constant.value().is_null) continue;
    if (column->kind() == ExpressionKind::Cast && is_exact_cast(column->children()[0]->type(), column->type()))
      column = column->children()[0].get();
    if (column->kind() != ExpressionKind::Column) continue;
    TypeKind kind = column->type().kind();
    if (kind == TypeKind::Interval || kind == TypeKind::Blob || column->type().is_floating()) continue;
    for (const std::vector<ScanColumn>* columns : {&scan.columns, &scan.hidden}) {
      for (const ScanColumn& own : *columns) {
        if (own.id != column->column_id()) continue;
        Comparison comparison = side == 0 ? named->comparison : named->mirrored;
        return RangeFilter{scan.table->columns()[own.source].name, comparison, constant.value().to_string()};
      }
    }
  }
  return std::nullopt;
}

}  // namespace pistachio
