// Per-rank figures of a query, behind EXPLAIN ANALYZE. Each rank collects its own and sends them to rank 0 when it has finished. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/byte_stream.h"
#include "exec/pipeline/plan_builder.h"
#include "network/exchange_hub.h"
#include "physical/physical_node.h"
#include "profile/use_timeline.h"

namespace pistachio {

// One step of a plan on one rank.
struct StepFigures {
  bool gives_rows = false;  // whether the step runs here; an exchange may send from here and give its rows elsewhere
  int64_t rows = 0;
  int64_t chunks = 0;
  int64_t nanoseconds = 0;
  int64_t bytes = 0;
  int64_t from_others = 0;  // of scans: row groups that were dealt to other ranks; of joins: buckets taken over from them
  // Of exchanges.
  int64_t rows_sent = 0;  // taken from below, also those that stay on this rank
  int64_t bytes_sent = 0;
  int64_t messages_sent = 0;
  int64_t bytes_received = 0;
  int64_t messages_received = 0;
  int64_t senders_stalled = 0;  // nanoseconds, as in ExchangeFigures
  int64_t credit_stalled = 0;
  int64_t receivers_stalled = 0;
};

struct RankProfile {
  int64_t bytes_read = 0;
  std::map<uint32_t, StepFigures> steps;  // by their numbers in the plan; those that have a part on this rank
  std::vector<UseSample> use = {};        // over the time of the query; empty unless it was asked for

  int64_t bytes_received() const;
};

// The number of each step: the same on all ranks, as they have the same plan.
std::map<const PhysicalNode*, uint32_t> step_numbers(const PhysicalPlan& plan);

// After the run. Without exchanges the query ran on one rank alone.
RankProfile profile_of(const PhysicalPlan& plan, const ExecutablePlan& executed, const QueryExchanges* exchanges, int64_t bytes_read);

void put_profile(ByteWriter& writer, const RankProfile& profile);
// Throws PeerError.
RankProfile get_profile(ByteReader& reader);

// What the hardware can do, as far as it is known; 0: it is not.
struct Bandwidths {
  double storage = 0;  // bytes a second of each rank
  double link = 0;
};

struct QueryProfile {
  double seconds = 0;
  std::vector<RankProfile> ranks;
  Bandwidths bandwidths;

  int64_t bytes_read() const;
  // The figures of a step on each rank; empty for a rank that has no part in it.
  std::vector<std::optional<StepFigures>> step(uint32_t number) const;
  // The time that storage and links need at least for what was moved; nothing if neither bandwidth is known.
  std::optional<double> shortest_seconds() const;
};

// The sum over all ranks.
StepFigures total_of(const std::vector<std::optional<StepFigures>>& ranks);

// How much the largest is above the mean: 1 if all have the same. 1 also if all have nothing.
double imbalance(const std::vector<int64_t>& shares);

}  // namespace pistachio
