#include "base/large_stack.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/start_thread.h"

namespace pistachio {
namespace {

// Uses about a kilobyte of stack at each level.
int64_t descend(int64_t levels) {
  volatile char frame[1024] = {};
  frame[levels % 1024] = 1;
  return levels == 0 ? 0 : descend(levels - 1) + frame[levels % 1024];
}

TEST(LargeStack, CarriesExceptionsBack) {
  EXPECT_THROW(run_on_large_stack(1 << 20, [] { throw UserError("x", 3); }), UserError);
  EXPECT_THROW(run_on_large_stack(int64_t{1} << 55, [] {}), OutOfMemory);
}

TEST(LargeStack, HoldsDeepRecursion) {
  int64_t depth = 0;
  run_on_large_stack(int64_t{256} << 20, [&] { depth = descend(100'000); });
  EXPECT_EQ(depth, 100'000);
}

TEST(StartThread, HasTheRequestedStackSize) {
  int64_t depth = 0;
  start_thread("a test", "", [&] { depth = descend(20'000); }, kDeepStackBytes).join();
  EXPECT_EQ(depth, 20'000);
}

}  // namespace
}  // namespace pistachio
