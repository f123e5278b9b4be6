// Which ranks merge partial results in transit (PhysicalExchange::Kind::ToCombiner), and where rows go from there. Pure functions: every
// rank computes the same, so that the rows of a group meet.
#pragma once

#include <cstdint>
#include <vector>

#include "physical/physical_node.h"

namespace pistachio {

// The rank that merges the rows that `sender` has for `destination`; `share` spreads the work over several helpers. Before sending, it is
// one of the first `terms.helpers` ranks of the sender's host, or the destination itself if that is on the same host. On arrival, it is one
// of the ranks of the destination's host; the destination itself is the last choice, since it also runs the final aggregation.
int combiner_of(int destination, int64_t share, int sender, const CombiningTerms& terms);

// For each bucket (exec/adaptive/bucket_spread.h), the rank that merges the sender's rows of it.
std::vector<int> combiners_of_buckets(const PhysicalExchange& exchange, int sender, int ranks);

// For each bucket, the rank that its rows go to after merging, or without it.
std::vector<int> destinations_of_buckets(const PhysicalExchange& exchange, int ranks);

// The next stop of a bucket's rows: they enter exchange `exchange` of a chain, for `rank`.
struct NextHop {
  size_t exchange = 0;
  int rank = 0;

  bool operator==(const NextHop&) const = default;
};

// For each bucket, where the rows that `sender` has for the first exchange of the chain go. Each exchange of the chain sends them to
// combiners, except the last, and reads what the one before has merged. Rows skip the exchanges in which their combiner would be their
// destination. Without `merges`, rows also skip the first one.
std::vector<NextHop> next_hops(const std::vector<const PhysicalExchange*>& chain, int sender, int ranks, bool merges);

// The ranks whose rows `rank` merges, if all of them send their rows in hash order; else none.
std::vector<int> senders_in_hash_order(const CombiningTerms& terms, int rank);

// The fraction of the sender's rows that combiners get while merging is on: those that leave its host.
double combined_fraction(const PhysicalExchange& exchange, int sender, int ranks);

// The sender's share of the lanes that merge on its host: `lanes` per helper, divided by the number of ranks on the host.
double combining_lanes(const CombiningTerms& terms, int sender, int lanes);

}  // namespace pistachio
