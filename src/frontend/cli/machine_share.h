// A rank's share of a machine that several ranks use. Pure.
#pragma once

#include <vector>

#include "base/core_set.h"
#include "network/rank_info.h"

namespace pistachio {

struct MachineShare {
  int ranks = 1;              // on the machine
  CoreSet cores;              // for this rank
  bool is_exclusive = false;  // no other rank uses any of them

  int threads() const { return is_exclusive ? static_cast<int>(cores.size()) : 1; }
};

// Ranks that may use the same cores divide them evenly; cores that a launcher assigned to one rank alone stay with it.
MachineShare share_of_machine(const std::vector<RankInfo>& ranks, int rank);

}  // namespace pistachio
