// The physical plan: the algorithm, column layout and distribution over ranks of every step. Immutable once planned; operators are built
// from it.
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

// The scan waits for the build side of a join and drops rows without a match there (exec/adaptive/join_filter.h).
struct ScanJoinFilter {
  size_t number = 0;            // PhysicalJoin::filter
  std::vector<size_t> columns;  // of the layout
};

// The scan drops rows that a sort with a limit above it no longer needs (exec/core/top_filter.h).
struct ScanTopFilter {
  size_t number = 0;  // PhysicalSort::filter
  size_t column = 0;  // of the layout: the first sort key
  bool descending = false;
  bool nulls_first = false;
  bool announces_rows = false;  // all rows of the scan reach the sort: it may count them before it reads their other columns
};

struct PhysicalScan {
  TablePtr table;
  bool is_split = false;        // every rank reads a share of the files; else one rank reads the whole table
  bool is_everywhere = false;   // every rank reads the whole table
  std::vector<size_t> sources;  // the table column behind each column of the layout
  std::vector<RangeFilter> filters;
  std::vector<ExpressionPtr> conditions;  // the filters as expressions
  std::vector<ScanJoinFilter> join_filters;
  std::optional<ScanTopFilter> top_filter;
  // Conditions that storage cannot evaluate itself, of rows that pass the filters: evaluated before other columns are decoded.
  std::vector<ExpressionPtr> row_tests;
};

struct PhysicalValues {
  std::vector<std::vector<ScalarValue>> rows;
};

struct PhysicalFilter {
  std::vector<ExpressionPtr> conditions;  // all must be true
};

struct PhysicalProject {
  std::vector<ExpressionPtr> columns;  // one per column of the layout
};

// left = right: candidates are found by hash.
struct JoinKey {
  ExpressionPtr left;
  ExpressionPtr right;
  bool null_safe = false;  // NULL equals NULL
};

// A condition `left < right` (or <=, >, >=): candidates are a range of the ordered right side.
struct JoinBound {
  ExpressionPtr left;
  ExpressionPtr right;
  bool is_upper = false;      // right < left: left is an upper bound of the candidates
  bool is_inclusive = false;  // equal values match
};

// The filter that a join passes from its right input to scans below its left one.
struct BuildSideFilter {
  size_t number = 0;         // among the filters of the plan
  std::vector<size_t> keys;  // indexes into PhysicalJoin::keys
  int64_t expected_keys = 0;
};

// The right input is the build side: it is read first and retained; the left input streams through.
struct PhysicalJoin {
  JoinKind kind = JoinKind::Inner;
  // How candidates are found: by keys if there are any, else by bounds, else every pair is a candidate.
  std::vector<JoinKey> keys;
  std::vector<JoinBound> bounds;           // without keys; one, or a lower and an upper one
  std::vector<ExpressionPtr> conditions;   // the rest, evaluated on candidates
  std::vector<ExpressionPtr> comparisons;  // Mark: the comparisons of IN, which may be NULL; evaluated on candidates
  // Mark: the comparisons as hash keys, if possible; then there are no bounds. Here a NULL makes a pair NULL.
  std::vector<JoinKey> compared_keys;
  ColumnId mark;
  std::optional<BuildSideFilter> filter;
};

// In one step, or in two: each rank pre-aggregates its own rows (Partial), and the results are merged after an exchange (Final). Between
// them, partial results may be merged in bounded tables (Combine).
enum class AggregateStage { Whole, Partial, Final, Combine };

struct PhysicalAggregate {
  std::vector<ColumnId> groups;
  std::vector<AggregateCall> calls;
  AggregateStage stage = AggregateStage::Whole;
  // The columns of each state of calls_with_state(calls), output by Partial and Combine, and read by Combine and Final, after the groups.
  std::vector<std::vector<ColumnId>> states;
  bool in_hash_order = false;  // Partial: groups are output in hash order, so that equal groups of several ranks meet in a combiner
};

// With a limit, outputs only the first rows.
struct PhysicalSort {
  std::vector<SortKey> keys;
  std::optional<int64_t> limit;
  bool on_each_rank = false;  // local, before a global step over all ranks
  std::optional<size_t> filter;  // the number of the filter that a scan below gets, among those of the plan
};

struct PhysicalLimit {
  std::optional<int64_t> limit;
  int64_t offset = 0;
  bool on_each_rank = false;  // likewise
};

// Rows [offset, offset + limit) of each group, in the order of the keys.
struct PhysicalGroupLimit {
  std::vector<ColumnId> groups;  // at least one; NULL equals NULL
  std::vector<SortKey> keys;     // none: any rows of the group
  std::optional<int64_t> limit;
  int64_t offset = 0;
};

// Columns of its input, then the results of the calls. The order of each call is that of the first keys.
struct PhysicalWindow {
  std::vector<ColumnId> partition;  // none: all rows are one partition; NULL equals NULL
  std::vector<SortKey> order;
  std::vector<WindowCall> calls;
  std::vector<size_t> kept;  // places in the input's layout of the columns that are passed on
};

