// Per-rank figures of a query, behind EXPLAIN ANALYZE. Each rank collects its own and sends them to rank 0 when it has finished. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/byte_stream.h"
#include "base/span_recorder.h"
#include "exec/pipeline/plan_builder.h"
#include "network/exchange_hub.h"
#include "physical/physical_node.h"
#include "profile/use_timeline.h"

namespace pistachio {

// One step of a plan on one rank.
struct StepFigures {
  bool gives_rows = false;  // whether the step outputs rows here; an exchange may send from here and output its rows elsewhere
  int64_t rows = 0;
  int64_t chunks = 0;
  int64_t nanoseconds = 0;
  int64_t bytes = 0;
  int64_t spilled = 0;  // bytes written to disk
  int64_t skipped_records = 0;  // scans: bad records of files that the query ignores
  int64_t from_others = 0;  // scans: row groups taken over from other ranks; joins: buckets taken over from them
  // Exchanges.
  int64_t rows_sent = 0;  // input rows, including those that stay on this rank
  int64_t bytes_sent = 0;
  int64_t bytes_across_network = 0;  // of those: to other hosts
  int64_t messages_sent = 0;
  int64_t bytes_received = 0;
  int64_t messages_received = 0;
  int64_t senders_stalled = 0;  // nanoseconds, as in ExchangeFigures
  int64_t credit_stalled = 0;
  int64_t receivers_stalled = 0;
  // Merging of partial results in transit, as in OperatorMetrics.
  int64_t rows_to_merge = 0;
  int64_t rows_merged = 0;
  int64_t ranks_that_decide = 0;
  int64_t ranks_that_merge = 0;  // deciding ranks where merging was on at the end
  int64_t merging_changes = 0;
  int64_t expected_percent = 0;  // sums over the ranks that decide
  int64_t arrival_percent = 0;
  int64_t needed_percent = 0;
  int64_t picoseconds_to_produce = 0;
  int64_t picoseconds_to_merge = 0;
  int64_t picoseconds_on_link = 0;
  // On a GPU, if counted (kernels/ops/device_waits.h).
  int64_t synchronizations = 0;
  int64_t pageable_copies = 0;
  int64_t device_waited = 0;  // nanoseconds
};

// A rank's waits for its GPU, inside and outside of operators.
struct DeviceFigures {
  bool are_known = false;  // they could be counted
  int64_t synchronizations = 0;
  int64_t pageable_copies = 0;
  int64_t waited = 0;  // nanoseconds, over all threads
};

struct RankProfile {
  int64_t bytes_read = 0;
  std::map<uint32_t, StepFigures> steps;  // by step number; only those with a part on this rank
  std::vector<UseSample> use = {};        // over the time of the query; empty unless requested
  std::vector<Span> spans = {};           // of work on steps; empty unless the query is traced
  std::optional<DeviceFigures> device = {};  // if count_device_waits is on and there is a GPU

  int64_t bytes_received() const;
  int64_t bytes_spilled() const;
};

// The number of each step: the same on all ranks, since they have the same plan.
std::map<const PhysicalNode*, uint32_t> step_numbers(const PhysicalPlan& plan);

// Call before the run: the spans of its steps go to the recorder, which outlives it.
void record_spans(const PhysicalPlan& plan, const ExecutablePlan& executable, SpanRecorder& recorder);

// Call after the run. Without exchanges the query ran on one rank alone.
RankProfile profile_of(const PhysicalPlan& plan, const ExecutablePlan& executed, const QueryExchanges* exchanges, int64_t bytes_read);

void put_profile(ByteWriter& writer, const RankProfile& profile);
// Throws PeerError.
RankProfile get_profile(ByteReader& reader);

// Hardware bandwidths as far as known; 0: unknown.
struct Bandwidths {
  double storage = 0;  // bytes per second and rank
  double link = 0;
};

struct QueryProfile {
  double seconds = 0;
  std::vector<RankProfile> ranks;
  Bandwidths bandwidths;

  int64_t bytes_read() const;
  int64_t bytes_spilled() const;
  // The sum over all ranks; unknown if one rank's is. Nullopt if no rank was asked to count.
  std::optional<DeviceFigures> device() const;
  // The figures of a step on each rank; nullopt for a rank that takes no part in it.
  std::vector<std::optional<StepFigures>> step(uint32_t number) const;
  // Lower bound of the time that storage and links need for the bytes moved; nullopt if neither bandwidth is known.
  std::optional<double> shortest_seconds() const;
};

// The sum over all ranks.
StepFigures total_of(const std::vector<std::optional<StepFigures>>& ranks);

// Ratio of the maximum to the mean: 1 if all shares are equal, or all are 0.
double imbalance(const std::vector<int64_t>& shares);

}  // namespace pistachio
