#include "network/scan_shares.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <set>

#include "base/scheduler.h"
#include "base/task_group.h"
#include "network/exchange_hub.h"
#include "network/hub_receiver.h"
#include "network/loopback_transport.h"

namespace pistachio {
namespace {

constexpr uint32_t kScan = 3;

class ScanSharesTest : public testing::Test {
 protected:
  ~ScanSharesTest() override {
    for (int rank = 0; rank < 2; ++rank) network_.transport(rank).stop();
  }

  // Turns a hang into an error.
  void run(Task<void> task) {
    CancelSource watchdog({}, std::chrono::steady_clock::now() + std::chrono::seconds(60));
    scheduler_.run(std::move(task), watchdog.token());
  }

  std::optional<size_t> ask_first(QueryExchanges& second) {
    std::optional<size_t> unit;
    auto ask = [&]() -> Task<void> {
      Task<ScanShares::Answer> asking = second.scan_shares().ask(0, kScan);
      ScanShares::Answer answer = co_await asking;
      EXPECT_EQ(answer.rank, 0);
      unit = answer.unit;
    };
    run(ask());
    return unit;
  }

  Scheduler scheduler_{SchedulerOptions{.workers = 4}};
  LoopbackNetwork network_{2, {}};
  HubReceiver first_{network_.transport(0)};
  HubReceiver second_{network_.transport(1)};
};

TEST_F(ScanSharesTest, OthersGetTheLastUnits) {
  QueryExchanges first(first_.hub, 1, 0, {});
  QueryExchanges second(second_.hub, 1, 0, {});
  first.scan_shares().offer(kScan, {4, 8, 9});
  EXPECT_EQ(ask_first(second), 9u);
  EXPECT_EQ(first.scan_shares().take(kScan), 4u);
  EXPECT_EQ(ask_first(second), 8u);
  EXPECT_EQ(first.scan_shares().take(kScan), std::nullopt);
  EXPECT_EQ(ask_first(second), std::nullopt);
}

TEST_F(ScanSharesTest, WithdrawnUnitsAreNotHandedOver) {
  QueryExchanges first(first_.hub, 1, 0, {});
  QueryExchanges second(second_.hub, 1, 0, {});
  first.scan_shares().offer(kScan, {1, 2});
  first.scan_shares().withdraw(kScan);
  EXPECT_EQ(ask_first(second), std::nullopt);
}

// The asking rank waits, so it must be answered whatever the state of the query.
TEST_F(ScanSharesTest, RankWithoutTheQueryAnswers) {
  QueryExchanges second(second_.hub, 1, 0, {});
  EXPECT_EQ(ask_first(second), std::nullopt);  // not begun
  { QueryExchanges first(first_.hub, 1, 0, {}); }
  EXPECT_EQ(ask_first(second), std::nullopt);  // ended
  first_.hub.begin_at(5);
  EXPECT_EQ(ask_first(second), std::nullopt);  // before this rank joined
}

TEST_F(ScanSharesTest, EveryUnitIsReadOnce) {
  constexpr size_t kUnits = 2000;
  QueryExchanges first(first_.hub, 1, 0, {});
  QueryExchanges second(second_.hub, 1, 0, {});
  std::vector<size_t> units(kUnits);
  std::iota(units.begin(), units.end(), size_t{0});
  first.scan_shares().offer(kScan, units);
  std::vector<std::atomic<int>> times(kUnits);
  std::atomic<int64_t> stolen = 0;
  auto read_own = [&]() -> Task<void> {
    while (stolen == 0) co_await reschedule();
    while (std::optional<size_t> unit = first.scan_shares().take(kScan)) {
      ++times[*unit];
      co_await reschedule();
    }
  };
  auto read_for_others = [&]() -> Task<void> {
    while (true) {
      Task<ScanShares::Answer> asking = second.scan_shares().ask(0, kScan);
      ScanShares::Answer answer = co_await asking;
      if (!answer.unit) co_return;
      ++times[*answer.unit];
      ++stolen;
    }
  };
  std::vector<Task<void>> all;
  for (int i = 0; i < 3; ++i) all.push_back(read_for_others());
  for (int i = 0; i < 2; ++i) all.push_back(read_own());
  run(when_all(std::move(all)));
  for (size_t unit = 0; unit < kUnits; ++unit) EXPECT_EQ(times[unit], 1) << unit;
  EXPECT_GT(stolen, 0);
}

}  // namespace
}  // namespace pistachio
