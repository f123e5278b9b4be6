#include "exec/adaptive/join_filter.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

Column numbers(int64_t begin, int64_t end) {
  return Column::fixed(TypeKind::BigInt, at::arange(begin, end, at::kLong));
}

Chunk passing(JoinFilter& filter, int64_t begin, int64_t end) {
  return filter.passing(Chunk({numbers(begin, end)}, end - begin), {0});
}

TEST(JoinFilterTest, HoldsTheKeysOfAllRanks) {
  JoinFilter one(64);
  JoinFilter two(64);
  JoinFilter three(64);
  one.publish_local({numbers(100, 150)});
  two.publish_local({numbers(300, 350)});
  three.publish_nothing(true);
  std::vector<std::string> notes = {one.note(), two.note(), three.note()};
  one.merge(notes, at::kCPU);
  EXPECT_EQ(passing(one, 100, 150).rows(), 50);
  EXPECT_EQ(passing(one, 300, 350).rows(), 50);
  EXPECT_LT(passing(one, 10'000, 20'000).rows(), 500);
  std::vector<RangeFilter> bounds = one.bounds(0, "k", TypeKind::BigInt);
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_EQ(bounds[0].constant, "100");
  EXPECT_EQ(bounds[1].constant, "349");
}

Column every_64th(int64_t begin, int64_t count) {
  return Column::fixed(TypeKind::BigInt, at::arange(count, at::kLong) * 64 + begin);
}

TEST(JoinFilterTest, IntegersOfLimitedRangeAreExact) {
  JoinFilter one(64);
  one.publish_local({every_64th(-6400, 200)});
  one.merge({one.note()}, at::kCPU);
  EXPECT_EQ(passing(one, -10'000, 20'000).rows(), 200);
  EXPECT_EQ(passing(one, std::numeric_limits<int64_t>::max() - 100, std::numeric_limits<int64_t>::max()).rows(), 0);
  EXPECT_TRUE(one.bounds(0, "k", TypeKind::BigInt)[0].only_prunes);
  // NULL never matches, whatever value is stored beneath it.
  const at::Tensor keys = at::arange(-6400, 6400, at::kLong);
  const at::Tensor mask = one.test({Column::fixed(TypeKind::BigInt, keys, keys.lt(0))});
  EXPECT_EQ(mask.sum().item<int64_t>(), 100);
}

TEST(JoinFilterTest, SingleRankUsesItsFilterAsItIs) {
  JoinFilter some(64);
  some.publish_local({every_64th(-6400, 200)});
  some.use_local();
  EXPECT_EQ(passing(some, -10'000, 20'000).rows(), 200);
  EXPECT_EQ(some.bounds(0, "k", TypeKind::BigInt)[0].constant, "-6400");
  JoinFilter none(64);
  none.publish_local({numbers(0, 0)});
  none.use_local();
  EXPECT_TRUE(none.is_empty());
  EXPECT_EQ(passing(none, 0, 10).rows(), 0);
  JoinFilter unknown(64);
  unknown.publish_nothing(false);
  unknown.use_local();
  EXPECT_EQ(passing(unknown, 0, 10).rows(), 10);
  EXPECT_TRUE(unknown.bounds(0, "k", TypeKind::BigInt).empty());
}

