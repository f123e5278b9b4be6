#include "frontend/bench/on_path_stages.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace pistachio {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

const std::vector<std::string> kSteps = {"aggregate",   "final aggregate",   "gather", "combining aggregate",
                                         "to combiner", "partial aggregate", "scan t"};

// A sink, and a host with two ranks of which the first combines.
QueryProfile example() {
  QueryProfile profile;
  profile.seconds = 20;
  profile.ranks.resize(3);
  profile.ranks[0].steps[1].nanoseconds = 6 * kSecond;
  profile.ranks[0].steps[2] = {.gives_rows = true, .rows = 70, .nanoseconds = 4 * kSecond, .bytes_received = 280};
  profile.ranks[1].steps[2] = {.nanoseconds = 1 * kSecond, .senders_stalled = 2 * kSecond, .credit_stalled = 5 * kSecond};
  profile.ranks[1].steps[3] = {.gives_rows = true, .rows = 70, .nanoseconds = 8 * kSecond, .rows_to_merge = 100};
  profile.ranks[1].steps[4] = {.gives_rows = true, .rows = 100, .nanoseconds = 2 * kSecond, .bytes_received = 200};
  profile.ranks[2].steps[4].nanoseconds = 1 * kSecond;
  profile.ranks[2].steps[5].nanoseconds = 12 * kSecond;
  profile.ranks[2].steps[6].nanoseconds = 14 * kSecond;
  profile.ranks[1].steps[6].nanoseconds = 13 * kSecond;
  return profile;
}

TEST(OnPathStagesTest, StageIsWorkOfBusiestRankPerThread) {
  OnPathRun run = on_path_run(kSteps, example(), 2);
  EXPECT_EQ(run.seconds, 20);
  EXPECT_EQ(run.stages.read, 7);
  EXPECT_EQ(run.stages.local_dedupe, 6);
  EXPECT_EQ(run.stages.device_to_host, 0);
  EXPECT_EQ(run.stages.combine, 5);
  EXPECT_EQ(run.stages.send, 3);
  EXPECT_EQ(run.stages.receive, 2);
  EXPECT_EQ(run.stages.host_to_device, 0);
  EXPECT_EQ(run.stages.final_dedupe, 3);
  EXPECT_EQ(run.wire_rows, 70);
  EXPECT_EQ(run.wire_bytes, 280);
  EXPECT_EQ(run.host_bytes, 200);
  EXPECT_EQ(run.combiner_rate(), 25);  // 100 rows in 4 s
}

TEST(OnPathStagesTest, RowsThatBypassCombinersCrossTheWire) {
  QueryProfile profile = example();
  profile.ranks[0].steps[3] = {.gives_rows = true, .rows = 30, .nanoseconds = 1 * kSecond};
  profile.ranks[0].steps[4] = {.gives_rows = true, .rows = 30, .nanoseconds = 1 * kSecond, .bytes_received = 120};
  OnPathRun run = on_path_run(kSteps, profile, 2);
  EXPECT_EQ(run.wire_bytes, 400);
  EXPECT_EQ(run.host_bytes, 200);
  EXPECT_EQ(run.combiner_rate(), 25);
  EXPECT_EQ(run.stages.combine, 5);
  EXPECT_EQ(run.stages.receive, 3);
}

TEST(OnPathStagesTest, PlanWithoutCombinerHasNoRate) {
  QueryProfile profile;
  profile.ranks.resize(2);
  profile.ranks[0].steps[1].bytes_received = 40;
  OnPathRun run = on_path_run({"aggregate", "gather", "scan t"}, profile, 1);
  EXPECT_EQ(run.combiner_rate(), std::nullopt);
  EXPECT_EQ(run.stages.combine, 0);
  EXPECT_EQ(run.wire_bytes, 40);
}

TEST(OnPathStagesTest, PlanWithoutGatherIsRejected) {
  EXPECT_THROW(on_path_run({"aggregate", "repartition", "scan t"}, example(), 1), InternalError);
  EXPECT_THROW(on_path_run({"gather", "aggregate", "repartition", "scan t"}, example(), 1), InternalError);
}

TEST(OnPathStagesTest, MedianIsTakenPerFigure) {
  std::vector<OnPathRun> runs(3);
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i].seconds = static_cast<double>(i);
    runs[i].wire_bytes = 10 - static_cast<int64_t>(i);
    runs[i].stages.send = i == 0 ? 9 : 1;
  }
  OnPathRun middle = median_of(runs);
  EXPECT_EQ(middle.seconds, 1);
  EXPECT_EQ(middle.wire_bytes, 9);
  EXPECT_EQ(middle.stages.send, 1);
}

}  // namespace
}  // namespace pistachio
