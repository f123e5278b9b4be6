// Tables with many partitions: opens the files that the conditions on partition columns leave.
#include "optimizer/rules.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "columns/scalar_access.h"
#include "expr/expression_evaluator.h"
#include "expr/stability.h"

namespace pistachio {

namespace {

// Files whose values are evaluated together.
constexpr size_t kSliceFiles = 4'096;

// A partition column that the scan reads.
struct KeyColumn {
  ColumnId id;
  LogicalType type;
  size_t key;  // of the listing
};

class PartitionChoice {
 public:
  PartitionChoice(const LogicalScan& scan, const std::vector<ExpressionPtr>& conditions, const CancelToken& token)
      : listing_(*scan.table->files().listing), token_(token) {
    const ParquetTable& table = scan.table->files();
    for (const std::vector<ScanColumn>* columns : {&scan.columns, &scan.hidden}) {
      for (const ScanColumn& column : *columns) {
        const TableColumn& stored = table.columns[column.source];
        if (stored.partition < 0) continue;
        keys_.push_back({column.id, stored.type, static_cast<size_t>(stored.partition)});
        layout_.push_back(column.id);
      }
    }
    for (const ExpressionPtr& condition : conditions) {
      if (is_decided_by_keys(*condition)) evaluators_.emplace_back(std::vector{condition}, layout_);
    }
  }

  // Places in the listing of the files that may have rows for which all conditions hold.
  std::vector<size_t> places() const {
    std::vector<size_t> all;
    for (size_t begin = 0; begin < listing_.files.size(); begin += kSliceFiles) {
      std::vector<size_t> slice(std::min(kSliceFiles, listing_.files.size() - begin));
      std::iota(slice.begin(), slice.end(), begin);
      for (const ExpressionEvaluator& condition : evaluators_) drop_others(slice, condition);
      all.insert(all.end(), slice.begin(), slice.end());
    }
    return all;
  }

 private:
  bool is_decided_by_keys(const Expression& condition) const {
    bool all_known = true;
    for (ColumnId column : columns_of(condition)) all_known = all_known && std::find(layout_.begin(), layout_.end(), column) != layout_.end();
    return all_known && is_stable(condition);
  }

  void drop_others(std::vector<size_t>& places, const ExpressionEvaluator& condition) const {
    std::vector<Column> columns;
    for (const KeyColumn& column : keys_) {
      std::vector<ScalarValue> values;
      for (size_t place : places) values.push_back(listing_.partition_value(place, column.key));
      columns.push_back(column_of_values(column.type, values));
    }
    at::Tensor holds;
    try {
      holds = condition.evaluate_condition(Chunk(std::move(columns), static_cast<int64_t>(places.size())), token_);
    } catch (const UserError&) {
      return;  // only a row that reaches the condition may raise the error
    } catch (const OutOfMemory&) {
      return;  // the filter evaluates it in smaller chunks
    }
    const bool* is_kept = holds.const_data_ptr<bool>();
    std::vector<size_t> kept;
    for (size_t i = 0; i < places.size(); ++i) {
      if (is_kept[i]) kept.push_back(places[i]);
    }
    places = std::move(kept);
  }

  const TableListing& listing_;
  const CancelToken& token_;
  std::vector<KeyColumn> keys_;
  std::vector<ColumnId> layout_;
  std::vector<ExpressionEvaluator> evaluators_;
};

// `conditions`: those of the filters directly above.
void open_below(LogicalNode& node, const std::vector<ExpressionPtr>& conditions, const CancelToken& token) {
  stop_if_cancelled(token);
  if (auto* scan = node.as<LogicalScan>(); scan != nullptr && scan->table->has_unopened_files()) {
    std::vector<ExpressionPtr> all = conditions;
    all.insert(all.end(), scan->filters.begin(), scan->filters.end());
    scan->table = scan->table->open_partitions(PartitionChoice(*scan, all, token).places());
    return;
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
