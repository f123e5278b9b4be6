// What a rank announces about itself at startup, and the comparison of all cards. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "network/rank_info.h"

namespace pistachio {

struct RankCard {
  RankInfo info;        // host_index and machine_index are found when all cards are there
  std::string machine;  // the same for ranks that share a machine and a view of it
  std::string version;
  std::vector<std::pair<std::string, std::string>> settings;
};

// Host, process and cores of this process. A `host` that is not empty takes the place of the machine's name.
RankCard card_of_this_process(const std::string& host = "");

std::string pack_card(const RankCard& card);
// Throws UserError: bytes that no rank of this version wrote.
RankCard unpack_card(int rank, const std::string& bytes);

// Throws UserError that names the first rank whose version or settings differ from those of rank 0.
void compare_cards(const std::vector<RankCard>& cards);
// Ranks are on one host if they are on one machine and call it the same.
std::vector<RankInfo> number_hosts(const std::vector<RankCard>& cards);

}  // namespace pistachio
