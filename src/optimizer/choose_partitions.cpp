// Tables with many partitions: opens the files that the conditions on partition columns leave.
#include "optimizer/rules.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"
#include "columns/scalar_access.h"
#include "expr/expression_evaluator.h"
#include "expr/stability.h"

namespace pistachio {

namespace {

// The partition columns that a scan reads, with the values of all files: a chunk with one row for each file.
class PartitionValues {
 public:
  PartitionValues(const LogicalScan& scan, const CancelToken& token) {
    const ParquetTable& table = scan.table->files();
    std::vector<Column> columns;
    for (const std::vector<ScanColumn>* read : {&scan.columns, &scan.hidden}) {
      for (const ScanColumn& column : *read) {
        const int key = table.columns[column.source].partition;
        if (key < 0) continue;
        std::vector<ScalarValue> values;
        for (size_t file = 0; file < table.listing->files.size(); ++file) {
          token.throw_if_cancelled();
          values.push_back(table.listing->partition_value(file, static_cast<size_t>(key)));
        }
        layout_.push_back(column.id);
        columns.push_back(column_of_values(table.columns[column.source].type, values));
      }
    }
    chunk_ = Chunk(std::move(columns), static_cast<int64_t>(table.listing->files.size()));
  }

  bool decides(const Expression& condition) const {
    bool all_known = true;
    for (ColumnId column : columns_of(condition))
      all_known = all_known && std::find(layout_.begin(), layout_.end(), column) != layout_.end();
    return all_known && is_stable(condition);
  }

  // bool [files]: where the condition holds. Everywhere if it raises an error for some file: only a row that reaches it may raise it.
  at::Tensor matches(const ExpressionPtr& condition, const CancelToken& token) const {
    try {
      return ExpressionEvaluator({condition}, layout_).evaluate_condition(chunk_, token);
    } catch (const UserError&) {
      return at::ones({chunk_.rows()}, at::kBool);
    }
  }

 private:
  std::vector<ColumnId> layout_;
  Chunk chunk_;
};

void open_needed(LogicalScan& scan, const std::vector<ExpressionPtr>& conditions, const CancelToken& token) {
  const PartitionValues values(scan, token);
  at::Tensor needed = at::ones({static_cast<int64_t>(scan.table->files().listing->files.size())}, at::kBool);
  for (const ExpressionPtr& condition : conditions) {
    if (values.decides(*condition)) needed = needed.logical_and(values.matches(condition, token));
  }
  const at::Tensor found = needed.nonzero().flatten();
  const int64_t* first = found.const_data_ptr<int64_t>();
  scan.table = scan.table->open_partitions(std::vector<size_t>(first, first + found.numel()));
}

// `conditions`: those of the filters directly above.
void open_below(LogicalNode& node, const std::vector<ExpressionPtr>& conditions, const CancelToken& token) {
  stop_if_cancelled(token);
  if (auto* scan = node.as<LogicalScan>(); scan != nullptr && scan->table->has_unopened_files()) {
    std::vector<ExpressionPtr> all = conditions;
    all.insert(all.end(), scan->filters.begin(), scan->filters.end());
    return open_needed(*scan, all, token);
  }
  std::vector<ExpressionPtr> passed_on;
  if (const auto* filter = node.as<LogicalFilter>()) {
    passed_on = conditions;
    passed_on.insert(passed_on.end(), filter->conditions.begin(), filter->conditions.end());
  }
  for (LogicalPtr& child : node.children) open_below(*child, passed_on, token);
}

}  // namespace

void choose_partitions(LogicalPlan& plan, const CancelToken& token) {
  for_each_root(plan, [&](LogicalPtr& root) { open_below(*root, {}, token); });
}

}  // namespace pistachio
