// What a window operator knows of its plan before it sees rows: places of columns, and the expressions that its calls need, each evaluated once.
// Immutable, shared by all lanes.
#pragma once

#include <vector>

#include "expr/expression_evaluator.h"
#include "physical/physical_node.h"

namespace pistachio {

struct WindowPlan {
  WindowPlan(PhysicalWindow plan, const std::vector<ColumnId>& input_layout, std::vector<LogicalType> input_types);

  // Places among the values of `expressions`; -1: none.
  struct CallPlaces {
    std::vector<int> arguments;
    int filter = -1;
    int range_key = -1;
    int range_begin = -1;
    int range_end = -1;
  };

  // The values of the partition columns, of a chunk of the input.
  std::vector<Column> partition_columns(const Chunk& rows) const;
  // int64 [rows]: equal for rows of one partition.
  at::Tensor partition_hashes(const Chunk& rows, const CancelToken& token) const;
  // Bytes for each row of one piece of work, besides those of the row itself: sort words, bounds of partitions and frames, results.
  int64_t bytes_per_row() const;

  // The most order keys of a call that looks at peers; without such calls 0.
  size_t keys_of_peers() const;

  PhysicalWindow plan;
  std::vector<LogicalType> types;  // of the input
  std::vector<size_t> partition;   // places of the input's columns
  std::vector<int> order;          // of each order key
  std::vector<CallPlaces> calls;
  ExpressionEvaluator expressions;

 private:
  std::vector<ExpressionPtr> list_expressions();
};

}  // namespace pistachio
