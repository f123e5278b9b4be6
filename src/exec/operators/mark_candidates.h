// Hash lookup for IN: candidates of a mark join whose comparisons are all equalities. Pairs with equal values are matches; pairs whose
// comparison is NULL are reported as unknown.
#pragma once

#include "exec/operators/join_candidates.h"

namespace pistachio {

std::unique_ptr<JoinCandidates> make_mark_candidates(const PhysicalJoin& join, const std::vector<ColumnId>& left_layout,
                                                     const std::vector<ColumnId>& right_layout, const Chunk& build,
                                                     const MemoryAccount& account, at::Device device, const CancelToken& token);

}  // namespace pistachio
