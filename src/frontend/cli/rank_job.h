// This process as one rank of a job: how it meets the others, starts them where nobody else has, and runs queries together with them.
//   RankJob job(options, settings, interrupts);   // all ranks have met
//   RankEngine rank(job, settings);               // they can run queries
// Used by one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/rank_service.h"
#include "config/settings.h"
#include "frontend/cli/interrupt_watcher.h"
#include "frontend/cli/machine_share.h"
#include "frontend/cli/machine_topology.h"
#include "frontend/cli/rank_keeper.h"
#include "frontend/cli/rank_processes.h"
#include "network/job_identity.h"
#include "network/rendezvous.h"
#include "network/ucx_transport.h"

namespace pistachio {

// Ranks of a local job are told with it which process has started them.
constexpr const char* kParentOption = "--parent";

class RankJob {
 public:
  struct Options {
    JobIdentity identity;
    std::string host;  // what this rank calls its host; empty: by its name
    // The words that start the other ranks on this machine, kParentOption excepted; empty: a launcher has started them.
    std::vector<std::string> others;
    std::vector<std::string> query_words;  // what goes behind `--` of those
  };

  // Returns when all have met. Throws UserError, Cancelled.
  RankJob(Options options, const Settings& settings, InterruptWatcher& interrupts);

  int rank() const { return identity_.rank; }
  const Meeting& meeting() const { return meeting_; }
  UcxTransport& transport() { return *transport_; }
  MachineShare share() const { return share_of_machine(meeting_.ranks, rank()); }
  const MachineTopology& topology() const { return topology_; }
  // Of the ranks on this machine; empty if the launcher does not say how many there are.
  const std::vector<RankPlace>& places() const { return places_; }
  // Messages flow from here on.
  void connect() { transport_->connect(meeting_.ranks, meeting_.key, meeting_.lost); }

  // Who looks after the other ranks on behalf of the service of the first, as long as it lives; null where nobody has to.
  std::unique_ptr<RankKeeper> keep_others(RankService& service, bool restarts);

 private:
  // Devices that are near this rank: what the user has not chosen already.
  void choose_devices(const Settings& settings, UcxOptions& network) const;

  JobIdentity identity_;
  MachineTopology topology_;
  std::vector<RankPlace> places_;
  std::optional<RankProcesses> processes_;  // ends last: the others end when the transport does
  std::unique_ptr<Rendezvous> rendezvous_;
  std::unique_ptr<UcxTransport> transport_;
  Meeting meeting_;
};

// The identity of a process that starts the other ranks itself.
JobIdentity identity_of_local_job(int ranks);

// The engine of this rank, with its share of the machine, and the service that runs queries on all ranks.
class RankEngine {
 public:
  // Connects the job, which outlives it.
  RankEngine(RankJob& job, Settings settings);

  EngineInstance& engine() { return *engine_; }
  RankService& ranks() { return *ranks_; }

 private:
  std::unique_ptr<EngineInstance> engine_;
  std::unique_ptr<RankService> ranks_;
  std::unique_ptr<RankKeeper> keeper_;
};

}  // namespace pistachio
