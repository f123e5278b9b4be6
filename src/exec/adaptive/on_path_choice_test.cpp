#include "exec/adaptive/on_path_choice.h"

#include <gtest/gtest.h>

#include "exec/adaptive/combining_ranks.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/tensor_functions.h"

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

TEST(KeySample, SeesWhatHostsLeaveToBeMergedOnArrival) {
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

TEST(OnPathChoice, ComparesSavedLinkTimeWithTheCostOfMerging) {
  // A microsecond per row on the link justifies a lot of merging.
  OnPathChoice slow_link(1e-6, 1, true);
  EXPECT_TRUE(slow_link.is_on());
  slow_link.estimate(0.3, 0);
  EXPECT_TRUE(slow_link.is_on());
  slow_link.estimate(0.01, 0);
  EXPECT_FALSE(slow_link.is_on());
  OnPathChoice fast_link(10e-9, 1, true);
  EXPECT_FALSE(fast_link.is_on());
  fast_link.estimate(0.5, 0);
  EXPECT_FALSE(fast_link.is_on());
  // Several cores share the merging.
  OnPathChoice many_cores(100e-9, 16, true);
  many_cores.estimate(0.3, 0);
  EXPECT_TRUE(many_cores.is_on());
  OnPathChoice always(10e-9, 1, false);
  always.estimate(0, 0);
  EXPECT_TRUE(always.is_on());
}

TEST(OnPathChoice, RanksThatShareAHelperNeedLargerSavings) {
  CombiningTerms terms{.hosts = {0, 1, 1, 1, 1}};
  const OnPathChoice all_merge(1e-6, combining_lanes(terms, 2, 2), true);
  terms.helpers = 1;
  const OnPathChoice one_merges(1e-6, combining_lanes(terms, 2, 2), true);
  EXPECT_DOUBLE_EQ(one_merges.least_share(), 4 * all_merge.least_share());
  terms.helpers = 1024;
  EXPECT_EQ(combining_lanes(terms, 2, 2), 2);
  EXPECT_EQ(combining_lanes(terms, 0, 2), 2);
}

// Work is measured by the clock: lanes that wait for each other's cores make a row more expensive.
TEST(OnPathChoice, MoreLanesThanCoresMakeRowsMoreExpensive) {
  constexpr int64_t kRows = 1'000'000, kNanoseconds = 80;
  OnPathChoice enough_cores(1e-6, 2, true), half_of_them(1e-6, 4, true);
  enough_cores.observe(kRows, kRows / 2, 0, kRows * kNanoseconds);
  half_of_them.observe(kRows, kRows / 2, 0, 2 * kRows * kNanoseconds);
  EXPECT_DOUBLE_EQ(half_of_them.least_share(), enough_cores.least_share());
}

TEST(OnPathChoice, FollowsObservedShare) {
  OnPathChoice choice(1e-6, 1, true);
  choice.estimate(0.5, 0);
  constexpr int64_t kStep = 100'000;
  // Nothing is merged, but the tables still fill up.
  choice.observe(kStep, 0, 0, kStep * 50);
  EXPECT_TRUE(choice.is_on());
  choice.observe(2 * kStep, 0, kStep, 2 * kStep * 50);
  EXPECT_FALSE(choice.is_on());
  // Too few rows to tell.
  choice.observe(2 * kStep + 100, 100, kStep, 2 * kStep * 50);
  EXPECT_FALSE(choice.is_on());
  choice.observe(4 * kStep, kStep, kStep, 4 * kStep * 50);
  EXPECT_TRUE(choice.is_on());
  EXPECT_EQ(choice.changes(), 2);
  // Merging turns out slower than the link; each change doubles the rows needed before the next one.
  choice.observe(5 * kStep, kStep, 2 * kStep, 5 * kStep * 5'000);
  EXPECT_TRUE(choice.is_on());
  choice.observe(8 * kStep, kStep, 4 * kStep, 8 * kStep * 5'000);
  EXPECT_FALSE(choice.is_on());
}

}  // namespace
}  // namespace pistachio
