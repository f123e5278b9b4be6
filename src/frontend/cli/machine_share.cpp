#include "frontend/cli/machine_share.h"

#include <algorithm>

namespace pistachio {

namespace {

bool overlap(const CoreSet& one, const CoreSet& other) {
  return std::find_first_of(one.begin(), one.end(), other.begin(), other.end()) != one.end();
}

}  // namespace

MachineShare share_of_machine(const std::vector<RankInfo>& ranks, int rank) {
  const RankInfo& own = ranks[static_cast<size_t>(rank)];
  MachineShare share{.ranks = 0, .cores = own.core_set, .is_exclusive = true};
  size_t mates = 0;
  size_t place = 0;
  for (const RankInfo& other : ranks) {
    if (other.machine_index != own.machine_index) continue;
    ++share.ranks;
    if (other.core_set == own.core_set) {
      place += other.rank < rank ? 1 : 0;
      ++mates;
    } else if (overlap(other.core_set, own.core_set)) {
      share.is_exclusive = false;
    }
  }
  size_t cores = own.core_set.size();
  if (cores < mates) share.is_exclusive = false;
  if (!share.is_exclusive) return share;
  auto begin = own.core_set.begin();
  share.cores.assign(begin + static_cast<std::ptrdiff_t>(cores * place / mates),
                     begin + static_cast<std::ptrdiff_t>(cores * (place + 1) / mates));
  return share;
}

}  // namespace pistachio
