// Which ranks merge partial results on their way (PhysicalExchange::Kind::ToCombiner), and where rows go from there. Pure: every rank
// computes the same, so that the rows of a group meet.
#pragma once

#include <cstdint>
#include <vector>

#include "physical/physical_node.h"

namespace pistachio {

// The rank that merges what `sender` has for `destination`; `share` divides the work among several. Before sending: one of the first
// `terms.helpers` ranks of the sender's host, or the destination itself if it is on that host. On arrival: one of the ranks of the
// destination's host; the destination is the last to help, since it has the final aggregation to do.
int combiner_of(int destination, int64_t share, int sender, const CombiningTerms& terms);

// The rank that merges what `sender` has of each bucket (exec/adaptive/bucket_spread.h).
std::vector<int> combiners_of_buckets(const PhysicalExchange& exchange, int sender, int ranks);

// The rank that each bucket goes to, merged or not.
std::vector<int> destinations_of_buckets(const PhysicalExchange& exchange, int ranks);

// Lanes that merge for the sender if each rank has `lanes`: those of the helpers of its host, divided among the ranks of that host.
double combining_lanes(const CombiningTerms& terms, int sender, int lanes);

}  // namespace pistachio
