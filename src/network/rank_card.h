// What a rank announces about itself at startup, and the comparison of all cards. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "network/rank_info.h"

namespace pistachio {

struct RankCard {
  RankInfo info;        // host_index and machine_index are set once all cards are known
  std::string machine;  // equal for ranks that share a machine and a view of it
  std::string version;
  std::vector<std::pair<std::string, std::string>> settings;
};

// Host, process and cores of this process. A nonempty `host` replaces the machine's name.
RankCard card_of_this_process(const std::string& host = "");

std::string pack_card(const RankCard& card);
// Throws UserError for bytes that no rank of this version wrote.
RankCard unpack_card(int rank, const std::string& bytes);

// Throws UserError naming the first rank whose version or settings differ from those of rank 0.
void compare_cards(const std::vector<RankCard>& cards);
// Ranks are on one host if they have the same machine and host name.
std::vector<RankInfo> number_hosts(const std::vector<RankCard>& cards);

}  // namespace pistachio
