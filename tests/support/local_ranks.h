// Several ranks in this process over one engine: queries of the first rank run on all.
#pragma once

#include <memory>
#include <vector>

#include "cluster/rank_service.h"
#include "network/loopback_transport.h"

namespace pistachio::test {

class LocalRanks {
 public:
  // Messages overtake each other. The ranks are distributed over the hosts in blocks.
  LocalRanks(EngineInstance& engine, int ranks, int hosts = 1)
      : network_(ranks, LoopbackOptions{.largest_delay = std::chrono::microseconds(50), .seed = 7}) {
    RankServiceOptions options;
    for (int rank = 0; hosts > 1 && rank < ranks; ++rank) options.links.hosts.push_back(rank * hosts / ranks);
    for (int rank = 0; rank < ranks; ++rank) services_.push_back(std::make_unique<RankService>(engine, network_.transport(rank), options));
  }

  RankService& first() { return *services_[0]; }
  LoopbackNetwork& network() { return network_; }

 private:
  LoopbackNetwork network_;
  std::vector<std::unique_ptr<RankService>> services_;
};

}  // namespace pistachio::test
