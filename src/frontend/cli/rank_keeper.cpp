#include "frontend/cli/rank_keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/start_thread.h"

namespace pistachio {

namespace {

constexpr std::chrono::milliseconds kPollInterval{50};
// While a rank is lost, statements may be waiting for it.
constexpr std::chrono::milliseconds kShortPollInterval{20};

}  // namespace

RankKeeper::RankKeeper(RankService& service, Rendezvous& rendezvous, RankProcesses* processes, std::vector<RankInfo> ranks, Options options)
    : service_(service), rendezvous_(rendezvous), processes_(processes), options_(options) {
  for (RankInfo& info : ranks) ranks_.push_back({.info = std::move(info)});
  thread_ = start_thread("the ranks of a cluster", "raise the limit on processes (ulimit -u)", [this] { run(); });
}

RankKeeper::~RankKeeper() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  stopping_changed_.notify_all();
  thread_.join();
}

void RankKeeper::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    auto pause = service_.membership().lost().empty() ? kPollInterval : kShortPollInterval;
    if (stopping_changed_.wait_for(lock, pause, [&] { return is_stopping_; })) return;
    lock.unlock();
    try {
      look();
    } catch (const std::exception& problem) {
      // The store is gone or memory ran out: no rank can return, so fail the statements that wait for one.
      for (const LostRank& lost : service_.membership().lost()) give_up(lost.rank, fmt::format("it cannot come back: {}", problem.what()));
    }
    lock.lock();
  }
}

void RankKeeper::look() {
  if (processes_ != nullptr) note_ends();
  if (!options_.restarts) return;
  std::vector<LostRank> lost = service_.membership().lost();
  note_losses(lost);
  if (lost.empty()) return;
  if (processes_ != nullptr) {
    for (const LostRank& one : lost) restart(one);
  }
  readmit(lost);
}

void RankKeeper::note_ends() {
  for (size_t i = 1; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    if (rank.end_reported) continue;
    std::string how = processes_->exit_description(rank.info.rank);
    if (how.empty()) continue;
    rank.end_reported = true;
    rank.info.pid = processes_->process(rank.info.rank);
    // The replacement died before it had rejoined: its return failed, which counts as another loss.
    if (rank.started) rank.loss_counted = false;
    rank.started.reset();
    rank.waits_for_answer.reset();
    service_.lose(rank.info.rank, fmt::format("{} {}", rank.info.to_string(), how));
  }
}

void RankKeeper::note_losses(const std::vector<LostRank>& lost) {
  TimePoint now = Clock::now();
  for (Rank& rank : ranks_) {
    bool is_lost = std::any_of(lost.begin(), lost.end(), [&](const LostRank& one) { return one.rank == rank.info.rank; });
    if (!is_lost) {
      rank.loss_counted = false;
      rank.started.reset();
      rank.waits_for_answer.reset();
    } else if (!rank.loss_counted) {
      rank.loss_counted = true;
      rank.losses.push_back(now);
    }
    while (!rank.losses.empty() && now - rank.losses.front() > options_.losses_within) rank.losses.pop_front();
  }
}

void RankKeeper::restart(const LostRank& lost) {
  Rank& rank = ranks_[static_cast<size_t>(lost.rank)];
  if (!lost.given_up.empty() || lost.rank == 0) return;
  if (rank.started && Clock::now() - *rank.started < options_.timeout) return;
  if (rank.started) {
    rank.started.reset();
    rank.losses.push_back(Clock::now());
    service_.lose(lost.rank, fmt::format("{} was started again but did not come", rank.info.to_string()));
  }
  if (rank.losses.size() >= options_.most_losses) {
    return give_up(lost.rank, fmt::format("it was lost {} times within {} s and is given up", rank.losses.size(),
                                          std::chrono::duration_cast<std::chrono::seconds>(options_.losses_within).count()));
  }
  try {
    processes_->restart(lost.rank);
    rank.info.pid = processes_->process(lost.rank);
    rank.end_reported = false;
    rank.started = Clock::now();
  } catch (const UserError& error) {
    give_up(lost.rank, error.message());
  }
}

void RankKeeper::readmit(const std::vector<LostRank>& lost) {
  if (std::optional<int> returning = service_.membership().returning()) {
    Rank& rank = ranks_[static_cast<size_t>(*returning)];
    if (rank.waits_for_answer && !service_.membership().awaits(0)) answer(rank, lost);
    bool is_late = processes_ == nullptr && rank.started && Clock::now() - *rank.started > options_.timeout;
    if (!is_late) return;
    rank.started.reset();
    service_.lose(*returning, fmt::format("{} was started again but did not come", rank.info.to_string()));
  }
  for (const LostRank& one : lost) {
    if (!one.given_up.empty() || one.rank == 0) continue;
    std::optional<RankCard> card = rendezvous_.find_return(one.rank);
    if (!card) continue;
    Rank& rank = ranks_[static_cast<size_t>(one.rank)];
    // A process killed in the meantime may have left its card.
    if (processes_ != nullptr && card->info.pid != processes_->process(one.rank)) continue;
    try {
      rank.info = rendezvous_.check_return(*card);
    } catch (const UserError& error) {
      rendezvous_.refuse_return(*card, error.message());
      continue;
    }
    rank.waits_for_answer = std::move(card);
    if (processes_ == nullptr) rank.started = Clock::now();
    return service_.begin_rejoin(rank.info);
  }
}

// Messages of the new process must find this rank's network ready, so its welcome is sent last.
void RankKeeper::answer(Rank& rank, const std::vector<LostRank>& lost) {
  std::vector<int> others;
  for (const LostRank& one : lost) {
    if (one.rank != rank.info.rank) others.push_back(one.rank);
  }
  rendezvous_.welcome(*rank.waits_for_answer, others, service_.next_query());
  rank.waits_for_answer.reset();
}

void RankKeeper::give_up(int rank, const std::string& why) {
  service_.membership().give_up(rank, why);
}

}  // namespace pistachio
