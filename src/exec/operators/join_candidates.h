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
  // Of a join with compared keys: these pairs do not match, but a NULL leaves open whether their compared values are equal.
  bool is_unknown = false;
};

// Made from the rows of the build side. Read-only, used by all lanes at the same time.
class JoinCandidates {
 public:
  // The candidates of one chunk of the left side.
  class Search {
   public:
    virtual ~Search() = default;
    // About `most` further pairs, possibly none; nothing at the end.
    virtual std::optional<RowPairs> next(int64_t most) = 0;
  };

  virtual ~JoinCandidates() = default;
  virtual std::unique_ptr<Search> search(const Chunk& left, const CancelToken& token) const = 0;
  // Undefined: pairs name rows of the build side. Otherwise they name groups of rows with equal keys, and this is the group of each row.
  virtual at::Tensor groups() const { return {}; }
};

// Every pair of so many rows.
std::unique_ptr<JoinCandidates::Search> search_all(int64_t left_rows, int64_t build_rows, at::Device device);

// The strategy that the plan chose. `build` outlives what is made.
std::unique_ptr<JoinCandidates> make_join_candidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout,
                                                     const std::vector<ColumnId>& right_layout, const Chunk& build,
                                                     const MemoryAccount& account, at::Device device, const CancelToken& token);

}  // namespace pistachio
