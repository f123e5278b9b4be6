// Counts how often queries wait for a GPU; only where there is one.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "frontend/bench/sample_file.h"
#include "session/ignored_result.h"
#include "session/session.h"
#include "tests/support/temporary_folder.h"

namespace pistachio::test {
namespace {

struct CountedQuery {
  DeviceFigures device;
  int64_t synchronizations_of_steps = 0;
  int64_t chunks = 0;
};

class DeviceWaitsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::globalContext().hasCUDA()) GTEST_SKIP() << "there is no GPU";
  }

  // The second run of a query over a file with so many row groups: the first allocates memory.
  CountedQuery count_waits(int64_t row_groups) const {
    Settings settings;
    settings.device = DeviceChoice::Cuda;
    settings.count_device_waits = true;
    EngineInstance engine(settings);
    Session session(engine);
    constexpr int64_t kRows = 1 << 20;
    const std::string path = folder_.path() + "/rows.parquet";
    write_sample_file(path, {kRows, kRows / row_groups});
    const std::string sql = "SELECT flag, count(*), sum(amount) FROM '" + path + "' GROUP BY flag";
    IgnoredResult ignored;
    for (int run = 0; run < 2; ++run) {
      const auto begin = std::chrono::steady_clock::now();
      for (ast::Statement& statement : session.parse(sql, {}, begin))
        session.execute(std::make_shared<const ast::Statement>(std::move(statement)), ignored, {});
    }
    CountedQuery counted;
    const RankProfile& profile = session.profile()->ranks.at(0);
    EXPECT_TRUE(profile.device.has_value());
    counted.device = profile.device.value_or(DeviceFigures{});
    for (const auto& [number, step] : profile.steps) {
      counted.synchronizations_of_steps += step.synchronizations;
      counted.chunks += step.chunks;
    }
    return counted;
  }

  TemporaryFolder folder_;
};

TEST_F(DeviceWaitsTest, QueryWaitsInItsOperators) {
  const CountedQuery query = count_waits(8);
  if (!query.device.are_known) GTEST_SKIP() << "CUPTI is missing or in use";
  EXPECT_GT(query.synchronizations_of_steps, 0);
  EXPECT_GE(query.device.synchronizations, query.synchronizations_of_steps);
  EXPECT_GT(query.device.waited, 0);
}

// How many row groups a chunk takes depends on how fast they arrive, so waits are compared with chunks.
TEST_F(DeviceWaitsTest, WaitsGrowWithChunksNotRowGroups) {
  constexpr int64_t kMaxPerChunk = 32;
  const CountedQuery few = count_waits(4);
  if (!few.device.are_known) GTEST_SKIP() << "CUPTI is missing or in use";
  const CountedQuery many = count_waits(256);
  EXPECT_LT(few.device.synchronizations, kMaxPerChunk * (few.chunks + 2));
  EXPECT_LT(many.device.synchronizations, kMaxPerChunk * (many.chunks + 2));
}

}  // namespace
}  // namespace pistachio::test
