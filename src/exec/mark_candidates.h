// IN by hash: candidates of a mark join whose comparisons are all equalities of a value of each side. Pairs whose compared values are
// equal come as matches; those that a NULL leaves open, as unknown.
#pragma once

#include "exec/join_candidates.h"

namespace pistachio {

std::unique_ptr<JoinCandidates> make_mark_candidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout,
                                                     const std::vector<ColumnId>& right_layout, const Chunk& build,
                                                     const MemoryAccount& account, at::Device device);

}  // namespace pistachio
