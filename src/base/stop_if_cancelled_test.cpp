#include "base/stop_if_cancelled.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace pistachio {
namespace {

TEST(StopIfCancelled, PassesUntilCancelled) {
  stop_if_cancelled({});
  CancelSource source({}, std::chrono::steady_clock::now() + std::chrono::hours(1));
  stop_if_cancelled(source.token());
  source.cancel("enough");
  EXPECT_THROW(stop_if_cancelled(source.token()), Cancelled);
}

TEST(StopIfCancelled, ThrowsAfterTheDeadlineOfAnAncestor) {
  CancelSource late({}, std::chrono::steady_clock::now() - std::chrono::milliseconds(1));
  CancelSource child(late.token());
  EXPECT_THROW(stop_if_cancelled(child.token()), Cancelled);
  EXPECT_TRUE(child.is_cancelled());
}

}  // namespace
}  // namespace pistachio
