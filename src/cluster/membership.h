// One rank's view of the job's membership: which ranks are lost and why, and which are being restarted. Rank 0 also tracks which peers have
// connected to a restarted process: the rank counts as back only when all of them have, so that no message of the next query reaches its
// predecessor or arrives too early. Independent of the transport; thread-safe.
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
  std::string given_up;  // not empty: why it will not be restarted
};

class Membership {
 public:
  // `returns`: lost ranks are expected to be restarted; `timeout` is how long statements wait for that.
  Membership(int ranks, bool returns, std::chrono::milliseconds timeout) : ranks_(ranks), returns_(returns), timeout_(timeout) {}

  bool expects_returns() const { return returns_; }

  // The network may report the old process as lost after the new one was started; the launcher always reports on the newest process.
  enum class LossSource { Network, Launcher };
  void lose(int rank, const std::string& why, LossSource witness = LossSource::Network);
  bool is_lost(int rank) const;
  std::string why_lost(int rank) const;  // empty: it is not lost
  // Ordered by time of loss: the first loss may have caused the others.
  std::vector<LostRank> lost() const;
  // Number of losses so far; never decreases.
  uint64_t losses() const;

  // On ranks other than 0: this rank has connected to the new process.
  void restore(int rank);

  // On rank 0: the rank has a new process, and every live rank, including rank 0 and the new one, must connect. One return at a time.
  void begin_rejoin(int rank, int incarnation);
  // `by` has connected to the new process of `rank`.
  void note_connected(int rank, int incarnation, int by);
  std::optional<int> returning() const;
  // The rank will not be restarted.
  void give_up(int rank, std::string why);

  // Whether the returning rank still waits for `by` to connect.
  bool awaits(int by) const;

  // Throws PeerError if a rank is lost.
  void require_all() const;
  // Blocks until no rank is lost. Throws PeerError that names a lost rank, at once if it will not return, else after the timeout;
  // Cancelled.
  void wait_for_all(const CancelToken& token) const;
  // Ranks that were lost and came back since the last call, one sentence each.
  std::vector<std::string> take_restored();

 private:
  struct Return {
    int rank = 0;
    int incarnation = 0;
    std::set<int> awaited;  // ranks that have not connected yet
  };

  const LostRank* find(int rank) const;
  const LostRank* find_given_up() const;
  [[noreturn]] void throw_lost(const LostRank& lost, const std::string& hint) const;
  void finish_return_if_met();

  const int ranks_;
  const bool returns_;
  const std::chrono::milliseconds timeout_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<LostRank> lost_;
  std::optional<Return> return_;
  std::vector<std::string> news_;
  uint64_t losses_ = 0;
};

}  // namespace pistachio
