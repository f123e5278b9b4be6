// What every rank knows about each rank of its job after startup. Plain data.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/core_set.h"

namespace pistachio {

struct RankInfo {
  int rank = 0;
  std::string host;
  int host_index = 0;  // equal for ranks on one host; numbered by their first ranks
  // Derived from machine and host: the same on one host, even if other ranks restart elsewhere.
  uint64_t host_key = 0;
  int64_t pid = 0;
  int cores = 0;        // that it may use
  std::string address;  // of its transport; opaque to everyone else
  // Like host_index, for the real machine: ranks that simulate several hosts still share one.
  int machine_index = 0;
  CoreSet core_set = {};
  int incarnation = 0;  // number of earlier processes of this rank: tells their late messages from those of the current one

  // `rank 3 (host left, process 4711)`
  std::string to_string() const { return fmt::format("rank {} (host {}, process {})", rank, host, pid); }
};

}  // namespace pistachio
