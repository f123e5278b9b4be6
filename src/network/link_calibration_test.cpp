#include "network/link_calibration.h"

#include <gtest/gtest.h>

#include <future>

#include "base/error.h"
#include "network/job_of_transports.h"

namespace pistachio {
namespace {

TEST(LinkCalibrationTest, SmallestFastSizeIsChosen) {
  EXPECT_EQ(smallest_fast_size({}), 0);
  EXPECT_EQ(smallest_fast_size({{4, 1.0}}), 4);
  EXPECT_EQ(smallest_fast_size({{4, 10}, {16, 50}, {64, 94}, {256, 96}, {1024, 100}}), 256);
  EXPECT_EQ(smallest_fast_size({{4, 10}, {16, 50}, {64, 94}, {256, 96}, {1024, 100}}, 0.5), 16);
  // A single fast outlier among small sizes does not count.
  EXPECT_EQ(smallest_fast_size({{4, 99}, {16, 50}, {64, 97}, {256, 100}}), 64);
  // Nor do large sizes that no longer fit the caches.
  EXPECT_EQ(smallest_fast_size({{4, 10}, {16, 97}, {64, 100}, {256, 60}}), 16);
}

class LinkMeasurementTest : public testing::TestWithParam<TransportKind> {};
INSTANTIATE_TEST_SUITE_P(Transports, LinkMeasurementTest,
                         testing::Values(TransportKind::Loopback, TransportKind::UcxTcp, TransportKind::UcxSharedMemory),
                         [](const auto& test) {
                           return std::string(test.param == TransportKind::Loopback ? "loopback"
                                              : test.param == TransportKind::UcxTcp ? "ucx_tcp"
                                                                                    : "ucx_shared_memory");
                         });

TEST_P(LinkMeasurementTest, EverySizeIsMeasured) {
  JobOfTransports job(GetParam(), 2);
  LinkCalibrator here(job[0]), there(job[1]);
  job[0].start(here);
  job[1].start(there);
  // Both directions at once, as ranks do when a job starts.
  auto other = std::async(std::launch::async, [&] { return there.measure(0); });
  std::vector<LinkSpeed> table = here.measure(1);
  EXPECT_EQ(other.get().size(), table.size());
  ASSERT_EQ(table.size(), 8u);
  EXPECT_EQ(table.front().message_bytes, LinkCalibrator::kSmallestMessage);
  EXPECT_EQ(table.back().message_bytes, LinkCalibrator::kLargestMessage);
  for (const LinkSpeed& speed : table) EXPECT_GT(speed.bytes_per_second, 0);
  EXPECT_GT(smallest_fast_size(table), 0);
  job.stop_all();
}

TEST(LinkCalibrationTest, LargeMessagesCanBeSkipped) {
  JobOfTransports job(TransportKind::Loopback, 2);
  LinkCalibrator here(job[0]), there(job[1]);
  job[0].start(here);
  job[1].start(there);
  EXPECT_EQ(here.measure(1, 20'000).back().message_bytes, 16384);
  // Every message takes longer than zero.
  EXPECT_EQ(here.measure(1, 20'000, std::chrono::milliseconds(0)).size(), 1u);
  job.stop_all();
}

TEST(LinkCalibrationTest, LostPeerEndsMeasurement) {
  LoopbackNetwork network(2);
  LinkCalibrator here(network.transport(0));
  network.transport(0).start(here);
  network.hold(0, 1, true);
  auto measurement = std::async(std::launch::async, [&] { return here.measure(1); });
  network.lose(1);
  EXPECT_THROW(measurement.get(), PeerError);
  network.transport(0).stop();
}

TEST(LinkCalibrationTest, ForeignMessagesAreIgnored) {
  LoopbackNetwork network(1);
  LinkCalibrator calibrator(network.transport(0));
  EXPECT_FALSE(LinkCalibrator::handles(7));
  EXPECT_TRUE(LinkCalibrator::handles(LinkCalibrator::kAnswerKind));
  calibrator.on_message(0, {7, "x", {}});
  calibrator.on_message(0, {LinkCalibrator::kAnswerKind, "short", {}});
}

}  // namespace
}  // namespace pistachio
