// The build side of a join as one chunk in memory, with the index that finds candidates in it. Read-only once built, except that each lane
// marks the rows it matched.
#pragma once

#include <memory>
#include <vector>

#include "exec/core/spillable_rows.h"
#include "exec/operators/join_candidates.h"
#include "exec/operators/join_shape.h"

namespace pistachio {

class BuildSide {
 public:
  BuildSide(const JoinShape& shape, const MemoryAccount& account) : shape_(shape), account_(account) {}

  // `memory`: the reservations of the rows.
  void build(RunContext& context, Chunk rows, std::vector<Reservation> memory, const CancelToken& token);
  // The same; builds a large hash table on all lanes. If memory is short, spills retained rows and tries again.
  Task<void> build_on_lanes(RunContext& context, Chunk rows, std::vector<Reservation> memory, OperatorMetrics& metrics);

  // Takes the rows and their reservations back, after a build function threw OutOfMemory.
  SpillableRows::Rows give_back();

  const Chunk& rows() const { return rows_; }
  const JoinCandidates& candidates() const { return *candidates_; }
  bool notes_matches() const { return !matched_.empty(); }
  void note_matches(int lane, const at::Tensor& rows) { matched_[static_cast<size_t>(lane)].index_fill_(0, rows, true); }
  // Right, Full, RightSemi, RightAnti: outputs the rows that were matched, or those that were not.
  Task<void> produce_rows_by_match(RunContext& context, OperatorMetrics& metrics, ChunkSink& sink) const;

 private:
  bool make_matched(RunContext& context);
  at::Tensor rows_by_match(bool wanted) const;

  const JoinShape& shape_;
  MemoryAccount account_;
  std::vector<Reservation> memory_;
  Chunk rows_;
  std::unique_ptr<JoinCandidates> candidates_;
  std::vector<at::Tensor> matched_;  // per lane: matched rows, or groups of rows with equal keys
};

}  // namespace pistachio
