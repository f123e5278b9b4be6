#include "frontend/cli/machine_share.h"

#include <gtest/gtest.h>

namespace pistachio {
namespace {

std::vector<RankInfo> ranks_with(const std::vector<std::pair<int, std::string>>& machines_and_cores) {
  std::vector<RankInfo> ranks;
  for (const auto& [machine, cores] : machines_and_cores) {
    RankInfo& made = ranks.emplace_back();
    made.rank = static_cast<int>(ranks.size()) - 1;
    made.machine_index = machine;
    made.core_set = core_set_of(cores);
  }
  return ranks;
}

std::string share_text(const std::vector<RankInfo>& ranks, int rank) {
  MachineShare share = share_of_machine(ranks, rank);
  return fmt::format("{} {}{} x{}", share.ranks, to_text(share.cores), share.is_exclusive ? "" : " shared", share.threads());
}

TEST(MachineShareTest, SingleRankHasWholeMachine) {
  EXPECT_EQ(share_text(ranks_with({{0, "0-7"}, {1, "0-7"}}), 1), "1 0-7 x8");
}

TEST(MachineShareTest, RanksOfOneMachineDivideItsCores) {
  std::vector<RankInfo> ranks = ranks_with({{0, "0-7"}, {1, "0-7"}, {0, "0-7"}, {0, "0-7"}});
  EXPECT_EQ(share_text(ranks, 0), "3 0-1 x2");
  EXPECT_EQ(share_text(ranks, 2), "3 2-4 x3");
  EXPECT_EQ(share_text(ranks, 3), "3 5-7 x3");
}

TEST(MachineShareTest, TooFewCoresAreShared) {
  EXPECT_EQ(share_text(ranks_with({{0, "0-1"}, {0, "0-1"}, {0, "0-1"}}), 2), "3 0-1 shared x1");
}

TEST(MachineShareTest, LauncherAffinityIsKept) {
  std::vector<RankInfo> ranks = ranks_with({{0, "0-3"}, {0, "4-7"}, {0, "4-7"}});
  EXPECT_EQ(share_text(ranks, 0), "3 0-3 x4");
  EXPECT_EQ(share_text(ranks, 2), "3 6-7 x2");
}

TEST(MachineShareTest, OverlappingCoresAreShared) {
  EXPECT_EQ(share_text(ranks_with({{0, "0-3"}, {0, "2-7"}}), 0), "2 0-3 shared x1");
}

}  // namespace
}  // namespace pistachio
