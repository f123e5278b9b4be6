// What the parts of a join operator share: the plan, its inputs, and which of their columns are output.
#pragma once

#include <vector>

#include "physical/physical_node.h"

namespace pistachio {

struct JoinShape {
  JoinShape(const PhysicalJoin& plan, const std::vector<ColumnId>& layout, std::vector<ColumnId> left_layout, std::vector<ColumnId> right_layout,
            std::vector<LogicalType> left_types, std::vector<LogicalType> right_types);

  bool gives_pairs() const;
  // Whether build rows are output depending on whether any left row matched them.
  bool asks_for_matched_build_rows() const;
  bool asks_for_left_matches() const;
  // Whether only the existence of a match matters, without further conditions.
  bool asks_for_any_match() const;
  // Additional bytes that build rows need in memory: while they are concatenated, then for the hash table of their keys.
  int64_t bytes_of_table(int64_t bytes, int64_t rows) const;
  // Bytes that these build rows take, with their table, once it is built.
  int64_t bytes_kept(int64_t bytes, int64_t rows) const;
  // Whether rows of the left side matter if the build side has this many.
  bool wants_left_rows(int64_t build_rows) const;

  PhysicalJoin plan;
  std::vector<ColumnId> left_layout;
  std::vector<ColumnId> right_layout;
  std::vector<LogicalType> left_types;
  std::vector<LogicalType> right_types;
  // Output columns: these of the left input, these of the right input, then the mark.
  std::vector<size_t> left_places;
  std::vector<size_t> right_places;
  bool gives_mark = false;

 private:
  bool has_table() const;
};

}  // namespace pistachio
