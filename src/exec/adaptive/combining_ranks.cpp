#include "exec/adaptive/combining_ranks.h"

#include <algorithm>

#include "exec/adaptive/bucket_spread.h"

namespace pistachio {

namespace {

std::vector<int> ranks_on_host_of(int rank, const std::vector<int64_t>& hosts) {
  std::vector<int> found;
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i] == hosts[static_cast<size_t>(rank)]) found.push_back(static_cast<int>(i));
  }
  return found;
}

int64_t helpers_among(const std::vector<int>& ranks, int64_t helpers) {
  const auto count = static_cast<int64_t>(ranks.size());
  return helpers == 0 ? count : std::min(helpers, count);
}

int chosen(const std::vector<int>& ranks, int64_t share, int64_t helpers) {
  return ranks[static_cast<size_t>(share % helpers_among(ranks, helpers))];
}

// The destination's index among the ranks of other hosts. Its rank number would load helpers unevenly where ranks alternate between hosts.
int64_t share_of(int destination, int sender, const std::vector<int64_t>& hosts) {
  int64_t share = 0;
  for (int rank = 0; rank < destination; ++rank)
    share += hosts[static_cast<size_t>(rank)] != hosts[static_cast<size_t>(sender)] ? 1 : 0;
  return share;
}

int combiner_on_arrival(int destination, int64_t share, const CombiningTerms& terms) {
  std::vector<int> ranks = ranks_on_host_of(destination, terms.hosts);
  const auto own = std::find(ranks.begin(), ranks.end(), destination);
  std::rotate(own, own + 1, ranks.end());
  return chosen(ranks, share, terms.helpers);
}

}  // namespace

int combiner_of(int destination, int64_t share, int sender, const CombiningTerms& terms) {
  if (terms.on_arrival) return combiner_on_arrival(destination, share, terms);
  // Rows that stay on the host go straight to their destination.
  if (terms.hosts[static_cast<size_t>(destination)] == terms.hosts[static_cast<size_t>(sender)]) return destination;
  return chosen(ranks_on_host_of(sender, terms.hosts), share, terms.helpers);
}

std::vector<int> combiners_of_buckets(const PhysicalExchange& exchange, int sender, int ranks) {
  const CombiningTerms& terms = exchange.combining;
  std::vector<int> combiners = destinations_of_buckets(exchange, ranks);
  for (size_t bucket = 0; bucket < combiners.size(); ++bucket) {
    // All helpers share a single destination. With several destinations each has one helper, so that messages fill sooner.
    const bool by_bucket = exchange.keys.empty() || terms.on_arrival;
    const int64_t share = by_bucket ? static_cast<int64_t>(bucket) : share_of(combiners[bucket], sender, terms.hosts);
    combiners[bucket] = combiner_of(combiners[bucket], share, sender, terms);
  }
  return combiners;
}

std::vector<int> destinations_of_buckets(const PhysicalExchange& exchange, int ranks) {
  std::vector<int> destinations;
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    const int last = exchange.keys.empty() ? 0 : owner_of(bucket, ranks);
    destinations.push_back(exchange.combining.again_on_arrival ? combiner_on_arrival(last, bucket, exchange.combining) : last);
  }
  return destinations;
}

std::vector<NextHop> next_hops(const std::vector<const PhysicalExchange*>& chain, int sender, int ranks, bool merges) {
  const std::vector<int> combiners = combiners_of_buckets(*chain[0], sender, ranks);
  std::vector<std::vector<int>> destinations;  // by exchange and bucket
  for (const PhysicalExchange* exchange : chain) {
    if (exchange != chain.back()) destinations.push_back(destinations_of_buckets(*exchange, ranks));
  }
  std::vector<NextHop> stops;
  for (size_t bucket = 0; bucket < combiners.size(); ++bucket) {
    const int first = destinations[0][bucket];
    if (merges && combiners[bucket] != first) {
      stops.push_back({0, combiners[bucket]});
      continue;
    }
    // The destination of an exchange is the combiner of the next one.
    size_t exchange = 1;
    while (exchange + 1 < chain.size() && destinations[exchange][bucket] == first) ++exchange;
    stops.push_back({exchange, first});
  }
  return stops;
}

std::vector<int> senders_in_hash_order(const CombiningTerms& terms, int rank) {
  // What arrives from other hosts left tables there when slots collided.
  return terms.on_arrival ? std::vector<int>() : ranks_on_host_of(rank, terms.hosts);
}

double combined_fraction(const PhysicalExchange& exchange, int sender, int ranks) {
  const std::vector<int> combiners = combiners_of_buckets(exchange, sender, ranks);
  const std::vector<int> destinations = destinations_of_buckets(exchange, ranks);
  int64_t combined = 0;
  for (size_t bucket = 0; bucket < combiners.size(); ++bucket) combined += combiners[bucket] != destinations[bucket] ? 1 : 0;
  return static_cast<double>(combined) / static_cast<double>(combiners.size());
}

double combining_lanes(const CombiningTerms& terms, int sender, int lanes) {
  const std::vector<int> ranks = ranks_on_host_of(sender, terms.hosts);
  return static_cast<double>(lanes * helpers_among(ranks, terms.helpers)) / static_cast<double>(ranks.size());
}

}  // namespace pistachio