TEST(JoinFilterTest, BitmapsWithDifferentBoundsMerge) {
  JoinFilter one(64);
  JoinFilter two(64);
  one.publish_local({every_64th(-1, 100)});
  two.publish_local({every_64th(100'003, 50)});
  one.merge({one.note(), two.note()}, at::kCPU);
  EXPECT_EQ(passing(one, -1'000, 200'000).rows(), 150);
}

TEST(JoinFilterTest, BitmapsTooFarApartBecomeABloomFilter) {
  JoinFilter one(64);
  JoinFilter two(64);
  const int64_t far = int64_t{1} << 40;
  one.publish_local({every_64th(0, 50)});
  two.publish_local({every_64th(far, 50)});
  one.merge({one.note(), two.note()}, at::kCPU);
  EXPECT_GE(passing(one, 0, 50 * 64).rows(), 50);
  EXPECT_GE(passing(one, far, far + 50 * 64).rows(), 50);
  EXPECT_LT(passing(one, 10'000, 20'000).rows(), 500);
}

TEST(JoinFilterTest, KeysOfWideRangeAreABloomFilter) {
  JoinFilter one(64);
  JoinFilter two(64);
  one.publish_local({Column::fixed(TypeKind::BigInt, at::arange(100, at::kLong) * (int64_t{1} << 50))});
  two.publish_local({every_64th(0, 50)});  // a bitmap
  one.merge({one.note(), two.note()}, at::kCPU);
  EXPECT_EQ(one.test({Column::fixed(TypeKind::BigInt, at::arange(100, at::kLong) * (int64_t{1} << 50))}).sum().item<int64_t>(), 100);
  EXPECT_EQ(one.test({every_64th(0, 50)}).sum().item<int64_t>(), 50);
  EXPECT_LT(passing(one, 10'000, 20'000).rows(), 500);
}

TEST(JoinFilterTest, DamagedNoteIsAPeerError) {
  JoinFilter one(64);
  one.publish_local({numbers(0, 500)});
  std::string note = one.note();
  note.resize(note.size() - 8);
  EXPECT_THROW(one.merge({note}, at::kCPU), PeerError);
}

TEST(JoinFilterTest, RankWithoutFilterPassesEverything) {
  JoinFilter one(64);
  JoinFilter two(64);
  one.publish_local({numbers(100, 150)});
  two.publish_nothing(false);
  two.publish_local({numbers(1, 2)});  // too late
  one.merge({one.note(), two.note()}, at::kCPU);
  EXPECT_EQ(passing(one, 0, 1000).rows(), 1000);
  EXPECT_TRUE(one.bounds(0, "k", TypeKind::BigInt).empty());
  EXPECT_FALSE(one.is_empty());
}

TEST(JoinFilterTest, BoundsAgreeOnAllRanksWithoutBloomWords) {
  JoinFilter one(64);
  JoinFilter two(64);
  JoinFilter three(64);
  one.publish_local({numbers(100, 150)});
  two.publish_local({numbers(100, 150)});
  three.publish_nothing(false);  // its join was not executed
  std::vector<std::string> notes;
  for (JoinFilter* filter : {&one, &two, &three}) notes.push_back(filter->note_of_bounds());
  EXPECT_LT(notes[0].size(), 32U);
  one.merge_bounds_only({notes[0], notes[1]});
  EXPECT_EQ(one.bounds(0, "k", TypeKind::BigInt).size(), 2U);
  EXPECT_EQ(passing(one, 100, 150).rows(), 50);
  EXPECT_LT(passing(one, 10'000, 20'000).rows(), 500);
  // Bounds are merged over all ranks: one rank without bounds leaves none. The set stays the local one.
  two.merge_bounds_only(notes);
  three.merge_bounds_only(notes);
  for (JoinFilter* filter : {&two, &three}) {
    EXPECT_TRUE(filter->bounds(0, "k", TypeKind::BigInt).empty());
    EXPECT_FALSE(filter->is_empty());
  }
  EXPECT_LT(passing(two, 10'000, 20'000).rows(), 500);
  EXPECT_EQ(passing(three, 0, 1000).rows(), 1000);
}

TEST(JoinFilterTest, EveryKeyHasBounds) {
  const auto doubles = [](int64_t rows) { return Column::fixed(TypeKind::Double, at::zeros({rows}, at::kDouble)); };
  JoinFilter one(64);
  JoinFilter two(64);
  one.publish_local({numbers(100, 150), doubles(50), numbers(7, 57)});
  two.publish_local({numbers(120, 170), doubles(50), numbers(-3, 47)});
  one.merge({one.note(), two.note()}, at::kCPU);
  EXPECT_EQ(one.bounds(0, "k", TypeKind::BigInt)[1].constant, "169");
  EXPECT_TRUE(one.bounds(1, "d", TypeKind::Double).empty());
  EXPECT_EQ(one.bounds(2, "l", TypeKind::BigInt)[0].constant, "-3");
  EXPECT_EQ(one.bounds(2, "l", TypeKind::BigInt)[1].constant, "56");
  JoinFilter other(64);
  other.publish_local({numbers(1, 2)});
  EXPECT_THROW(two.merge({one.note(), other.note()}, at::kCPU), PeerError);
}

TEST(JoinFilterTest, LocalFilterGrowsWithItsKeys) {
  constexpr int64_t kKeys = 100'000;
  const Column wide = Column::fixed(TypeKind::BigInt, at::arange(kKeys, at::kLong) * (int64_t{1} << 40) + 10);
  JoinFilter exchanged(64);
  exchanged.publish_local({wide});
  exchanged.use_local();
  EXPECT_FALSE(exchanged.test({numbers(1'000, 2'000)}).defined());
  JoinFilter local(64, /*is_exchanged=*/false);
  local.publish_local({wide});
  local.use_local();
  EXPECT_EQ(local.test({wide}).sum().item<int64_t>(), kKeys);
  EXPECT_LT(local.test({numbers(1'000, 101'000)}).sum().item<int64_t>(), 5'000);
}

TEST(JoinFilterTest, WithoutBuildRowsNothingPasses) {
  JoinFilter one(2);
  one.publish_local({numbers(0, 0)});
  one.merge({one.note()}, at::kCPU);
  EXPECT_TRUE(one.is_empty());
  EXPECT_EQ(passing(one, 0, 10).rows(), 0);
}

TEST(JoinFilterTest, TooManyKeysKeepOnlyBounds) {
  JoinFilter one(2);
  one.publish_local({Column::fixed(TypeKind::BigInt, at::arange(1000, at::kLong) * (int64_t{1} << 40) + 10)});
  one.merge({one.note()}, at::kCPU);
  EXPECT_EQ(passing(one, 5000, 6000).rows(), 1000);
  EXPECT_EQ(one.bounds(0, "k", TypeKind::BigInt).size(), 2U);
}

}  // namespace
}  // namespace pistachio
