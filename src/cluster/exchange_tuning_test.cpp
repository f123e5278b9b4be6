#include "cluster/exchange_tuning.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

Settings settings_with(int64_t memory_limit, int64_t queue_limit) {
  Settings settings;
  settings.memory_limit = memory_limit;
  settings.queue_limit = queue_limit;
  return settings;
}

TEST(ExchangeTuningTest, WindowIsBoundedByMemoryAndQueueLimit) {
  EXPECT_EQ(exchange_limits(settings_with(int64_t{64} << 30, 32 << 20), 1, 4).window_bytes, 8 << 20);
  EXPECT_EQ(exchange_limits(settings_with(64 << 20, 1 << 30), 2, 4).window_bytes, 2 << 20);
  EXPECT_EQ(exchange_limits(settings_with(1 << 20, 1 << 20), 8, 64).window_bytes, 256 << 10);
}

TEST(ExchangeTuningTest, UnmeasuredMessagesFitTwiceIntoTheWindow) {
  EXPECT_EQ(suitable_message_bytes({}, {.window_bytes = 64 << 20}), 1 << 20);
  EXPECT_EQ(suitable_message_bytes({}, {.window_bytes = 1 << 20}), 512 << 10);
}

TEST(ExchangeTuningTest, RowsAreBufferedOnlyWithDynamicBuffering) {
  Settings settings;
  settings.message_bytes = 123;
  settings.dynamic_buffering = true;
  EXPECT_EQ(buffered_bytes(settings), 123);
  settings.dynamic_buffering = false;
  EXPECT_EQ(buffered_bytes(settings), 0);
}

}  // namespace
}  // namespace pistachio
