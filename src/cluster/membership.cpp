#include "cluster/membership.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/error.h"

namespace pistachio {

namespace {

// Bounds news that no one collects.
constexpr size_t kMaxNews = 16;
// Interval at which a waiting caller checks its deadline, which nothing else drives.
constexpr std::chrono::milliseconds kMembershipPoll{20};

}  // namespace

const LostRank* Membership::find(int rank) const {
  auto found = std::find_if(lost_.begin(), lost_.end(), [&](const LostRank& lost) { return lost.rank == rank; });
  return found == lost_.end() ? nullptr : &*found;
}

void Membership::lose(int rank, const std::string& why, LossSource witness) {
  std::lock_guard lock(mutex_);
  bool is_returning = return_ && return_->rank == rank;
  // Until this rank has connected to the new process, its network reports on the old one.
  if (is_returning && witness == LossSource::Network && return_->awaited.contains(0)) return;
  if (is_returning) return_.reset();
  auto found = std::find_if(lost_.begin(), lost_.end(), [&](const LostRank& lost) { return lost.rank == rank; });
  if (found == lost_.end()) {
    lost_.push_back({rank, why, ""});
    ++losses_;
  } else if (is_returning) {
    found->why = why;
  }
  if (return_) {
    return_->awaited.erase(rank);
    finish_return_if_met();
  }
  changed_.notify_all();
}

bool Membership::is_lost(int rank) const {
  std::lock_guard lock(mutex_);
  return find(rank) != nullptr;
}

std::string Membership::why_lost(int rank) const {
  std::lock_guard lock(mutex_);
  const LostRank* lost = find(rank);
  return lost == nullptr ? "" : lost->why;
}

std::vector<LostRank> Membership::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

uint64_t Membership::losses() const {
  std::lock_guard lock(mutex_);
  return losses_;
}

void Membership::restore(int rank) {
  std::lock_guard lock(mutex_);
  std::erase_if(lost_, [&](const LostRank& lost) { return lost.rank == rank; });
  changed_.notify_all();
}

void Membership::begin_rejoin(int rank, int incarnation) {
  std::lock_guard lock(mutex_);
  ENSURE(!return_, "rank {} is coming back already", return_->rank);
  ENSURE(find(rank) != nullptr, "rank {} is not lost", rank);
  return_ = Return{rank, incarnation, {}};
  for (int other = 0; other < ranks_; ++other) {
    if (other == rank || find(other) == nullptr) return_->awaited.insert(other);
  }
}

void Membership::note_connected(int rank, int incarnation, int by) {
  std::lock_guard lock(mutex_);
  if (!return_ || return_->rank != rank || return_->incarnation != incarnation) return;
  return_->awaited.erase(by);
  finish_return_if_met();
}

void Membership::finish_return_if_met() {
  if (!return_->awaited.empty()) return;
  int rank = return_->rank;
  return_.reset();
  if (news_.size() < kMaxNews) news_.push_back(fmt::format("rank {} was lost ({}) and started again", rank, find(rank)->why));
  std::erase_if(lost_, [&](const LostRank& lost) { return lost.rank == rank; });
  changed_.notify_all();
}

std::optional<int> Membership::returning() const {
  std::lock_guard lock(mutex_);
  return return_ ? std::optional(return_->rank) : std::nullopt;
}

void Membership::give_up(int rank, std::string why) {
  std::lock_guard lock(mutex_);
  for (LostRank& lost : lost_) {
    if (lost.rank == rank) lost.given_up = why;
  }
  changed_.notify_all();
}

bool Membership::awaits(int by) const {
  std::lock_guard lock(mutex_);
  return return_ && return_->awaited.contains(by);
}

const LostRank* Membership::find_given_up() const {
  auto found = std::find_if(lost_.begin(), lost_.end(), [](const LostRank& lost) { return !lost.given_up.empty(); });
  return found == lost_.end() ? nullptr : &*found;
}

void Membership::throw_lost(const LostRank& lost, const std::string& hint) const {
  throw PeerError(fmt::format("rank {} is lost, and this statement needs all ranks: {}; {}", lost.rank, lost.why, hint));
}

void Membership::require_all() const {
  std::lock_guard lock(mutex_);
  if (lost_.empty()) return;
  if (const LostRank* lost = find_given_up()) throw_lost(*lost, lost->given_up + "; start the cluster again");
  throw_lost(lost_.front(), returns_ ? "it is expected back" : "start the cluster again");
}

void Membership::wait_for_all(const CancelToken& token) const {
  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::now() + timeout_;
  while (true) {
    if (!returns_) return require_all();
    std::unique_lock lock(mutex_);
    if (lost_.empty()) return;
    if (const LostRank* lost = find_given_up()) throw_lost(*lost, lost->given_up + "; start the cluster again");
    if (token.deadline() && Clock::now() >= *token.deadline()) token.expire();
    token.throw_if_cancelled();
    if (Clock::now() >= end)
      throw_lost(lost_.front(), fmt::format("it has not come back for {:.1f} s", std::chrono::duration<double>(timeout_).count()));
    changed_.wait_for(lock, kMembershipPoll);
  }
}

std::vector<std::string> Membership::take_restored() {
  std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace pistachio
