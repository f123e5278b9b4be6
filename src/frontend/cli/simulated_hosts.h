// Host names for ranks of one machine that simulate several hosts (`--hosts`). Pure.
#pragma once

#include <string>

namespace pistachio {

// `hosts` is a number of hosts, over which ranks are distributed in blocks, as launchers do ("3"), or the number of ranks of each host
// ("1,2,2"). Returns the name of the rank's host. Throws UsageError.
std::string simulated_host(const std::string& hosts, int rank, int ranks);

}  // namespace pistachio
