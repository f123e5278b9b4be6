#include "exec/adaptive/combining_ranks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace pistachio {
namespace {

PhysicalExchange exchange_of(std::vector<int64_t> hosts, bool has_keys) {
  PhysicalExchange exchange{.kind = PhysicalExchange::Kind::ToCombiner};
  if (has_keys) exchange.keys.push_back(Expression::column(ColumnId{1}, TypeKind::BigInt));
  exchange.combining.hosts = std::move(hosts);
  return exchange;
}

TEST(CombinerOf, RanksOfAHostShareTheDestinations) {
  const CombiningTerms terms{.hosts = {0, 0, 1, 1}};
  for (int sender : {0, 1}) {
    EXPECT_EQ(combiner_of(2, 0, sender, terms), 0);
    EXPECT_EQ(combiner_of(3, 1, sender, terms), 1);
  }
  for (int sender : {2, 3}) {
    EXPECT_EQ(combiner_of(0, 0, sender, terms), 2);
    EXPECT_EQ(combiner_of(1, 1, sender, terms), 3);
  }
}

TEST(CombinerOf, LocalRowsGoStraightToTheirDestination) {
  for (int64_t helpers : {0, 1}) {
    const CombiningTerms terms{.hosts = {0, 1, 0, 1, 1}, .helpers = helpers};
    for (int sender : {1, 3, 4}) {
      for (int destination : {1, 3, 4}) EXPECT_EQ(combiner_of(destination, destination, sender, terms), destination);
    }
  }
}

// Otherwise rows of a group would not meet.
TEST(CombinerOf, AllRanksOfAHostAgree) {
  for (int64_t helpers : {0, 1, 2, 1024}) {
    const CombiningTerms terms{.hosts = {0, 2, 0, 1, 2, 0, 3}, .helpers = helpers};
    const int ranks = static_cast<int>(terms.hosts.size());
    for (int destination = 0; destination < ranks; ++destination) {
      for (int sender = 0; sender < ranks; ++sender) {
        const int combiner = combiner_of(destination, destination, sender, terms);
        EXPECT_EQ(terms.hosts[static_cast<size_t>(combiner)], terms.hosts[static_cast<size_t>(sender)]);
        EXPECT_EQ(combiner_of(destination, destination, combiner, terms), combiner);
      }
    }
  }
}

TEST(CombinerOf, HelpersAreTheFirstRanksOfAHost) {
  CombiningTerms terms{.hosts = {0, 1, 1, 1}};
  const std::map<int64_t, std::set<int>> expected = {{0, {1, 2, 3}}, {1, {1}}, {2, {1, 2}}, {3, {1, 2, 3}}, {1024, {1, 2, 3}}};
  for (const auto& [helpers, combiners] : expected) {
    terms.helpers = helpers;
    std::set<int> found;
    for (int64_t share = 0; share < 6; ++share) found.insert(combiner_of(0, share, 3, terms));
    EXPECT_EQ(found, combiners) << helpers << " helpers";
  }
}

TEST(CombinerOf, OnArrivalTheDestinationIsTheLastHelper) {
  CombiningTerms terms{.hosts = {0, 1, 0, 0, 2}, .on_arrival = true};
  const std::map<int64_t, std::vector<int>> expected = {{0, {2, 3, 0}}, {1, {2, 2, 2}}, {2, {2, 3, 2}}, {1024, {2, 3, 0}}};
  for (const auto& [helpers, combiners] : expected) {
    terms.helpers = helpers;
    for (int sender = 0; sender < 5; ++sender) {
      for (int64_t share = 0; share < 3; ++share) EXPECT_EQ(combiner_of(0, share, sender, terms), combiners[static_cast<size_t>(share)]);
      EXPECT_EQ(combiner_of(4, 1, sender, terms), 4);  // alone on its host
    }
  }
}

// Within the receiving host a row moves only to the rank that merges it.
TEST(CombinersOfBuckets, BeforeArrivalRowsGoToItsCombiners) {
  PhysicalExchange leaving = exchange_of({0, 0, 1, 1}, false), arriving = leaving;
  leaving.combining.again_on_arrival = true;
  arriving.combining.on_arrival = true;
  const std::vector<int> arrivals = combiners_of_buckets(arriving, 3, 4);
  EXPECT_EQ(std::set<int>(arrivals.begin(), arrivals.end()), (std::set<int>{0, 1}));
  EXPECT_EQ(destinations_of_buckets(leaving, 4), arrivals);
  EXPECT_EQ(combiners_of_buckets(leaving, 0, 4), arrivals);
  EXPECT_EQ(combiners_of_buckets(leaving, 1, 4), arrivals);
  for (int combiner : combiners_of_buckets(leaving, 2, 4)) EXPECT_GE(combiner, 2);
  EXPECT_EQ(destinations_of_buckets(arriving, 4), std::vector<int>(arrivals.size(), 0));
}

TEST(CombinersOfBuckets, RanksOfAHostShareOneDestination) {
  const std::vector<int> combiners = combiners_of_buckets(exchange_of({0, 1, 1}, false), 2, 3);
  for (size_t bucket = 0; bucket < combiners.size(); ++bucket) EXPECT_EQ(combiners[bucket], 1 + static_cast<int>(bucket % 2));
}

// Ranks alternate between two hosts: those of the other host all have odd numbers.
TEST(CombinersOfBuckets, AlternatingHostsLoadAllTheirRanks) {
  const PhysicalExchange exchange = exchange_of({0, 1, 0, 1}, true);
  const std::vector<int> combiners = combiners_of_buckets(exchange, 0, 4);
  const std::vector<int> destinations = destinations_of_buckets(exchange, 4);
  const std::map<int, int> expected = {{0, 0}, {1, 0}, {2, 2}, {3, 2}};
  for (size_t bucket = 0; bucket < combiners.size(); ++bucket) EXPECT_EQ(combiners[bucket], expected.at(destinations[bucket]));
}

TEST(NextHops, OnlyRowsThatLeaveTheHostVisitCombiners) {
  const PhysicalExchange leaving = exchange_of({0, 0, 1, 1}, true), repartition{.kind = PhysicalExchange::Kind::Repartition};
  const std::vector<NextHop> merging = next_hops({&leaving, &repartition}, 1, 4, true);
  const std::vector<NextHop> passing = next_hops({&leaving, &repartition}, 1, 4, false);
  const std::vector<int> destinations = destinations_of_buckets(leaving, 4);
  const std::map<int, NextHop> expected = {{0, {1, 0}}, {1, {1, 1}}, {2, {0, 0}}, {3, {0, 1}}};
  for (size_t bucket = 0; bucket < merging.size(); ++bucket) {
    EXPECT_EQ(merging[bucket], expected.at(destinations[bucket])) << bucket;
    EXPECT_EQ(passing[bucket], (NextHop{1, destinations[bucket]})) << bucket;
  }
  EXPECT_DOUBLE_EQ(combined_fraction(leaving, 1, 4), 0.5);
}

// Rank 0 merges nothing on arrival: it has the final aggregation.
TEST(NextHops, RowsForTheDestinationSkipMergingOnArrival) {
  PhysicalExchange leaving = exchange_of({0, 0, 1, 1}, false), arriving = leaving;
  const PhysicalExchange gather{.kind = PhysicalExchange::Kind::Gather};
  leaving.combining.again_on_arrival = true;
  arriving.combining.on_arrival = true;
  const std::vector<int> arrivals = destinations_of_buckets(leaving, 4);
  for (int sender : {0, 3}) {
    for (bool merges : {false, true}) {
      const std::vector<NextHop> stops = next_hops({&leaving, &arriving, &gather}, sender, 4, merges);
      for (size_t bucket = 0; bucket < stops.size(); ++bucket) {
        if (merges && sender == 3) {
          EXPECT_EQ(stops[bucket].exchange, 0u) << bucket;
          EXPECT_GE(stops[bucket].rank, 2) << bucket;
        } else {
          EXPECT_EQ(stops[bucket], (arrivals[bucket] == 0 ? NextHop{2, 0} : NextHop{1, 1})) << bucket;
        }
      }
    }
  }
  const std::vector<NextHop> arrived = next_hops({&arriving, &gather}, 2, 4, true);
  for (size_t bucket = 0; bucket < arrived.size(); ++bucket)
    EXPECT_EQ(arrived[bucket], (arrivals[bucket] == 0 ? NextHop{1, 0} : NextHop{0, 1})) << bucket;
  EXPECT_DOUBLE_EQ(combined_fraction(leaving, 0, 4), 0);
  EXPECT_DOUBLE_EQ(combined_fraction(leaving, 3, 4), 1);
  EXPECT_DOUBLE_EQ(combined_fraction(arriving, 3, 4), 0.5);
}

}  // namespace
}  // namespace pistachio
