// Runs the planned queries of a session on this process or on all ranks, and says what planning needs to know about them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine_instance.h"
#include "engine/result_receiver.h"
#include "physical/exchange_placement.h"

namespace pistachio {

struct PhysicalPlan;
struct PlannedQuery;
struct QueryProfile;
class RankService;
struct RankRunOptions;

// The engine, the ranks (null: this process is the only one) and the settings outlive it. Used by one thread.
class QueryRunner {
 public:
  QueryRunner(EngineInstance& engine, RankService* ranks, const Settings& settings) : engine_(engine), ranks_(ranks), settings_(settings) {}

  PlacementOptions placement() const;
  // Bandwidth of the slowest link in bytes per second: the configured limit, else as measured; 0: unknown.
  double link_speed() const;
  // Where a plan runs: with device=auto, small inputs stay on the host.
  at::Device device_for(const PhysicalPlan& plan) const;

  struct Run {
    EngineInstance::QueryScope& scope;
    const CancelToken& token;
    bool watched = false;             // the profile shows use over time
    std::vector<std::string>& notes;  // remarks for the user
  };
  // Builds, runs and delivers. Runs the query a second time if a rank was lost and is back, and no row was delivered yet.
  void run(const PlannedQuery& planned, ResultReceiver& receiver, const Run& run);

  // Profile of the last query on each rank; null before the first.
  std::shared_ptr<const QueryProfile> profile() const { return profile_; }

 private:
  // The host of each rank, if partial results are to be merged there.
  std::vector<int64_t> hosts() const;
  void run_once(const PlannedQuery& planned, ResultReceiver& receiver, const Run& run, const RankRunOptions& options);
  // How many bad records of files the query left out.
  void note_skipped_records(std::vector<std::string>& notes) const;
  void write_trace(const PlannedQuery& planned, std::vector<std::string>& notes) const;

  EngineInstance& engine_;
  RankService* const ranks_;
  const Settings& settings_;
  std::shared_ptr<const QueryProfile> profile_;
};

}  // namespace pistachio
