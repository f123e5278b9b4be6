// Tables with many partitions: opens the files that the conditions on partition columns leave.
#include "optimizer/rules.h"

#include <ATen/core/Tensor.h>

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
    std::vector<KeyColumn> keys;
    for (const std::vector<ScanColumn>* columns : {&scan.columns, &scan.hidden}) {
      for (const ScanColumn& column : *columns) {
        const TableColumn& stored = table.columns[column.source];
        if (stored.partition >= 0) keys.push_back({column.id, stored.type, static_cast<size_t>(stored.partition)});
      }
    }
    for (const ExpressionPtr& condition : conditions) add_condition(condition, keys);
  }

  // Indexes in the listing of the files that may have rows for which all conditions hold.
  std::vector<size_t> places() const {
    std::vector<size_t> all;
    for (size_t begin = 0; begin < listing_.files.size(); begin += kSliceFiles) {
      std::vector<size_t> slice(std::min(kSliceFiles, listing_.files.size() - begin));
      std::iota(slice.begin(), slice.end(), begin);
      for (const Condition& condition : conditions_) keep_matching(slice, condition);
      all.insert(all.end(), slice.begin(), slice.end());
    }
    return all;
  }

 private:
  // A condition on partition keys only.
  struct Condition {
    std::vector<KeyColumn> keys;
    ExpressionEvaluator evaluator;
  };

  void add_condition(const ExpressionPtr& condition, const std::vector<KeyColumn>& keys) {
    std::vector<KeyColumn> used;
    std::vector<ColumnId> layout;
    for (ColumnId column : columns_of(*condition)) {
      auto found = std::find_if(keys.begin(), keys.end(), [&](const KeyColumn& key) { return key.id == column; });
      if (found == keys.end()) return;
      used.push_back(*found);
      layout.push_back(column);
    }
    if (is_stable(*condition)) conditions_.push_back({std::move(used), ExpressionEvaluator({condition}, layout)});
  }

  void keep_matching(std::vector<size_t>& places, const Condition& condition) const {
    std::vector<Column> columns;
    for (const KeyColumn& column : condition.keys) {
      std::vector<ScalarValue> values;
      for (size_t place : places) values.push_back(listing_.partition_value(place, column.key));
      columns.push_back(column_of_values(column.type, values));
    }
    at::Tensor holds;
    try {
      holds = condition.evaluator.evaluate_condition(Chunk(std::move(columns), static_cast<int64_t>(places.size())), token_).contiguous();
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
  std::vector<Condition> conditions_;
};

// `conditions`: of the filters directly above.
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
