// Candidate pairs of a join: by hash of the keys, by range in an ordered build side, or the cross product. The caller evaluates the remaining
// join condition.
#pragma once

#include <memory>
#include <optional>

#include "exec/core/operator.h"
#include "physical/physical_node.h"

namespace pistachio {

struct RowPairs {
  at::Tensor left;   // rows of the chunk, ascending
  at::Tensor right;  // rows of the build side
  // Join with compared keys only: the comparison of these pairs is unknown because of a NULL, so they are no matches.
  bool is_unknown = false;
  // Each row of the chunk is in one pair.
  bool has_each_left_row = false;
};

// The index over the rows of the build side. Read-only; used by all lanes concurrently.
class JoinCandidates {
 public:
  // The candidates of one chunk of the left side.
  class Search {
   public:
    virtual ~Search() = default;
    // About `most` further pairs, possibly none; nullopt at the end. If it throws OutOfMemory, it may be called again for the same pairs.
    virtual std::optional<RowPairs> next(int64_t most) = 0;
  };

  virtual ~JoinCandidates() = default;
  virtual std::unique_ptr<Search> search(const Chunk& left, const CancelToken& token) const = 0;
  // bool [rows]: the left rows that have candidates; nullopt if only search() can tell.
  virtual std::optional<at::Tensor> rows_with_candidates(const Chunk& /*left*/, const CancelToken& /*token*/) const { return std::nullopt; }
  // Undefined: RowPairs::right are build rows. Otherwise they are groups of build rows with equal keys, and this is the group of each build
  // row.
  virtual at::Tensor groups() const { return {}; }
};

// The cross product of the row numbers.
std::unique_ptr<JoinCandidates::Search> search_all(int64_t left_rows, int64_t build_rows, at::Device device);

// Implements the strategy that the plan chose. `build` outlives the result.
std::unique_ptr<JoinCandidates> make_join_candidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout,
                                                     const std::vector<ColumnId>& right_layout, const Chunk& build,
                                                     const MemoryAccount& account, at::Device device, const CancelToken& token);
// The same; builds a large hash table on all lanes. All arguments outlive the task.
Task<std::unique_ptr<JoinCandidates>> make_join_candidates_on_lanes(RunContext& context, const PhysicalJoin& join,
                                                                    const std::vector<ColumnId>& left_layout,
                                                                    const std::vector<ColumnId>& right_layout, const Chunk& build,
                                                                    const MemoryAccount& account, OperatorMetrics& metrics);

}  // namespace pistachio
