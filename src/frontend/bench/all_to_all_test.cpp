#include "frontend/bench/all_to_all.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "network/loopback_transport.h"

namespace pistachio {
namespace {

class AllToAllTest : public testing::Test {
 protected:
  explicit AllToAllTest() : network_(3, {.largest_delay = std::chrono::microseconds(200), .seed = 7}) {
    for (int rank = 0; rank < 3; ++rank) {
      ranks_.push_back(std::make_unique<AllToAll>(network_.transport(rank)));
      network_.transport(rank).start(*ranks_.back());
    }
  }
  ~AllToAllTest() override {
    for (int rank = 0; rank < 3; ++rank) network_.transport(rank).stop();
  }

  std::vector<std::unique_ptr<AllToAll>> ranks_;
  LoopbackNetwork network_;
};

TEST_F(AllToAllTest, EveryRankSendsToEveryRank) {
  for (int round = 0; round < 3; ++round) {
    TransportStatistics before = network_.transport(2).statistics();
    EXPECT_GT(ranks_[0]->run(AllToAll::Pattern::AllPairs, 1000, 20, {}), 0);
    TransportStatistics after = network_.transport(2).statistics();
    EXPECT_GE(after.bytes_received - before.bytes_received, 2 * 20 * 1000);
  }
}

TEST_F(AllToAllTest, OneLinkAlone) {
  ranks_[0]->run(AllToAll::Pattern::FirstLink, 1000, 20, {});
  EXPECT_GE(network_.transport(1).statistics().bytes_received, 20 * 1000);
  EXPECT_LT(network_.transport(2).statistics().bytes_received, 1000);
}

TEST_F(AllToAllTest, LostRankEndsRoundOnAllRanks) {
  network_.hold(1, 0, true);
  network_.hold(1, 2, true);
  network_.lose(1);
  EXPECT_THROW(ranks_[0]->run(AllToAll::Pattern::AllPairs, 1000, 20, {}), PeerError);
  network_.lose(0);
  ranks_[2]->wait({});
}

TEST_F(AllToAllTest, CanBeCancelled) {
  network_.hold(1, 0, true);
  CancelSource source;
  source.cancel("enough");
  EXPECT_THROW(ranks_[0]->run(AllToAll::Pattern::AllPairs, 1000, 1, source.token()), Cancelled);
}

}  // namespace
}  // namespace pistachio
