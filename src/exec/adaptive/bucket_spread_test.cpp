#include "exec/adaptive/bucket_spread.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pistachio {
namespace {

TEST(BucketSpreadTest, HeavyBucketIsSpread) {
  std::vector<int64_t> even(kBuckets, 100);
  std::vector<int64_t> skewed = even;
  skewed[17] = 100'000;
  std::string note = BucketSpread::note_of(even);
  std::vector<bool> none = BucketSpread::choose({note, note, "", note}, 4);
  EXPECT_EQ(std::count(none.begin(), none.end(), true), 0);
  std::vector<bool> one = BucketSpread::choose({note, BucketSpread::note_of(skewed), "", note}, 4);
  EXPECT_EQ(std::count(one.begin(), one.end(), true), 1);
  EXPECT_TRUE(one[17]);
}

TEST(BucketSpreadTest, FewRowsAreNotSpread) {
  std::vector<int64_t> loads(kBuckets);
  loads[3] = 50;
  std::vector<bool> none = BucketSpread::choose({BucketSpread::note_of(loads)}, 2);
  EXPECT_EQ(std::count(none.begin(), none.end(), true), 0);
}

TEST(BucketSpreadTest, EveryRankHasItsShareOfBuckets) {
  for (int ranks : {1, 2, 3, 7, 64}) {
    std::vector<int> buckets(static_cast<size_t>(ranks));
    for (int64_t bucket = 0; bucket < kBuckets; ++bucket) ++buckets[static_cast<size_t>(owner_of(bucket, ranks))];
    auto [fewest, most] = std::minmax_element(buckets.begin(), buckets.end());
    EXPECT_LE(*most - *fewest, 1) << ranks;
  }
}

}  // namespace
}  // namespace pistachio
