#include "exec/adaptive/on_path_choice.h"

#include <gtest/gtest.h>

#include "exec/adaptive/combining_ranks.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/tensor_functions.h"
#include "physical/combining_costs.h"

namespace pistachio {
namespace {

// The note of a rank that has the keys [begin, end).
std::string note_of(int64_t begin, int64_t end) {
  const at::Tensor keys = at::randperm(end - begin, at::kLong) + begin;
  KeySample sample;
  for (const at::Tensor& part : kernels::hash64(keys).split(10'000)) sample.add(part);
  EXPECT_EQ(sample.rows(), end - begin);
  return sample.note();
}

TEST(KeySample, SeesWhichKeysRanksShare) {
  constexpr int64_t kKeys = 100'000;
  EXPECT_NEAR(KeySample::mergeable_share({note_of(0, kKeys), note_of(0, kKeys)}), 0.5, 0.01);
  EXPECT_NEAR(KeySample::mergeable_share({note_of(0, kKeys), note_of(kKeys / 2, 3 * kKeys / 2)}), 0.25, 0.02);
  EXPECT_NEAR(KeySample::mergeable_share({note_of(0, kKeys), note_of(0, kKeys), note_of(0, kKeys)}), 0.667, 0.01);
  EXPECT_EQ(KeySample::mergeable_share({note_of(0, kKeys), note_of(kKeys, 2 * kKeys)}), 0);
  EXPECT_EQ(KeySample::mergeable_share({note_of(0, 0), note_of(0, 0)}), 0);
}

TEST(KeySample, SeesWhatIsLeftToMergeOnArrival) {
  constexpr int64_t kKeys = 100'000;
  const std::string low = note_of(0, kKeys), high = note_of(kKeys, 2 * kKeys);
  // Hosts that share all keys; hosts that share none; a host that merges everything itself.
  EXPECT_NEAR(KeySample::arrival_share({low, high, low, high}, {0, 0, 1, 1}), 0.5, 0.01);
  EXPECT_EQ(KeySample::arrival_share({low, low, high, high}, {0, 0, 1, 1}), 0);
  EXPECT_EQ(KeySample::arrival_share({low, low, low}, {7, 7, 7}), 0);
}

TEST(KeySample, TakesRanksWithFewAndManyRows) {
  EXPECT_NEAR(KeySample::mergeable_share({note_of(0, 1'000'000), note_of(0, 200)}), 0, 0.01);
  EXPECT_NEAR(KeySample::mergeable_share({note_of(0, 50), note_of(0, 50)}), 0.5, 0.001);
}

// So many that a change of the decision costs nothing.
constexpr int64_t kRows = 1'000'000'000;
constexpr double kRowBytes = 10;
const double kMergeAndHandOver = hand_over_seconds(kRowBytes) + merge_seconds(kRowBytes);

// A choice that knows how large the first rows are.
struct BegunChoice : OnPathChoice {
  BegunChoice(double link_seconds, double lanes) : OnPathChoice(link_seconds, kRowBytes, lanes, true) { begin(link_seconds); }
};

// A choice that knows the share, and that rows are produced faster than they are sent.
struct InformedChoice : OnPathChoice {
  InformedChoice(double link_seconds, double lanes, double share) : OnPathChoice(link_seconds, kRowBytes, lanes, true) {
    begin(link_seconds);
    produce(kRows, 0);
    estimate(share, 0);
  }
};

TEST(OnPathChoice, ComparesTheLinkWithTheCostOfMerging) {
  // A microsecond per row on the link justifies a lot of merging.
  EXPECT_TRUE(InformedChoice(1e-6, 1, 0.3).is_on());
  EXPECT_FALSE(InformedChoice(1e-6, 1, 0.01).is_on());
  const InformedChoice fast_link(10e-9, 1, 0.5);
  EXPECT_FALSE(fast_link.is_on());
  EXPECT_EQ(fast_link.least_share(), 1);
  // Several cores share the merging.
  const InformedChoice many_cores(100e-9, 16, 0.3);
  EXPECT_TRUE(many_cores.is_on());
  const double path = kMergeAndHandOver / 16;
  EXPECT_NEAR(many_cores.least_share(), 1 - (0.95 * 100e-9 - 0.3 * path) / 100e-9, 1e-6);
  OnPathChoice always(10e-9, kRowBytes, 1, false);
  always.estimate(0, 0);
  always.produce(kRows, 1);
  EXPECT_TRUE(always.is_on());
}

// On such a link only a large share pays.
const double kFairlySlowLink = 1.25 * kMergeAndHandOver;

TEST(OnPathChoice, BeginsOnceShareAndTimeOfRowsAreKnown) {
  BegunChoice choice(kFairlySlowLink, 1);
  EXPECT_FALSE(choice.is_on());
  choice.estimate(0.9, 0);
  EXPECT_FALSE(choice.is_on());
  EXPECT_FALSE(choice.may_begin());
  choice.produce(kRows, 0.01 * kFairlySlowLink * kRows);
  EXPECT_TRUE(choice.is_on());
  BegunChoice other(kFairlySlowLink, 1);
  other.produce(kRows, 0.01 * kFairlySlowLink * kRows);
  EXPECT_TRUE(other.may_begin());
  other.observe(kRows, kRows / 2, kRows / 2, 100);  // one rank may be ahead of the others: only the samples are comparable
  EXPECT_FALSE(other.is_on());
  other.estimate(0.9, 0);
  EXPECT_TRUE(other.is_on());
}

TEST(OnPathChoice, SlowLinkBeginsWithMerging) {
  BegunChoice choice(4 * kMergeAndHandOver, 1);
  EXPECT_TRUE(choice.is_on());
  choice.estimate(0.2, 0);
  EXPECT_TRUE(choice.is_on());
  // So few rows do not lose what a change takes.
  choice.estimate(0.04, 0);
  EXPECT_TRUE(choice.is_on());
  choice.produce(kRows, 0.01 * kMergeAndHandOver * kRows);
  EXPECT_FALSE(choice.is_on());
  // Where nothing can be merged, even a few rows are too many.
  BegunChoice hopeless(4 * kMergeAndHandOver, 1);
  EXPECT_TRUE(hopeless.is_on());
  hopeless.estimate(0.01, 0);
  EXPECT_FALSE(hopeless.is_on());
  // Rows that take long to produce, unlike those on the link, turn it off as well.
  BegunChoice slow_rows(4 * kMergeAndHandOver, 1);
  slow_rows.estimate(0.5, 0);
  slow_rows.produce(kRows, 80 * kMergeAndHandOver * kRows);
  EXPECT_FALSE(slow_rows.is_on());
  EXPECT_FALSE(slow_rows.may_begin());
}

TEST(OnPathChoice, SmallRowsOnTheWireNeedNoMerging) {
  BegunChoice choice(6 * kMergeAndHandOver, 1);
  choice.estimate(0.5, 0);
  EXPECT_TRUE(choice.is_on());
  choice.set_link_seconds(0.6 * kMergeAndHandOver);  // compressed well
  choice.produce(kRows, 1.3 * kMergeAndHandOver * kRows);
  EXPECT_FALSE(choice.is_on());
}

TEST(OnPathChoice, CountsWorkAndLinkThatDoNotOverlap) {
  // The link is the bottleneck, and merging would relieve it by a tenth; but the cores are busy as well, and would be more so.
  BegunChoice busy(6 * kMergeAndHandOver, 1);
  busy.produce(kRows, 5.5 * kMergeAndHandOver * kRows);
  busy.estimate(0.1, 0);
  EXPECT_FALSE(busy.is_on());
  BegunChoice idle(6 * kMergeAndHandOver, 16);
  idle.produce(kRows, 0.5 * kMergeAndHandOver * kRows);
  idle.estimate(0.1, 0);
  EXPECT_TRUE(idle.is_on());
  // Exactly the least share pays, whether work or the link takes longer then.
  for (const double link_seconds : {1.2 * kMergeAndHandOver, 6 * kMergeAndHandOver}) {
    const double least = InformedChoice(link_seconds, 1, 0).least_share();
    EXPECT_FALSE(InformedChoice(link_seconds, 1, least - 0.01).is_on());
    EXPECT_TRUE(InformedChoice(link_seconds, 1, least + 0.01).is_on());
  }
}

TEST(OnPathChoice, RanksThatShareAHelperNeedASlowerLink) {
  CombiningTerms terms{.hosts = {0, 1, 1, 1, 1}};
  EXPECT_EQ(combining_lanes(terms, 2, 2), 2);
  const double link_seconds = 0.9 * kMergeAndHandOver;
  const InformedChoice all_merge(link_seconds, combining_lanes(terms, 2, 2), 0.75);
  EXPECT_TRUE(all_merge.is_on());
  terms.helpers = 1;
  const InformedChoice one_merges(link_seconds, combining_lanes(terms, 2, 2), 0.75);
  EXPECT_DOUBLE_EQ(one_merges.path_seconds(), 4 * all_merge.path_seconds());
  EXPECT_FALSE(one_merges.is_on());
  terms.helpers = 1024;
  EXPECT_EQ(combining_lanes(terms, 2, 2), 2);
  EXPECT_EQ(combining_lanes(terms, 0, 2), 2);
}

TEST(OnPathChoice, StopsWhenProducingIsTheBottleneck) {
  OnPathChoice choice(1e-6, kRowBytes, 1, true);
  choice.estimate(0.5, 0);
  // Until enough rows were produced, their time says nothing.
  choice.produce(100, 0);
  EXPECT_FALSE(choice.is_on());
  // Half a microsecond per row: the link is the bottleneck without merging.
  choice.produce(kRows, 0.5e-6 * kRows);
  EXPECT_TRUE(choice.is_on());
  EXPECT_NEAR(choice.produce_seconds(), 0.5e-6, 1e-9);
  // Ten microseconds: the link waits for the cores, which merging keeps busy in addition.
  choice.produce(2 * kRows, 10.5e-6 * kRows);
  EXPECT_FALSE(choice.is_on());
  EXPECT_NEAR(choice.produce_seconds() + choice.path_seconds(), 10e-6, 1e-9);
  EXPECT_EQ(choice.least_share(), 1);
  // Unmerged rows take half a microsecond again, counted from the decision on.
  choice.produce(3 * kRows, 11e-6 * kRows);
  EXPECT_TRUE(choice.is_on());
  EXPECT_EQ(choice.changes(), 3);
}

TEST(OnPathChoice, FollowsObservedShare) {
  InformedChoice choice(1e-6, 1, 0.5);
  constexpr int64_t kStep = 200'000;
  // Nothing is merged, but the tables still fill up: one rank may be ahead of the others.
  choice.observe(5 * kStep, 0, 0, 5 * kStep * 50);
  EXPECT_TRUE(choice.is_on());
  // Rows leave unmerged; the estimate counts less and less.
  choice.observe(6 * kStep, 0, kStep, 6 * kStep * 50);
  EXPECT_TRUE(choice.is_on());
  choice.observe(7 * kStep, 0, 2 * kStep, 7 * kStep * 50);
  choice.observe(8 * kStep, 0, 3 * kStep, 8 * kStep * 50);
  EXPECT_FALSE(choice.is_on());
  // Too few rows to tell.
  choice.observe(8 * kStep + 100, 100, 3 * kStep, 8 * kStep * 50);
  EXPECT_FALSE(choice.is_on());
  // The few rows that are merged while merging is off take long.
  choice.observe(10 * kStep, 2 * kStep, 3 * kStep, 10 * kStep * 1'000);
  EXPECT_TRUE(choice.is_on());
  EXPECT_EQ(choice.changes(), 2);
  // Merging turns out slower than the link; each change doubles the rows needed before the next one.
  choice.observe(11 * kStep, 2 * kStep + kStep / 2, 3 * kStep + kStep / 2, 50 * kStep * 1'000);
  EXPECT_TRUE(choice.is_on());
  choice.observe(14 * kStep, 4 * kStep, 6 * kStep, 50 * kStep * 1'000);
  EXPECT_FALSE(choice.is_on());
}

}  // namespace
}  // namespace pistachio
