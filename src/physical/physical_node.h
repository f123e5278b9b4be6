// The physical plan: how a query runs. The algorithm of every step is chosen, its columns have places, and it is known where its rows lie
// over the ranks. Immutable once planned; operators are built from it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "logical/logical_node.h"
#include "physical/distribution.h"
#include "storage/range_filter.h"

namespace pistachio {

struct PhysicalNode;
using PhysicalPtr = std::unique_ptr<PhysicalNode>;

// The scan waits for the build side of a join, and drops rows that find no partner there (exec/adaptive/join_filter.h).
struct ScanJoinFilter {
  size_t number = 0;            // PhysicalJoin::filter
  std::vector<size_t> columns;  // of the layout
};

struct PhysicalScan {
  TablePtr table;
  bool is_split = false;        // every rank reads a share of the files; otherwise one rank reads all of the table
  bool is_everywhere = false;   // every rank reads all of it
  std::vector<size_t> sources;  // the table column behind each column of the layout
  std::vector<RangeFilter> filters;
  std::vector<ExpressionPtr> conditions;  // the filters as they were written
  std::vector<ScanJoinFilter> join_filters;
};

struct PhysicalValues {
  std::vector<std::vector<ScalarValue>> rows;
};

struct PhysicalFilter {
  std::vector<ExpressionPtr> conditions;  // all must be true
};

struct PhysicalProject {
  std::vector<ExpressionPtr> columns;  // one for each column of the layout
};

// Left = right: candidates for a match are found by hash.
struct JoinKey {
  ExpressionPtr left;
  ExpressionPtr right;
  bool null_safe = false;  // NULL equals NULL
};

// A condition `left < right` (or <=, >, >=): candidates are found in the ordered right side.
struct JoinBound {
  ExpressionPtr left;
  ExpressionPtr right;
  bool is_upper = false;      // right is below left: left bounds what is taken of the right side from above
  bool is_inclusive = false;  // equal values match
};

// What a join tells scans below its left input of its right one.
struct BuildSideFilter {
  size_t number = 0;         // among the filters of the plan
  std::vector<size_t> keys;  // places in PhysicalJoin::keys
  int64_t expected_keys = 0;
};

// The right input is the build side: it is read first and kept; the left input streams through.
struct PhysicalJoin {
  JoinKind kind = JoinKind::Inner;
  // How candidates are found: by keys if there are any, else by bounds, else every pair is one.
  std::vector<JoinKey> keys;
  std::vector<JoinBound> bounds;           // without keys; one, or a lower and an upper one
  std::vector<ExpressionPtr> conditions;   // the rest, evaluated on candidates
  std::vector<ExpressionPtr> comparisons;  // Mark: what IN compares; may be unknown; evaluated on candidates
  // Mark: the comparisons, if they can be found by hash; then there are no bounds. Here a NULL makes a pair unknown.
  std::vector<JoinKey> compared_keys;
  ColumnId mark;
  std::optional<BuildSideFilter> filter;
};

// In one go, or in two: each rank adds up its own rows, and what came out of that is merged where the rows of a group meet.
enum class AggregateStage { Whole, Partial, Final };

struct PhysicalAggregate {
  std::vector<ColumnId> groups;
  std::vector<AggregateCall> calls;
  AggregateStage stage = AggregateStage::Whole;
  // What Partial gives and Final takes behind the groups: the columns of each state of calls_with_state(calls).
  std::vector<std::vector<ColumnId>> states;
};

// With a limit: the first rows only.
struct PhysicalSort {
  std::vector<SortKey> keys;
  std::optional<int64_t> limit;
  bool on_each_rank = false;  // its own rows, for a sort of what all ranks leave over
};

struct PhysicalLimit {
  std::optional<int64_t> limit;
  int64_t offset = 0;
  bool on_each_rank = false;  // as above
};

// Rows [offset, offset + limit) of each group, counted in the order of the keys.
struct PhysicalGroupLimit {
  std::vector<ColumnId> groups;  // at least one; NULL equals NULL
  std::vector<SortKey> keys;     // none: any rows of the group
  std::optional<int64_t> limit;
  int64_t offset = 0;
};

// All rows of its inputs, whose columns it renames by place.
struct PhysicalUnion {};

struct PhysicalSharedRead {
  size_t shared = 0;           // place in PhysicalPlan::shared
  std::vector<size_t> places;  // the column of the shared plan behind each column of the layout
};

// WITH RECURSIVE: the rows of the first input, then those the second one makes of the rows of the round before, until a round gives none.
struct PhysicalRecursion {
  size_t working_table = 0;  // its number in the query
  bool keeps_all = true;     // false: rows that were there before are dropped
};

// The rows of the last round.
struct PhysicalWorkingRead {
  size_t working_table = 0;
  std::vector<size_t> places;  // the column of the recursion behind each column of the layout
};

// Each row as often as the column says; that column does not go on.
struct PhysicalRepeat {
  ColumnId times;
};

// Moves rows between ranks.
struct PhysicalExchange {
  enum class Kind {
    Gather,       // all to the first rank
    Broadcast,    // all to every rank
    Repartition,  // each to the rank that the hash of its keys gives
    Scatter,      // evenly to all
    Merge,        // all to the first rank, which makes one order of those that every rank has in `order`
    Range,        // by `order`: the first rows of it to the first rank, the last ones to the last
    RankByRank,   // all to the first rank, which takes those of one rank after the other
    SpreadBuild,  // rows of keys that are frequent on the probe side of their join to every rank; others stay
  };
  Kind kind = Kind::Gather;
  std::vector<ExpressionPtr> keys;  // Repartition, SpreadBuild
  size_t number = 0;                // among the exchanges of the plan
  std::vector<SortKey> order;       // Merge, Range
  // Repartition of the probe side of a join: rows of frequent keys stay where they are; SpreadBuild on the other side brings them their
  // partners.
  bool spreads = false;
  size_t partner = 0;  // SpreadBuild: the number of the probe side's exchange
  // SpreadBuild: made here instead of by the join. The rows wait here for the probe side, which may wait for the filter.
  std::optional<BuildSideFilter> filter;
};

bool goes_to_first_rank(PhysicalExchange::Kind kind);

std::string_view exchange_name(PhysicalExchange::Kind kind);

struct PhysicalNode {
  std::variant<PhysicalScan, PhysicalValues, PhysicalFilter, PhysicalProject, PhysicalJoin, PhysicalAggregate, PhysicalSort, PhysicalLimit,
               PhysicalGroupLimit, PhysicalUnion, PhysicalSharedRead, PhysicalRecursion, PhysicalWorkingRead, PhysicalRepeat,
               PhysicalExchange>
      node;
  std::vector<PhysicalPtr> children;
  std::vector<ColumnId> layout;  // the columns it gives, in order
  Distribution distribution;     // of the rows it gives
  double estimated_rows = 0;

  template <typename Node>
  const Node* as() const {
    return std::get_if<Node>(&node);
  }
};

struct PhysicalPlan {
  PhysicalPtr root;
  ColumnRegistry columns;
  // Plans that are computed once and read by PhysicalSharedRead; null where none is left. One may read another.
  std::vector<PhysicalPtr> shared;
  size_t exchanges = 0;
  size_t filters = 0;
  bool local_files = false;  // tables are other files on every rank, of the same columns

  std::vector<LogicalType> types_of(const std::vector<ColumnId>& ids) const;
};

// What the node needs of its inputs: one of the alternatives, each with one requirement an input. All rows in one place always is enough.
std::vector<std::vector<Requirement>> input_alternatives(const PhysicalNode& node, const ColumnRegistry& columns);

// Where the rows of the node lie, given where those of its inputs do. Shared plans are found in `plan`.
Distribution given_distribution(const PhysicalNode& node, const PhysicalPlan& plan);

// Every expression of the node itself, with the number of the child it is evaluated on; -1: on pairs of both.
void for_each_expression(const PhysicalNode& node, const std::function<void(const ExpressionPtr&, int child)>& visit);

}  // namespace pistachio
