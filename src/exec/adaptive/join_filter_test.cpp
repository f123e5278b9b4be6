#include "exec/adaptive/join_filter.h"

#include <gtest/gtest.h>

#include "base/scheduler.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

Column numbers(int64_t begin, int64_t end) {
  return Column::fixed(TypeKind::BigInt, at::arange(begin, end, at::kLong));
}

std::string note_of(JoinFilter& filter) {
  Scheduler scheduler{SchedulerOptions{.workers = 1}};
  std::string note;
  auto take = [&]() -> Task<void> {
    Task<std::string> telling = filter.own();
    note = co_await telling;
  };
  scheduler.run(take(), CancelToken());
  return note;
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
  std::vector<std::string> notes = {note_of(one), note_of(two), note_of(three)};
  one.merge(notes, at::kCPU);
  EXPECT_EQ(passing(one, 100, 150).rows(), 50);
  EXPECT_EQ(passing(one, 300, 350).rows(), 50);
  EXPECT_LT(passing(one, 10'000, 20'000).rows(), 500);
  std::vector<RangeFilter> bounds = one.bounds("k", TypeKind::BigInt);
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_EQ(bounds[0].constant, "100");
  EXPECT_EQ(bounds[1].constant, "349");
}

TEST(JoinFilterTest, RankWithoutFilterPassesEverything) {
  JoinFilter one(64);
  JoinFilter two(64);
  one.publish_local({numbers(100, 150)});
  two.publish_nothing(false);
  two.publish_local({numbers(1, 2)});  // too late
  one.merge({note_of(one), note_of(two)}, at::kCPU);
  EXPECT_EQ(passing(one, 0, 1000).rows(), 1000);
  EXPECT_TRUE(one.bounds("k", TypeKind::BigInt).empty());
  EXPECT_FALSE(one.is_empty());
}

TEST(JoinFilterTest, BoundsAgreeOnAllRanksWithoutBloomWords) {
  JoinFilter one(64);
  JoinFilter two(64);
  JoinFilter three(64);
  one.publish_local({numbers(100, 150)});
  two.publish_local({numbers(100, 150)});
  three.publish_nothing(false);  // its join was not needed
  std::vector<std::string> notes;
  for (JoinFilter* filter : {&one, &two, &three}) notes.push_back(JoinFilter::without_words(note_of(*filter)));
  EXPECT_LT(notes[0].size(), 32U);
  one.merge_bounds_only({notes[0], notes[1]}, note_of(one), at::kCPU);
  EXPECT_EQ(one.bounds("k", TypeKind::BigInt).size(), 2U);
  EXPECT_EQ(passing(one, 100, 150).rows(), 50);
  EXPECT_LT(passing(one, 10'000, 20'000).rows(), 500);
  // One that knows nothing takes the bounds from all, and not the words.
  two.merge_bounds_only(notes, note_of(two), at::kCPU);
  three.merge_bounds_only(notes, note_of(three), at::kCPU);
  for (JoinFilter* filter : {&two, &three}) {
    EXPECT_TRUE(filter->bounds("k", TypeKind::BigInt).empty());
    EXPECT_FALSE(filter->is_empty());
  }
  EXPECT_LT(passing(two, 10'000, 20'000).rows(), 500);
  EXPECT_EQ(passing(three, 0, 1000).rows(), 1000);
}

TEST(JoinFilterTest, WithoutBuildRowsNothingPasses) {
  JoinFilter one(2);
  one.publish_local({numbers(0, 0)});
  one.merge({note_of(one)}, at::kCPU);
  EXPECT_TRUE(one.is_empty());
  EXPECT_EQ(passing(one, 0, 10).rows(), 0);
}

TEST(JoinFilterTest, TooManyKeysKeepOnlyBounds) {
  JoinFilter one(2);
  one.publish_local({numbers(10, 1000)});
  one.merge({note_of(one)}, at::kCPU);
  EXPECT_EQ(passing(one, 5000, 6000).rows(), 1000);
  EXPECT_EQ(one.bounds("k", TypeKind::BigInt).size(), 2U);
}

}  // namespace
}  // namespace pistachio
