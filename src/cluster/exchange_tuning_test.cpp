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

ExchangeTuning tune(const Settings& settings, size_t exchanges = 1, int ranks = 1) {
  return tune_exchanges(settings, {}, exchanges, ranks);
}

TEST(ExchangeTuningTest, WindowIsBoundedByMemoryAndQueueLimit) {
  EXPECT_EQ(tune(settings_with(int64_t{64} << 30, 32 << 20), 1, 4).limits.window_bytes, 8 << 20);
  EXPECT_EQ(tune(settings_with(64 << 20, 1 << 30), 2, 4).limits.window_bytes, 2 << 20);
  EXPECT_EQ(tune(settings_with(1 << 20, 1 << 20), 8, 64).limits.window_bytes, 256 << 10);
}

TEST(ExchangeTuningTest, UnmeasuredMessagesFitTwiceIntoTheWindow) {
  EXPECT_EQ(tune(settings_with(int64_t{64} << 30, 64 << 20)).buffered_bytes, 1 << 20);
  EXPECT_EQ(tune(settings_with(int64_t{64} << 30, 1 << 20)).buffered_bytes, 512 << 10);
}

TEST(ExchangeTuningTest, MessagesTakeMillisecondsOnSlowLinks) {
  Settings settings = settings_with(int64_t{64} << 30, 64 << 20);
  settings.link_bandwidth_limit = 50'000'000;
  EXPECT_EQ(tune(settings).buffered_bytes, 200'000);
  settings.link_bandwidth_limit = 1'000'000;
  EXPECT_EQ(tune(settings).buffered_bytes, 64 << 10);
  settings.link_bandwidth_limit = 10'000'000'000;
  EXPECT_EQ(tune(settings).buffered_bytes, 1 << 20);
}

TEST(ExchangeTuningTest, RowsAreBufferedOnlyWithDynamicBuffering) {
  Settings settings;
  settings.message_bytes = 123;
  settings.dynamic_buffering = true;
  EXPECT_EQ(tune(settings).buffered_bytes, 123);
  settings.dynamic_buffering = false;
  EXPECT_EQ(tune(settings).buffered_bytes, 0);
  settings.message_bytes = 0;
  EXPECT_EQ(tune(settings).buffered_bytes, 0);
}

TEST(ExchangeTuningTest, SlowLinksAreCompressedUnlessTheSettingDecides) {
  Settings settings;
  settings.network_compression = NetworkCompression::Auto;
  settings.link_bandwidth_limit = 1 << 20;
  EXPECT_EQ(tune(settings).limits.compress, RowCompression::AcrossNetwork);
  settings.network_compression = NetworkCompression::Off;
  EXPECT_EQ(tune(settings).limits.compress, RowCompression::None);
  settings.link_bandwidth_limit = 0;
  settings.network_compression = NetworkCompression::On;
  EXPECT_EQ(tune(settings).limits.compress, RowCompression::Everywhere);
  settings.network_compression = NetworkCompression::Auto;
  EXPECT_EQ(tune(settings).limits.compress, RowCompression::None);
}

}  // namespace
}  // namespace pistachio
