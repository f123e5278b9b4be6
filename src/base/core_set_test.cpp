#include "base/core_set.h"

#include <gtest/gtest.h>

#include <thread>

namespace pistachio {
namespace {

TEST(CoreSetTest, TextRoundTrips) {
  for (const CoreSet& cores : {CoreSet{}, CoreSet{0}, CoreSet{0, 1, 2, 3}, CoreSet{1, 3, 5}, CoreSet{0, 1, 2, 8, 10, 11}})
    EXPECT_EQ(core_set_of(to_text(cores)), cores) << to_text(cores);
  EXPECT_EQ(to_text({0, 1, 2, 8, 10, 11}), "0-2,8,10-11");
}

TEST(CoreSetTest, MalformedTextIsEmpty) {
  for (const char* text : {"x", "-1", "1,", "3-1", "2,1", "1-", "1;2", "99999999999", "0-2000000"})
    EXPECT_EQ(core_set_of(text), CoreSet{}) << text;
}

TEST(CoreSetTest, ThreadStaysOnItsCores) {
  CoreSet all = usable_cores();
  ASSERT_FALSE(all.empty());
  CoreSet seen;
  std::thread([&] {
    EXPECT_TRUE(bind_this_thread({all.back()}));
    seen = usable_cores();
    EXPECT_FALSE(bind_this_thread({}));
  }).join();
  EXPECT_EQ(seen, CoreSet{all.back()});
  EXPECT_EQ(usable_cores(), all);
}

}  // namespace
}  // namespace pistachio
