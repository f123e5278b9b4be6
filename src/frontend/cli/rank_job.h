// This process as one rank of a job: meets the other ranks, starts them if no launcher did, and runs queries with them.
//   RankJob job(options, settings, interrupts);   // all ranks have met
//   RankEngine rank(job, settings);               // queries can run
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

// Passes the process id of the parent to the ranks of a local job.
constexpr const char* kParentOption = "--parent";

class RankJob {
 public:
  struct Options {
    JobIdentity identity;
    std::string host;  // host name to report; empty: the real one
    // The command that starts the other ranks on this machine, without kParentOption; empty: a launcher started them.
    std::vector<std::string> others;
    std::vector<std::string> query_words;  // appended to that command after `--`
  };

  // Returns when all ranks have met. Throws UserError, Cancelled.
  RankJob(Options options, const Settings& settings, InterruptWatcher& interrupts);

  int rank() const { return identity_.rank; }
  const Meeting& meeting() const { return meeting_; }
  UcxTransport& transport() { return *transport_; }
  MachineShare share() const { return share_of_machine(meeting_.ranks, rank()); }
  const MachineTopology& topology() const { return topology_; }
  // Of the ranks on this machine; empty if the launcher does not say how many there are.
  const std::vector<RankPlace>& places() const { return places_; }
  // Messages can be sent from here on.
  void connect() { transport_->connect(meeting_.ranks, meeting_.key, meeting_.lost); }

  // Watches the other ranks for the first rank's service, as long as it lives; null if there is nothing to watch.
  std::unique_ptr<RankKeeper> keep_others(RankService& service, bool restarts);

 private:
  // Selects devices near this rank, unless the user already chose.
  void choose_devices(const Settings& settings, UcxOptions& network) const;

  JobIdentity identity_;
  MachineTopology topology_;
  std::vector<RankPlace> places_;
  std::optional<RankProcesses> processes_;  // destroyed last: the other processes end when the transport does
  std::unique_ptr<Rendezvous> rendezvous_;
  std::unique_ptr<UcxTransport> transport_;
  Meeting meeting_;
};

// The identity of the first rank of a job that starts its other ranks itself.
JobIdentity identity_of_local_job(int ranks);

// The engine of this rank, limited to its share of the machine, and the service that runs queries on all ranks.
class RankEngine {
 public:
  // Connects the job, which must outlive it.
  RankEngine(RankJob& job, Settings settings);

  EngineInstance& engine() { return *engine_; }
  RankService& ranks() { return *ranks_; }

 private:
  std::unique_ptr<EngineInstance> engine_;
  std::unique_ptr<RankService> ranks_;
  std::unique_ptr<RankKeeper> keeper_;
};

}  // namespace pistachio
