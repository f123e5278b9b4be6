// The logical plan: a tree of relational operators over columns with ids. Rules own the tree and rewrite it in place. A column keeps its
// id throughout the plan, so that nodes can be moved without renumbering.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "catalog/table.h"
#include "expr/aggregate_function.h"
#include "expr/expression.h"
#include "expr/window_function.h"

namespace pistachio {

struct LogicalNode;
using LogicalPtr = std::unique_ptr<LogicalNode>;

// Names and types of all columns of a query.
class ColumnRegistry {
 public:
  ColumnId add(std::string name, LogicalType type) {
    columns_.push_back({std::move(name), type});
    return ColumnId{static_cast<int32_t>(columns_.size()) - 1};
  }
  size_t size() const { return columns_.size(); }
  const std::string& name(ColumnId id) const { return columns_[static_cast<size_t>(id.value)].name; }
  LogicalType type(ColumnId id) const { return columns_[static_cast<size_t>(id.value)].type; }
  ExpressionPtr reference(ColumnId id, int64_t position = -1) const { return Expression::column(id, type(id), position); }

 private:
  struct Info {
    std::string name;
    LogicalType type;
  };
  std::vector<Info> columns_;
};

struct NamedExpression {
  ColumnId id;
  ExpressionPtr expression;
};

struct ScanColumn {
  ColumnId id;
  size_t source = 0;  // index in the table's columns
};

struct LogicalScan {
  TablePtr table;
  std::vector<ScanColumn> columns;
  // Conditions evaluated by storage: a column compared with a constant.
  std::vector<ExpressionPtr> filters;
  // Columns used only by filters: not part of the output.
  std::vector<ScanColumn> hidden;
};

// Rows of constants. A SELECT without FROM reads one row without columns.
struct LogicalValues {
  std::vector<ColumnId> columns;
  std::vector<std::vector<ScalarValue>> rows;
};

struct LogicalFilter {
  std::vector<ExpressionPtr> conditions;  // all must be true
};

// Outputs exactly these columns. A column that is merely passed on keeps its id.
struct LogicalProject {
  std::vector<NamedExpression> columns;
  // Also outputs all columns of its input, before them: a chain of FULL JOIN USING would otherwise list all its columns at each join. Those
  // in use are listed when the others are pruned.
  bool keeps_input = false;
};

enum class JoinKind {
  Inner,
  Left,
  Right,
  Full,
  Semi,       // left rows with a match
  Anti,       // left rows without
  RightSemi,  // right rows with a match
  RightAnti,  // right rows without
  Mark,       // left rows and a BOOLEAN: whether there is a match; NULL if that is unknown because of a comparison with NULL
  Single,     // like Left, but more than one match is an error: scalar subqueries
};

bool gives_left_columns(JoinKind kind);
bool gives_right_columns(JoinKind kind);

struct LogicalJoin {
  JoinKind kind = JoinKind::Inner;
  // All must be true for a pair of rows to match; NULL means no match.
  std::vector<ExpressionPtr> conditions;
  // Mark: what IN and ANY compare. Over the matching pairs, the mark is true if the comparisons are true for one, else NULL if they are
// NULL for one.
  std::vector<ExpressionPtr> comparisons;
  ColumnId mark;  // Mark
  // Output columns; empty: all.
  std::vector<ColumnId> output;
  // The right side refers to columns of the left: a subquery or LATERAL as bound. False after unnesting.
  bool dependent = false;
};

// One row per combination of group columns; without groups exactly one row. DISTINCT is an aggregate without calls.
struct LogicalAggregate {
  std::vector<ColumnId> groups;
  std::vector<AggregateCall> calls;
  // GROUPING SETS: one grouping per set, by some of `groups`; the other group columns are NULL in its rows. The rule lower_grouping_sets
  // replaces them, early.
  std::vector<std::vector<ColumnId>> sets = {};
  ColumnId set_number = {};  // the column with the place of the row's set in `sets`
};

struct SortKey {
  ExpressionPtr expression;
  bool descending = false;
  bool nulls_first = false;
};

// With a limit: the first rows only (top-N).
struct LogicalSort {
  std::vector<SortKey> keys;
  std::optional<int64_t> limit;
};

// With groups: applies per group of rows with equal values in these columns (NULL equals NULL), in the order of the keys.
struct LogicalLimit {
  std::optional<int64_t> limit;
  int64_t offset = 0;
  std::vector<ColumnId> groups = {};
  std::vector<SortKey> keys = {};  // only with groups
};

// The columns of its input, and the results of window calls. All calls have the same partitions, and the order of each is that of the first
// keys, so that one sort serves all.
struct LogicalWindow {
  std::vector<ColumnId> partition;  // rows with equal values are one partition (NULL equals NULL); none: all rows
  std::vector<SortKey> order;
  std::vector<WindowCall> calls;
  // The columns of the input that are passed on; unset: all.
  std::optional<std::vector<ColumnId>> kept = std::nullopt;
};

// The columns of the children by position, under new ids.
struct LogicalSetOperation {
  enum class Kind { Union, Intersect, Except };
  Kind kind = Kind::Union;
  bool all = false;
  std::vector<ColumnId> columns = {};
  std::vector<ColumnId> left_columns = {};
  std::vector<ColumnId> right_columns = {};
  // WITH RECURSIVE: the right side runs in rounds and reads the rows of the previous round from the working table with this number, until
  // it produces no rows or, without `all`, no new ones.
  std::optional<size_t> working_table = std::nullopt;
};

// A CTE that is computed once and read several times.
struct LogicalSharedRead {
  size_t shared = 0;                   // index in LogicalPlan::shared
  std::vector<ColumnId> columns = {};  // own ids
  std::vector<ColumnId> sources = {};  // the columns of the shared plan, by position
  bool is_working_table = false;       // no plan has that index: the rows come from the enclosing recursion
};

// Repeats each row as often as the column says and drops that column: INTERSECT ALL and EXCEPT ALL.
struct LogicalRepeat {
  ColumnId times;
};

struct LogicalNode {
  std::variant<LogicalScan, LogicalValues, LogicalFilter, LogicalProject, LogicalJoin, LogicalAggregate, LogicalSort, LogicalLimit,
               LogicalWindow, LogicalSetOperation, LogicalSharedRead, LogicalRepeat>
      node;
  std::vector<LogicalPtr> children;

