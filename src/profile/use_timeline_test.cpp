#include "profile/use_timeline.h"

#include <gtest/gtest.h>

#include <numeric>

#include "network/exchange_hub.h"
#include "network/loopback_transport.h"
#include "storage/read_pool.h"

namespace pistachio {
namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(SampleSeriesTest, NumberOfSamplesIsBounded) {
  SampleSeries series;
  int64_t now = 0;
  while (now < 1'000'000'000'000) {
    series.add({.nanoseconds = now, .bytes_read = now});
    now += series.interval_nanoseconds();
  }
  EXPECT_GT(series.interval_nanoseconds(), 1'000'000'000);
  std::vector<UseSample> samples = series.take();
  EXPECT_LE(samples.size(), SampleSeries::kMaxSamples);
  EXPECT_GE(samples.size(), SampleSeries::kMaxSamples / 2);
  EXPECT_EQ(samples.front().nanoseconds, 0);
  for (size_t i = 1; i < samples.size(); ++i) EXPECT_GT(samples[i].nanoseconds, samples[i - 1].nanoseconds);
}

TEST(SampleSeriesTest, FirstAndLastSampleAreKept) {
  for (int64_t count = 1; count <= 600; ++count) {
    SampleSeries series;
    for (int64_t now = 0; now < count; ++now) series.add({.nanoseconds = now});
    std::vector<UseSample> samples = series.take();
    EXPECT_LE(samples.size(), SampleSeries::kMaxSamples);
    EXPECT_EQ(samples.front().nanoseconds, 0);
    EXPECT_EQ(samples.back().nanoseconds, count - 1);
  }
}

TEST(UseTimelineTest, SlotsHoldTheirOwnUse) {
  // Reads 1000 bytes in the first second, receives 500 in the second, then idles for 2 s; one core is busy in the first half.
  std::vector<UseSample> samples = {{0, 0, 0, 0},
                                    {1'000'000'000, 1000, 0, 1'000'000'000},
                                    {2'000'000'000, 1000, 500, 2'000'000'000},
                                    {3'000'000'000, 1000, 500, 2'000'000'000}};
  UseTimeline timeline = timeline_of(samples, 4, 8);
  EXPECT_EQ(timeline.slot_seconds, 0.5);
  EXPECT_EQ(timeline.storage, (std::vector<double>{1000, 1000, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(timeline.network, (std::vector<double>{0, 0, 500, 500, 0, 0, 0, 0}));
  EXPECT_EQ(timeline.cores, (std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0}));
}

TEST(UseTimelineTest, NothingIsLost) {
  std::vector<UseSample> samples = {{0, 0, 0, 0}, {7, 100, 3, 5}, {2'100'000'000, 1234, 77, 9}};
  UseTimeline timeline = timeline_of(samples, 2, 48);  // the last sample came after the end
  EXPECT_NEAR(sum(timeline.storage) * timeline.slot_seconds, 1234, 1e-6);
  EXPECT_NEAR(sum(timeline.network) * timeline.slot_seconds, 77, 1e-6);
  EXPECT_EQ(sum(timeline_of({}, 1, 4).storage), 0);
}

TEST(UseTimelineTest, BlocksAreAsHighAsTheValues) {
  EXPECT_EQ(block_line({0, 1, 8, 4, 0.001}), " ▁█▄▁");
  EXPECT_EQ(block_line({0, 0}), "  ");
  EXPECT_EQ(block_line({}), "");
}

TEST(UseSamplerTest, SamplesBeginAndEnd) {
  ReadPool reads({});
  LoopbackNetwork network(2);
  ExchangeHub hub(network.transport(0));
  QueryExchanges exchanges(hub, 1, 2, {});
  UseSampler sampler(reads, exchanges);
  std::vector<UseSample> samples = sampler.finish();
  ASSERT_GE(samples.size(), 2u);
  EXPECT_EQ(samples.front().nanoseconds, 0);
  EXPECT_GT(samples.back().nanoseconds, 0);
  EXPECT_GT(samples.back().core_nanoseconds, 0);
}

}  // namespace
}  // namespace pistachio
