#include "kernels/ops/device_waits.h"

#include <gtest/gtest.h>

namespace pistachio::kernels {
namespace {

TEST(DeviceWaitsTest, InnermostPlaceIsCurrent) {
  EXPECT_EQ(DeviceWaitPlace::current(), nullptr);
  DeviceWaits outer;
  DeviceWaits inner;
  {
    const DeviceWaitPlace first(outer);
    {
      const DeviceWaitPlace second(inner);
      EXPECT_EQ(DeviceWaitPlace::current(), &inner);
    }
    EXPECT_EQ(DeviceWaitPlace::current(), &outer);
  }
  EXPECT_EQ(DeviceWaitPlace::current(), nullptr);
}

TEST(DeviceWaitsTest, WaitsAreAdded) {
  DeviceWaits sum;
  sum.synchronizations = 1;
  DeviceWaits more;
  more.synchronizations = 2;
  more.pageable_copies = 3;
  more.nanoseconds = 4;
  sum.add(more);
  EXPECT_EQ(sum.synchronizations, 3);
  EXPECT_EQ(sum.pageable_copies, 3);
  EXPECT_EQ(sum.nanoseconds, 4);
}

TEST(DeviceWaitsTest, NothingIsCountedOnTheCpu) {
  const DeviceWaitCounter counter(at::kCPU);
  EXPECT_FALSE(counter.is_counting());
  EXPECT_EQ(counter.total().synchronizations, 0);
}

}  // namespace
}  // namespace pistachio::kernels
