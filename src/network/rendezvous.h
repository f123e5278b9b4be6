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
  JobSecret secret = JobSecret::random();  // all ranks have the same
  std::string version;                                        // of the program; must be the same everywhere
  std::vector<std::pair<std::string, std::string>> settings;  // name and value of those that must agree
  std::string host;                                           // not empty: what this rank calls its host
  bool may_return = false;  // a second process with the number of a rank is that rank, started again; else a mistake
  // Called again and again while this rank waits for others. What it throws ends the waiting, on all ranks if this one keeps the store.
  std::function<void()> while_waiting;
  // Told once what is waited for, when that takes so long that a user might wonder.
  std::function<void(const std::string&)> notice;
  std::chrono::milliseconds notice_after{5'000};
};

struct Meeting {
  std::vector<RankInfo> ranks;  // in order
  JobSecret key = JobSecret::random();  // known to the ranks of this job only, and made anew for each
  // For a rank that was started again: those that are not there now, and the first query that it takes part in.
  std::vector<int> lost = {};
  int64_t first_query = 0;
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
  // Of a rank that was started again: returns when the first rank has let it in.
  Meeting meet(const std::string& address);

  // On the first rank, once all have met. The card of a new process of this rank, if there is one that is newer than what is known.
  std::optional<RankCard> find_return(int rank);
  // What the others are to know of it. Throws UserError: it does not fit.
  RankInfo check_return(const RankCard& card);
  // It may come: see Meeting.
  void welcome(const RankCard& card, const std::vector<int>& lost, int64_t first_query);
  void refuse_return(const RankCard& card, const std::string& why);

 private:
  void compare_sizes();
  std::vector<int> missing_ranks();
  RankCard own_card(const std::string& address, int incarnation) const;
  Meeting meet_again(const std::string& address, int incarnation);

  JobIdentity identity_;
  RendezvousOptions options_;
  std::unique_ptr<RendezvousStore> store_;
  std::vector<RankCard> cards_;  // of all ranks, once they have met
  std::string nonce_;            // of the job
};

}  // namespace pistachio