  template <typename Node>
  Node* as() {
    return std::get_if<Node>(&node);
  }
  template <typename Node>
  const Node* as() const {
    return std::get_if<Node>(&node);
  }
  LogicalNode& left() { return *children[0]; }
  LogicalNode& right() { return *children[1]; }
  const LogicalNode& left() const { return *children[0]; }
  const LogicalNode& right() const { return *children[1]; }
};

template <typename Node>
LogicalPtr make_node(Node node) {
  auto made = std::make_unique<LogicalNode>();
  made->node = std::move(node);
  return made;
}
template <typename Node>
LogicalPtr make_node(Node node, LogicalPtr child) {
  LogicalPtr made = make_node(std::move(node));
  made->children.push_back(std::move(child));
  return made;
}
template <typename Node>
LogicalPtr make_node(Node node, LogicalPtr left, LogicalPtr right) {
  LogicalPtr made = make_node(std::move(node), std::move(left));
  made->children.push_back(std::move(right));
  return made;
}

struct OutputColumn {
  ColumnId id;
  std::string name;
};

// A column that * omits because it cannot be read.
struct OmittedColumn {
  std::string name;
  std::string reason;
  size_t place = 0;  // number of output columns before it
};

struct LogicalPlan {
  LogicalPtr root;
  std::vector<OutputColumn> output;
  std::vector<OmittedColumn> left_out;
  ColumnRegistry columns;
  // Plans read by LogicalSharedRead; they may read each other, without cycles.
  std::vector<LogicalPtr> shared;
};

// The output columns of a node, in order.
std::vector<ColumnId> output_columns(const LogicalNode& node);
ColumnSet output_set(const LogicalNode& node);
// The same, given the outputs of its inputs: avoids a quadratic walk when visiting all nodes of a deep plan.
ColumnSet output_set(const LogicalNode& node, std::vector<ColumnSet> inputs);
// Visits every expression of the node itself.
void for_each_expression(LogicalNode& node, const std::function<void(ExpressionPtr&)>& visit);
void for_each_expression(const LogicalNode& node, const std::function<void(const ExpressionPtr&)>& visit);
// Columns that the subtree uses but does not produce: references to an outer query.
ColumnSet free_columns(const LogicalNode& node);
LogicalPtr clone(const LogicalNode& node);
// The shared plans that the root needs, each after those that it reads.
std::vector<size_t> shared_plans_in_use(const LogicalPlan& plan);

}  // namespace pistachio
