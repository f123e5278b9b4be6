// What the parts of a join operator need to know of it: the plan, its inputs, and which of their columns are output.
#pragma once

#include <vector>

#include "physical/physical_node.h"

namespace pistachio {

struct JoinShape {
  JoinShape(const PhysicalJoin& plan, const std::vector<ColumnId>& layout, std::vector<ColumnId> left_layout, std::vector<ColumnId> right_layout,
            std::vector<LogicalType> left_types, std::vector<LogicalType> right_types);

  bool gives_pairs() const;
  // Whether rows of the build side are output depending on whether the whole left side matched them.
  bool asks_for_matched_build_rows() const;
  bool asks_for_left_matches() const;
  // Whether only the existence of a match matters, without further conditions.
  bool asks_for_any_match() const;
  // Bytes that build rows take in memory besides themselves: while they are concatenated, then for the table of their keys.
  int64_t bytes_of_table(int64_t bytes, int64_t rows) const;
  // Whether rows of the left side matter if the build side has this many.
  bool wants_left_rows(int64_t build_rows) const;

  PhysicalJoin plan;
  std::vector<ColumnId> left_layout;
  std::vector<ColumnId> right_layout;
  std::vector<LogicalType> left_types;
  std::vector<LogicalType> right_types;
  // Output: these columns of the left and of the right input, then the mark.
  std::vector<size_t> left_places;
  std::vector<size_t> right_places;
  bool gives_mark = false;
};

}  // namespace pistachio
