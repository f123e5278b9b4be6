// The logical plan: what a query means, as a tree of relational operators over columns with ids. Rules own the tree and rewrite it in
// place. A column keeps its id wherever it passes, so that moving nodes about needs no renumbering.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "catalog/table.h"
#include "expr/aggregate_function.h"
#include "expr/expression.h"

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
  size_t source = 0;  // place in the table's columns
};

struct LogicalScan {
  TablePtr table;
  std::vector<ScanColumn> columns;
  // Conditions that storage checks: a column against a constant. Rows that fail one do not arrive.
  std::vector<ExpressionPtr> filters;
  // Columns that only filters use: known here, but not given.
  std::vector<ScanColumn> hidden;
};

// Rows of constants. One row of no columns is what a SELECT without FROM reads.
struct LogicalValues {
  std::vector<ColumnId> columns;
  std::vector<std::vector<ScalarValue>> rows;
};

struct LogicalFilter {
  std::vector<ExpressionPtr> conditions;  // all must be true
};

// Gives exactly these columns. One that only passes on a column keeps its id.
struct LogicalProject {
  std::vector<NamedExpression> columns;
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
  Mark,       // left rows and a BOOLEAN: whether there is a match; NULL where a comparison with NULL leaves that open
  Single,     // as Left, and more than one match is an error: scalar subqueries
};

bool gives_left_columns(JoinKind kind);
bool gives_right_columns(JoinKind kind);

struct LogicalJoin {
  JoinKind kind = JoinKind::Inner;
  // All must be true for a pair of rows to match; unknown is no match.
  std::vector<ExpressionPtr> conditions;
  // Mark: what IN and ANY compare. Of the pairs that match: true if the comparisons are for one, else NULL if they are unknown for one.
  std::vector<ExpressionPtr> comparisons;
  ColumnId mark;  // Mark
  // The columns that go on; empty: all.
  std::vector<ColumnId> output;
  // The right side refers to columns of the left: a subquery or LATERAL as it was bound. Gone after unnesting.
  bool dependent = false;
};

// One row for each combination of group columns; without groups exactly one row. DISTINCT is one without calls.
struct LogicalAggregate {
  std::vector<ColumnId> groups;
  std::vector<AggregateCall> calls;
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

// With groups: so many rows of each group of rows that agree in these columns (NULL equals NULL), counted in the order of the keys.
struct LogicalLimit {
  std::optional<int64_t> limit;
  int64_t offset = 0;
  std::vector<ColumnId> groups = {};
  std::vector<SortKey> keys = {};  // only with groups
};

// Its columns are those of the children by place, under new ids.
struct LogicalSetOperation {
  enum class Kind { Union, Intersect, Except };
  Kind kind = Kind::Union;
  bool all = false;
  std::vector<ColumnId> columns = {};
  std::vector<ColumnId> left_columns = {};
  std::vector<ColumnId> right_columns = {};
  // WITH RECURSIVE: the right side runs in rounds and reads the rows of the round before from the working table of this number, until it
  // gives no rows any more; without `all`, no new ones.
  std::optional<size_t> working_table = std::nullopt;
};

// A common table that is computed once and read several times.
struct LogicalSharedRead {
  size_t shared = 0;                   // place in LogicalPlan::shared
  std::vector<ColumnId> columns = {};  // own ids
  std::vector<ColumnId> sources = {};  // the columns of the shared plan, by place
  bool is_working_table = false;       // there is no plan at that place: the rows come from the recursion around
};

// Each row as often as the column says, without that column: INTERSECT ALL and EXCEPT ALL.
struct LogicalRepeat {
  ColumnId times;
};

struct LogicalNode {
  std::variant<LogicalScan, LogicalValues, LogicalFilter, LogicalProject, LogicalJoin, LogicalAggregate, LogicalSort, LogicalLimit,
               LogicalSetOperation, LogicalSharedRead, LogicalRepeat>
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

// A column that a * does not give, since it cannot be read.
struct LeftOutColumn {
  std::string name;
  std::string reason;
  size_t place = 0;  // so many columns of the output stand before it
};

struct LogicalPlan {
  LogicalPtr root;
  std::vector<OutputColumn> output;
  std::vector<LeftOutColumn> left_out;
  ColumnRegistry columns;
  // Plans that LogicalSharedRead reads; one may read another, never in a circle.
  std::vector<LogicalPtr> shared;
};

// The columns a node gives, in order.
std::vector<ColumnId> output_columns(const LogicalNode& node);
ColumnSet output_set(const LogicalNode& node);
// The same from what its inputs give, without a walk down: for who goes over all nodes of a deep plan.
ColumnSet output_set(const LogicalNode& node, const std::vector<ColumnSet>& inputs);
// Every expression of the node itself.
void for_each_expression(LogicalNode& node, const std::function<void(ExpressionPtr&)>& visit);
void for_each_expression(const LogicalNode& node, const std::function<void(const ExpressionPtr&)>& visit);
// Columns that the subtree uses and does not make: references to an outer query.
ColumnSet free_columns(const LogicalNode& node);
LogicalPtr clone(const LogicalNode& node);

}  // namespace pistachio
