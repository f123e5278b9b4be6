// Which ranks of a job are there, from the point of view of one of them: who is lost and why, who is coming back, and, on the first rank,
// whom a rank that comes back has met already. A rank is back when all that are there have taken to its new process, so that no message
// of the next query goes to the old one or comes too soon. Knows nothing of messages; thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/cancel_token.h"

namespace pistachio {

struct LostRank {
  int rank = 0;
  std::string why;
  std::string given_up;  // not empty: why it does not come back
};

class RankRoll {
 public:
  // `returns`: lost ranks are expected back. Those who wait for them have this patience.
  RankRoll(int ranks, bool returns, std::chrono::milliseconds patience) : ranks_(ranks), returns_(returns), patience_(patience) {}

  bool expects_returns() const { return returns_; }

  // The network may be about to notice the end of the old process when the new one is on its way already; the launcher speaks of the
  // newest.
  enum class Witness { Network, Launcher };
  void lose(int rank, const std::string& why, Witness witness = Witness::Network);
  bool is_lost(int rank) const;
  std::string why_lost(int rank) const;  // empty: it is there
  // In the order of their loss: the first may have taken the others with it.
  std::vector<LostRank> lost() const;
  // So many so far; grows with each.
  uint64_t losses() const;

  // Of a rank other than the first: the new process is known here.
  void restore(int rank);

  // On the first rank. The rank has a new process, which everybody who is there, this rank and the new one too, has to meet. One at a time.
  void begin_return(int rank, int incarnation);
  // `by` has met the new process of `rank`.
  void note_met(int rank, int incarnation, int by);
  std::optional<int> returning() const;
  // It does not come back.
  void give_up(int rank, std::string why);

  // Whether the rank that is coming back has not met this one yet.
  bool awaits(int by) const;

  // Throws PeerError if somebody is lost.
  void require_all() const;
  // Until nobody is lost. Throws PeerError that names who is not there: at once if nobody is expected back, else when patience is at an
  // end; Cancelled.
  void wait_for_all(const CancelToken& token) const;
  // Who was lost and came back since the last call, as sentences.
  std::vector<std::string> take_news();

 private:
  struct Return {
    int rank = 0;
    int incarnation = 0;
    std::set<int> awaited;  // those that have not met it yet
  };

  const LostRank* find(int rank) const;
  const LostRank* find_given_up() const;
  [[noreturn]] void throw_lost(const LostRank& lost, const std::string& hint) const;
  void finish_return_if_met();

  const int ranks_;
  const bool returns_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<LostRank> lost_;
  std::optional<Return> return_;
  std::vector<std::string> news_;
  uint64_t losses_ = 0;
};

}  // namespace pistachio
