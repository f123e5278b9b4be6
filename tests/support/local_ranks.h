// Several ranks in this process over one engine: queries of the first rank run on all.
#pragma once

#include <memory>
#include <vector>

#include "cluster/rank_service.h"
#include "network/loopback_transport.h"

namespace pistachio::test {

class LocalRanks {
 public:
  // Messages overtake each other.
  LocalRanks(EngineInstance& engine, int ranks)
      : network_(ranks, LoopbackOptions{.largest_delay = std::chrono::microseconds(50), .seed = 7}) {
    for (int rank = 0; rank < ranks; ++rank) services_.push_back(std::make_unique<RankService>(engine, network_.transport(rank)));
  }

  RankService& first() { return *services_[0]; }
  LoopbackNetwork& network() { return network_; }

 private:
  LoopbackNetwork network_;
  std::vector<std::unique_ptr<RankService>> services_;
};

}  // namespace pistachio::test
