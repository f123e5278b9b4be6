#include "exec/operators/shared_units.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/error.h"
#include "base/scheduler.h"

namespace pistachio {
namespace {

constexpr uint32_t kScan = 0;

// Two ranks whose messages arrive immediately.
class SharedUnitsTest : public testing::Test {
 protected:
  SharedUnitsTest() {
    for (int rank : {0, 1}) {
      shares_[rank] = std::make_unique<ScanShares>(
          [this, rank](int other, uint32_t scan) {
            ++questions_;
            shares_[other]->on_question(rank, scan);
          },
          [this, rank](int other, uint32_t scan, int64_t unit) { shares_[other]->on_answer(rank, scan, unit); });
    }
  }

  std::vector<size_t> read_all(SharedUnits& units) {
    std::vector<size_t> read;
    auto reading = [&]() -> Task<void> {
      while (true) {
        Task<std::optional<size_t>> asking = units.next();
        std::optional<size_t> unit = co_await asking;
        if (!unit) co_return;
        read.push_back(*unit);
      }
    };
    CancelSource watchdog({}, std::chrono::steady_clock::now() + std::chrono::seconds(60));
    scheduler_.run(reading(), watchdog.token());
    return read;
  }

  Scheduler scheduler_{SchedulerOptions{.workers = 1}};
  std::unique_ptr<ScanShares> shares_[2];
  int questions_ = 0;
  const std::vector<std::vector<size_t>> dealt_ = {{0, 2, 4}, {1, 3, 5, 6}};
};

TEST_F(SharedUnitsTest, OwnUnitsFirstThenOthersFromTheEnd) {
  SharedUnits first(*shares_[0], kScan, dealt_, 0, true, 2);
  SharedUnits second(*shares_[1], kScan, dealt_, 1, true, 2);
  EXPECT_EQ(read_all(first), (std::vector<size_t>{0, 2, 4, 6, 5, 3, 1}));
  EXPECT_EQ(first.from_others(), 4);
  EXPECT_EQ(read_all(second), std::vector<size_t>());
  EXPECT_EQ(second.from_others(), 0);
  EXPECT_EQ(read_all(first), std::vector<size_t>());  // the end stays the end
}

TEST_F(SharedUnitsTest, OnlyRanksWithUnitsLeftAreAsked) {
  SharedUnits first(*shares_[0], kScan, dealt_, 0, true, 4);
  SharedUnits second(*shares_[1], kScan, dealt_, 1, true, 4);
  EXPECT_EQ(read_all(first), dealt_[0]);
  EXPECT_EQ(read_all(second), dealt_[1]);
  EXPECT_EQ(questions_, 0);
}

TEST_F(SharedUnitsTest, WithoutHelpRanksReadTheirOwnUnits) {
  SharedUnits first(*shares_[0], kScan, dealt_, 0, false, 1);
  SharedUnits second(*shares_[1], kScan, dealt_, 1, false, 1);
  EXPECT_EQ(read_all(first), dealt_[0]);
  EXPECT_EQ(questions_, 0);
}

TEST_F(SharedUnitsTest, FinishedRankHandsOverNothing) {
  SharedUnits first(*shares_[0], kScan, dealt_, 0, true, 1);
  { SharedUnits second(*shares_[1], kScan, dealt_, 1, true, 1); }
  EXPECT_EQ(read_all(first), dealt_[0]);
  EXPECT_EQ(questions_, 1);
}

TEST_F(SharedUnitsTest, UnknownUnitBlamesItsSender) {
  SharedUnits first(*shares_[0], kScan, dealt_, 0, true, 1);
  shares_[1]->offer(kScan, {7});
  EXPECT_THROW(read_all(first), PeerError);
}

}  // namespace
}  // namespace pistachio
