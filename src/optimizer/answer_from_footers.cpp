// Replaces minima, maxima and counts over a whole table by a row of constants, if its footers state all of them exactly.
#include <algorithm>

#include "optimizer/footer_facts.h"
#include "optimizer/rules.h"

namespace pistachio {

namespace {

// The scan whose rows reach the node, one for one.
const LogicalScan* whole_scan(const LogicalNode& node) {
  if (node.as<LogicalProject>() != nullptr) return whole_scan(*node.children[0]);
  const auto* scan = node.as<LogicalScan>();
  return scan != nullptr && scan->filters.empty() ? scan : nullptr;
}

std::optional<ScalarValue> answer(const AggregateCall& call, const LogicalScan& scan) {
  if (call.filter || !scan.table->has_footers() || scan.table->has_unopened_files()) return std::nullopt;
  auto count = [](int64_t rows) { return ScalarValue::of_integer(TypeKind::BigInt, rows); };
  if (call.function->kind == AggregateKind::CountRows) return count(scan.table->rows());
  // A column that a projection passes on keeps its id.
  if (call.argument->kind() != ExpressionKind::Column) return std::nullopt;
  const auto column = std::find_if(scan.columns.begin(), scan.columns.end(),
                                   [&](const ScanColumn& own) { return own.id == call.argument->column_id(); });
  if (column == scan.columns.end()) return std::nullopt;
  if (call.function->kind == AggregateKind::Count && !call.distinct) {
    const std::optional<int64_t> values = exact_value_count(*scan.table, column->source);
    return values ? std::optional(count(*values)) : std::nullopt;
  }
  const bool is_minimum = call.function->kind == AggregateKind::Min;
  if (!is_minimum && call.function->kind != AggregateKind::Max) return std::nullopt;
  const std::optional<FooterBounds> bounds = exact_bounds(*scan.table, column->source);
  if (!bounds) return std::nullopt;
  const std::optional<ScalarValue>& bound = is_minimum ? bounds->least : bounds->greatest;
  return bound.value_or(ScalarValue::null(call.type));
}

void replace_aggregate(LogicalPtr& node) {
  const auto* aggregate = node->as<LogicalAggregate>();
  if (aggregate == nullptr || !aggregate->groups.empty() || aggregate->calls.empty()) return;
  const LogicalScan* scan = whole_scan(*node->children[0]);
  if (scan == nullptr) return;
  LogicalValues made;
  made.rows.emplace_back();
  for (const AggregateCall& call : aggregate->calls) {
    std::optional<ScalarValue> value = answer(call, *scan);
    if (!value) return;
    made.columns.push_back(call.id);
    made.rows[0].push_back(std::move(*value));
  }
  node = make_node(std::move(made));
}

}  // namespace

void answer_from_footers(LogicalPlan& plan, const CancelToken& token) {
  for_each_root(plan, [&](LogicalPtr& root) { for_each_node(root, token, replace_aggregate); });
}

}  // namespace pistachio
