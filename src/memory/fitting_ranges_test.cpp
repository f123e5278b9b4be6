#include "memory/fitting_ranges.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "memory/pooled_allocator.h"

namespace pistachio {
namespace {

using Range = std::pair<int64_t, int64_t>;

// Ranges of at most `most` rows fit.
std::vector<Range> ranges_that_fit(int64_t rows, int64_t most, int64_t step = INT64_MAX) {
  std::vector<Range> made;
  FittingRanges ranges(rows, step);
  while (!ranges.is_done()) {
    const std::optional<Range> next = ranges.try_next([&](int64_t begin, int64_t count) {
      if (count > most) throw OutOfMemory("too many rows");
      return Range(begin, count);
    });
    if (next) made.push_back(*next);
  }
  return made;
}

TEST(FittingRangesTest, AllRowsAreOneRangeIfTheyFit) {
  EXPECT_EQ(ranges_that_fit(100'000, 100'000), (std::vector<Range>{{0, 100'000}}));
  EXPECT_EQ(ranges_that_fit(0, 0), std::vector<Range>{});
}

TEST(FittingRangesTest, HalvesRangesUntilTheyFit) {
  EXPECT_EQ(ranges_that_fit(10'000, 2'500), (std::vector<Range>{{0, 2'500}, {2'500, 2'500}, {5'000, 2'500}, {7'500, 2'500}}));
}

TEST(FittingRangesTest, RangesHaveAtMostStepRows) {
  EXPECT_EQ(ranges_that_fit(10, 10, 4), (std::vector<Range>{{0, 4}, {4, 4}, {8, 2}}));
}

TEST(FittingRangesTest, FewRowsAreTriedAgainThenRefused) {
  int attempts = 0;
  const auto fails = [&](int64_t, int64_t) -> int {
    ++attempts;
    throw OutOfMemory("never");
  };
  FittingRanges ranges(10);
  EXPECT_FALSE(ranges.try_next(fails));
  EXPECT_FALSE(ranges.try_next(fails));
  EXPECT_THROW(ranges.try_next(fails), OutOfMemory);
  EXPECT_EQ(attempts, 3);
}

TEST(FittingRangesTest, OtherErrorsPass) {
  FittingRanges ranges(10);
  EXPECT_THROW(ranges.try_next([](int64_t, int64_t) -> int { throw UserError("no"); }), UserError);
}

class RefusableCallTest : public testing::Test {
 protected:
  void SetUp() override { RefusableAllocations::refuse_all(true); }
  void TearDown() override { RefusableAllocations::refuse_all(false); }

  // Whether one of many allocations is refused.
  bool is_refused() {
    try {
      for (int i = 0; i < 100; ++i) allocator_.allocate(64);
    } catch (const OutOfMemory&) {
      return true;
    }
    return false;
  }

  PooledAllocator allocator_;
};

TEST_F(RefusableCallTest, RefusesOneAllocationOfACall) {
  const int64_t before = RefusableAllocations::count();
  {
    const RefusableAllocations call(true);
    EXPECT_TRUE(is_refused());
    EXPECT_FALSE(is_refused());
  }
  EXPECT_EQ(RefusableAllocations::count(), before + 1);
}

TEST_F(RefusableCallTest, RefusesNothingOutsideOfCalls) {
  { const RefusableAllocations call(true); }
  EXPECT_FALSE(is_refused());
}

TEST_F(RefusableCallTest, RefusesNothingOfARepeatedCall) {
  const RefusableAllocations call(false);
  EXPECT_FALSE(is_refused());
}

TEST_F(RefusableCallTest, RefusesNothingAfterTheCallHasAnEffect) {
  const RefusableAllocations call(true);
  RefusableAllocations::end();
  EXPECT_FALSE(is_refused());
}

TEST_F(RefusableCallTest, RefusesNothingUnlessATestAsks) {
  RefusableAllocations::refuse_all(false);
  const RefusableAllocations call(true);
  EXPECT_FALSE(is_refused());
}

}  // namespace
}  // namespace pistachio
