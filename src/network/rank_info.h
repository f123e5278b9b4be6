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
  int host_index = 0;  // ranks with the same one are on one host; numbered in the order of their first ranks
  // Of machine and host: the same on one host, wherever the other ranks are started again.
  uint64_t host_key = 0;
  int64_t pid = 0;
  int cores = 0;        // that it may use
  std::string address;  // where its transport is reached: bytes that only the transport understands
  // As host_index, by what is true: ranks that only play to be on several hosts share a machine all the same.
  int machine_index = 0;
  CoreSet core_set = {};
  int incarnation = 0;  // how often the rank was started before: what an earlier process of it sent late is not mistaken for news

  // `rank 3 (host left, process 4711)`
  std::string to_string() const { return fmt::format("rank {} (host {}, process {})", rank, host, pid); }
};

}  // namespace pistachio
