#include "frontend/cli/simulated_hosts.h"

#include <gtest/gtest.h>

#include <vector>

#include "frontend/cli/command_arguments.h"

namespace pistachio {
namespace {

std::vector<std::string> hosts_of(const std::string& text, int ranks) {
  std::vector<std::string> made;
  for (int rank = 0; rank < ranks; ++rank) made.push_back(simulated_host(text, rank, ranks));
  return made;
}

TEST(SimulatedHostsTest, NumberOfHostsMakesBlocks) {
  EXPECT_EQ(hosts_of("2", 4), (std::vector<std::string>{"host-0", "host-0", "host-1", "host-1"}));
  EXPECT_EQ(hosts_of("3", 5), (std::vector<std::string>{"host-0", "host-0", "host-1", "host-1", "host-2"}));
}

TEST(SimulatedHostsTest, ListGivesRanksOfEachHost) {
  EXPECT_EQ(hosts_of("1,2,2", 5), (std::vector<std::string>{"host-0", "host-1", "host-1", "host-2", "host-2"}));
}

TEST(SimulatedHostsTest, WrongNumbersAreUsageErrors) {
  for (const char* text : {"3", "1,2", "0", "x", "", "1,-1,2", "1,,x", "99999999999999999999"})
    EXPECT_THROW(simulated_host(text, 0, 2), UsageError) << text;
}

}  // namespace
}  // namespace pistachio
