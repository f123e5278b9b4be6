// Startup of a job: every rank puts its card into rank 0's meeting store and reads the cards of all others. Missing ranks and ranks with another version or
// conflicting settings are named. A rank that is restarted later registers the same way, and rank 0 admits it. Blocks the caller; not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "network/job_identity.h"
#include "network/job_secret.h"
#include "network/rank_card.h"
#include "network/rank_info.h"

namespace pistachio {

struct RendezvousOptions {
  std::chrono::milliseconds timeout{60'000};
  JobSecret secret = JobSecret::random();  // the same on all ranks
  std::string version;                                        // of the program; must be the same everywhere
  std::vector<std::pair<std::string, std::string>> settings;  // name and value of settings that must agree
  std::string host;                                           // not empty: replaces this rank's host name
  bool may_return = false;  // a second process with the number of a rank is that rank restarted; otherwise it is an error
  // Called repeatedly while this rank waits for others. An exception it throws ends the wait, on all ranks if this one serves the store.
  std::function<void()> while_waiting;
  // Called once with what is missing if the wait takes so long that a user might wonder.
  std::function<void(const std::string&)> notice;
  std::chrono::milliseconds notice_after{5'000};
};

struct Meeting {
  std::vector<RankInfo> ranks;  // in rank order
  JobSecret key = JobSecret::random();  // new for each job and known only to its ranks
  // For a restarted rank: the ranks that are lost now, and the first query that it takes part in.
  std::vector<int> lost = {};
  int64_t first_query = 0;
};

class RendezvousStore;

class Rendezvous {
 public:
  // Rank 0 listens, the others connect. Throws UserError if the address is wrong or taken, or rank 0 does not appear in time.
  Rendezvous(JobIdentity identity, RendezvousOptions options);
  ~Rendezvous();

  // The port that rank 0 listens on, for master_port 0.
  int port() const;

  // `address` is that of this rank's transport. Returns when all ranks have met. Throws UserError naming ranks that are missing or
  // incompatible.
  // On a restarted rank: returns when rank 0 has admitted it.
  Meeting meet(const std::string& address);

  // On rank 0, once all have met: the card of a new process of this rank, if there is one newer than the known one.
  std::optional<RankCard> find_return(int rank);
  // The RankInfo to announce to the others. Throws UserError if the card is incompatible.
  RankInfo check_return(const RankCard& card);
  // Admits the rank; see Meeting.
  void welcome(const RankCard& card, const std::vector<int>& lost, int64_t first_query);
  void refuse_return(const RankCard& card, const std::string& why);

 private:
  void compare_sizes();
  std::vector<int> missing_ranks();
  RankCard own_card(const std::string& address, int incarnation) const;
  Meeting rejoin(const std::string& address, int incarnation);

  JobIdentity identity_;
  RendezvousOptions options_;
  std::unique_ptr<RendezvousStore> store_;
  std::vector<RankCard> cards_;  // of all ranks, once they have met
  std::string nonce_;            // of the job
};

}  // namespace pistachio