// All rows of its inputs, with columns matched by position.
struct PhysicalUnion {};

struct PhysicalSharedRead {
  size_t shared = 0;           // index into PhysicalPlan::shared
  std::vector<size_t> places;  // for each column of the layout, its position in the shared plan
};

// WITH RECURSIVE: the rows of the first input, then those the second computes from the rows of the previous round, until a round has none.
struct PhysicalRecursion {
  size_t working_table = 0;  // its number in the query
  bool keeps_all = true;     // false: duplicates of earlier rows are dropped
};

// The rows of the previous round.
struct PhysicalWorkingRead {
  size_t working_table = 0;
  std::vector<size_t> places;  // for each column of the layout, its position in the recursion
};

// Repeats each row as often as the column says and drops that column.
struct PhysicalRepeat {
  ColumnId times;
};

// How rows of an exchange to combiners are combined.
struct CombiningTerms {
  std::vector<int64_t> hosts;         // of each rank
  std::vector<ExpressionPtr> groups;  // rows with equal values are combined
  int64_t helpers = 0;                // ranks of a host that combine; 0: all of them
  bool on_arrival = false;            // ranks of the destination's host combine instead of the sender's
  bool again_on_arrival = false;      // an exchange with on_arrival follows: rows go to its combiners
  bool may_be_off = false;            // the ranks decide while the query runs whether rows are combined (exec/adaptive/on_path_choice.h)
  double link_seconds = 0;            // a row's time on the link; 0: unknown
  double row_bytes = 0;               // that this follows from
};

// Moves rows between ranks.
struct PhysicalExchange {
  enum class Kind {
    Gather,       // all to rank 0
    Broadcast,    // all to every rank
    Repartition,  // each to the rank given by the hash of its keys
    Scatter,      // evenly to all
    Merge,        // all to rank 0, which merges the ranks' rows, each sorted by `order`
    Range,        // by `order`: each rank gets one range, in the order of ranks
    RankByRank,   // all to rank 0, which concatenates the ranks' rows
    SpreadBuild,  // rows of keys that are frequent on the join's probe side to every rank; others stay
    ToCombiner,   // to the rank that combines rows for their destination, which the keys give; rank 0 without keys
  };
  Kind kind = Kind::Gather;
  std::vector<ExpressionPtr> keys;  // Repartition, SpreadBuild, ToCombiner
  size_t number = 0;                // among the exchanges of the plan
  std::vector<SortKey> order;       // Merge, Range
  // Repartition of a join's probe side: rows of frequent keys stay where they are; SpreadBuild on the other side broadcasts their matches.
  bool spreads = false;
  size_t partner = 0;  // SpreadBuild: the number of the probe side's exchange
  CombiningTerms combining;  // ToCombiner
  // SpreadBuild: the filter is built here instead of by the join. Rows wait here for the probe side, which in turn may wait for the filter:
  // a filter built after the exchange would come too late.
  std::optional<BuildSideFilter> filter;
};

bool goes_to_first_rank(PhysicalExchange::Kind kind);

std::string_view exchange_name(PhysicalExchange::Kind kind);

struct PhysicalNode {
  std::variant<PhysicalScan, PhysicalValues, PhysicalFilter, PhysicalProject, PhysicalJoin, PhysicalAggregate, PhysicalSort, PhysicalLimit,
               PhysicalGroupLimit, PhysicalWindow, PhysicalUnion, PhysicalSharedRead, PhysicalRecursion, PhysicalWorkingRead, PhysicalRepeat,
               PhysicalExchange>
      node;
  std::vector<PhysicalPtr> children;
  std::vector<ColumnId> layout;  // output columns, in order
  Distribution distribution;     // of the output rows
  double estimated_rows = 0;

  template <typename Node>
  const Node* as() const {
    return std::get_if<Node>(&node);
  }
};

struct PhysicalPlan {
  PhysicalPtr root;
  ColumnRegistry columns;
  // Plans that are computed once and read by PhysicalSharedRead; null if inlined. They may read each other.
  std::vector<PhysicalPtr> shared;
  size_t exchanges = 0;
  size_t filters = 0;
  size_t top_filters = 0;
  bool local_files = false;  // every rank has its own files, with the same columns

  std::vector<LogicalType> types_of(const std::vector<ColumnId>& ids) const;
};

// What the node requires of its inputs: any one of the alternatives, each with one requirement per input. Single inputs always suffice.
std::vector<std::vector<Requirement>> input_alternatives(const PhysicalNode& node, const ColumnRegistry& columns);

// The distribution of the node's rows, derived from its inputs. `plan` has the shared plans.
Distribution given_distribution(const PhysicalNode& node, const PhysicalPlan& plan);

// Visits every expression of the node itself, with the index of the child it is evaluated on; -1: on pairs of both.
void for_each_expression(const PhysicalNode& node, const std::function<void(const ExpressionPtr&, int child)>& visit);

}  // namespace pistachio
