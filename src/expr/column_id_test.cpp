#include "expr/column_id.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace pistachio {
namespace {

// Against std::set, over random operations.
TEST(ColumnSet, BehavesAsAnOrderedSet) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    ColumnSet set;
    std::set<ColumnId> expected;
    for (int step = 0; step < 60; ++step) {
      ColumnId id{static_cast<int32_t>(random() % 40)};
      std::vector<ColumnId> several;
      for (size_t i = random() % 6; i > 0; --i) several.push_back({static_cast<int32_t>(random() % 40)});
      switch (random() % 4) {
        case 0: EXPECT_EQ(set.insert(id), expected.insert(id).second); break;
        case 1:
          set.insert(several.begin(), several.end());
          expected.insert(several.begin(), several.end());
          break;
        case 2:
          set.erase(ColumnSet(several.begin(), several.end()));
          for (ColumnId one : several) expected.erase(one);
          break;
        default: EXPECT_EQ(set.contains(id), expected.contains(id));
      }
      EXPECT_EQ(set, ColumnSet(expected.begin(), expected.end()));
      EXPECT_TRUE(std::equal(set.begin(), set.end(), expected.begin(), expected.end()));
    }
  }
}

}  // namespace
}  // namespace pistachio
