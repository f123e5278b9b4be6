// How the ranks of a job find each other: rank 0 (or torchrun) keeps a small store, everyone puts a card of itself there and reads those
// of the others. Blocks the caller; used once at start, by one thread. Ranks that are missing, of another version or with other settings
// are named.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "network/job_identity.h"
#include "network/rank_info.h"

namespace pistachio {

struct RendezvousOptions {
  std::chrono::milliseconds timeout{60'000};
  std::string version;                                        // of the program; must be the same everywhere
  std::vector<std::pair<std::string, std::string>> settings;  // name and value of those that must agree
  std::string host;                                           // not empty: what this rank calls its host
  // Called again and again while this rank waits for others. What it throws ends the waiting, on all ranks if this one keeps the store.
  std::function<void()> while_waiting;
};

struct Meeting {
  std::vector<RankInfo> ranks;  // in order
  std::string secret;           // known to the ranks of this job only
};

class RendezvousStore;

class Rendezvous {
 public:
  // Rank 0 listens, the others connect. Throws UserError: the address is wrong or taken, or rank 0 is not there in time.
  Rendezvous(JobIdentity identity, RendezvousOptions options);
  ~Rendezvous();

  // Where rank 0 listens: the answer to master_port 0.
  int port() const;

  // `address` is that of this rank's transport. Returns when all ranks have met. Throws UserError that names the ranks which are missing
  // or do not fit.
  Meeting meet(const std::string& address);

 private:
  void compare_sizes();

  JobIdentity identity_;
  RendezvousOptions options_;
  std::unique_ptr<RendezvousStore> store_;
};

}  // namespace pistachio
