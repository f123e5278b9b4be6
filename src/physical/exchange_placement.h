// Distributes a physical plan over ranks: splits scans and inserts an exchange wherever an input does not have the required distribution.
#pragma once

#include "base/cancel_token.h"
#include "config/settings.h"
#include "physical/physical_node.h"

namespace pistachio {

struct PlacementOptions {
  int ranks = 1;
  // For tests: distribute in-memory tables and constants too, however few rows they have.
  bool spread_everything = false;
  JoinDistribution joins = JoinDistribution::Auto;
  SortDistribution sorts = SortDistribution::Auto;
  GroupDistribution groups = GroupDistribution::Auto;
  PartialAggregation partial_aggregation = PartialAggregation::Auto;
  // Spread frequent join keys over all ranks. Not with schedules that send the build side before reading the probe side.
  bool spread_keys = false;
  // Every rank reads its own files.
  bool local_files = false;
  // The host of each rank; needed to merge partial results in transit (on_path).
  std::vector<int64_t> hosts = {};
  OnPathMode on_path = OnPathMode::Off;
  bool on_path_arrival = false;
  int64_t on_path_helpers = 0;
  // Of a rank, to merge with.
  int64_t threads = 1;
  // Bandwidth of a link in bytes per second, weighed against processing costs; 0: unknown.
  double link_speed = 0;
};

// `plan` is a single-rank plan (plan_physical). Chooses for each node the cheapest alternative in bytes moved and processed; an input that
// already has the required distribution is not moved. Throws InternalError if the result is inconsistent, and Cancelled.
void place_exchanges(PhysicalPlan& plan, const PlacementOptions& options, const CancelToken& token = {});

}  // namespace pistachio
