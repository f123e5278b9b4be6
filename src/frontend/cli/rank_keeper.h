// Supervises the other ranks of a job on its first rank: reports exited processes of this machine to the rank service, sooner than the
// network can, and, with restart_ranks, restarts lost ranks and readmits replacements that their launcher started.
// A rank that is lost repeatedly is given up. One thread, which polls every few milliseconds and may block on the job's store.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cluster/rank_service.h"
#include "frontend/cli/rank_processes.h"
#include "network/rendezvous.h"

namespace pistachio {

class RankKeeper {
 public:
  struct Options {
    bool restarts = false;
    // A rank with this many losses within this time is given up.
    size_t most_losses = 5;
    std::chrono::milliseconds losses_within{60'000};
    // How long a new process may take to appear, and the others to connect to it.
    std::chrono::milliseconds timeout{60'000};
  };

  // `processes` is null in a job that another launcher started. All arguments must outlive the keeper.
  RankKeeper(RankService& service, Rendezvous& rendezvous, RankProcesses* processes, std::vector<RankInfo> ranks, Options options);
  ~RankKeeper();
  RankKeeper(const RankKeeper&) = delete;
  RankKeeper& operator=(const RankKeeper&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;

  struct Rank {
    RankInfo info;
    bool end_reported = false;                 // the end of its process was reported to the service
    bool loss_counted = false;                 // counted in `losses`
    std::deque<TimePoint> losses;              // recent ones
    std::optional<TimePoint> started;          // replacement that has not rejoined yet
    std::optional<RankCard> waits_for_answer;  // to be welcomed once this rank's network knows it
  };

  void run();
  void look();
  void note_ends();
  void note_losses(const std::vector<LostRank>& lost);
  void restart(const LostRank& lost);
  void readmit(const std::vector<LostRank>& lost);
  void answer(Rank& rank, const std::vector<LostRank>& lost);
  void give_up(int rank, const std::string& why);

  RankService& service_;
  Rendezvous& rendezvous_;
  RankProcesses* const processes_;
  const Options options_;
  std::vector<Rank> ranks_;  // used by the thread only
  std::mutex mutex_;
  std::condition_variable stopping_changed_;
  bool is_stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace pistachio
